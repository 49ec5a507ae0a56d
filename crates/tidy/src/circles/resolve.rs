//! Resolves a path of the source to the file that defines the named item.
use super::modules::{Crate, Module};
use std::path::PathBuf;

/// The longest chain of `use` that is followed. A crate that compiles has no endless chains.
const DEPTH: usize = 16;

/// The target of a path.
enum Found<'a> {
    Module(&'a Module),
    /// An item, by the module that it stands in.
    Item(&'a Module),
}

/// The file that defines the item at a path, seen from a module. None for other crates, for modules
/// as such, for locals.
pub fn definition(krate: &Crate, from: &Module, path: &[String]) -> Option<PathBuf> {
    match follow(krate, from, path, 0)? {
        Found::Item(module) => Some(module.file.clone()),
        Found::Module(_) => None,
    }
}

fn follow<'a>(
    krate: &'a Crate,
    from: &'a Module,
    path: &[String],
    depth: usize,
) -> Option<Found<'a>> {
    let (first, rest) = path.split_first()?;
    let mut at = match first.as_str() {
        "crate" => Found::Module(krate.module(&[])?),
        "self" => Found::Module(from),
        "super" => Found::Module(parent(krate, from)?),
        name => lookup(krate, from, name, depth)?,
    };
    for name in rest {
        at = match at {
            // A variant, or something associated with the item.
            Found::Item(module) => return Some(Found::Item(module)),
            Found::Module(module) if name == "super" => Found::Module(parent(krate, module)?),
            Found::Module(module) => lookup(krate, module, name, depth)?,
        };
    }
    Some(at)
}

fn parent<'a>(krate: &'a Crate, module: &Module) -> Option<&'a Module> {
    krate.module(module.path.split_last()?.1)
}

/// Finds a name in a module: among its own items, its modules, and the names of its `use`.
fn lookup<'a>(krate: &'a Crate, module: &'a Module, name: &str, depth: usize) -> Option<Found<'a>> {
    if depth > DEPTH {
        return None;
    }
    if module.items.iter().any(|item| item == name) {
        return Some(Found::Item(module));
    }
    let mut below = module.path.clone();
    below.push(name.to_owned());
    if let Some(child) = krate.module(&below) {
        return Some(Found::Module(child));
    }
    if let Some(path) = module.uses.names.get(name) {
        // `use name;` names a crate.
        if path.len() == 1 && path[0] == name {
            return None;
        }
        return follow(krate, module, path, depth + 1);
    }
    module.uses.globs.iter().find_map(|glob| {
        match follow(krate, module, glob, depth + 1)? {
            Found::Module(of) if of.path != module.path => lookup(krate, of, name, depth + 1),
            Found::Module(_) => None,
            // All variants of an enum: their names are not kept, so no name is found there.
            Found::Item(_) => None,
        }
    })
}
