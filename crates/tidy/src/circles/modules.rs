//! The modules of a crate, read file by file from its root.
use super::uses::Uses;
use anyhow::{bail, Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::{Attribute, Item, ItemMod};

/// A module's path below the crate's root; the root's is empty.
pub type ModulePath = Vec<String>;

pub struct Crate {
    modules: BTreeMap<ModulePath, Module>,
}

pub struct Module {
    pub path: ModulePath,
    /// Relative to the tree's root. A module between braces has the file that it stands in.
    pub file: PathBuf,
    /// Names of items that stand here, modules apart.
    pub items: Vec<String>,
    pub uses: Uses,
}

impl Crate {
    /// Reads the crate whose root is `file`, relative to `tree`.
    ///
    /// # Errors
    /// A file cannot be read or parsed, or a declared module has none.
    pub fn read(tree: &Path, file: &Path) -> Result<Crate> {
        let mut reader = Reader {
            tree,
            modules: BTreeMap::new(),
        };
        let folder = file.parent().unwrap_or(Path::new(""));
        reader.file(file, folder, Vec::new())?;
        Ok(Crate {
            modules: reader.modules,
        })
    }

    pub fn modules(&self) -> impl Iterator<Item = &Module> {
        self.modules.values()
    }

    pub fn module(&self, path: &[String]) -> Option<&Module> {
        self.modules.get(path)
    }
}

struct Reader<'a> {
    tree: &'a Path,
    modules: BTreeMap<ModulePath, Module>,
}

impl Reader<'_> {
    /// Reads a file. `folder` has the files of the module's own modules.
    fn file(&mut self, file: &Path, folder: &Path, path: ModulePath) -> Result<()> {
        let text = std::fs::read_to_string(self.tree.join(file))
            .with_context(|| format!("reading {}", file.display()))?;
        let parsed =
            syn::parse_file(&text).with_context(|| format!("parsing {}", file.display()))?;
        self.module(file, folder, path, &parsed.items)
    }

    fn module(
        &mut self,
        file: &Path,
        folder: &Path,
        path: ModulePath,
        items: &[Item],
    ) -> Result<()> {
        let mut module = Module {
            path: path.clone(),
            file: file.to_owned(),
            items: Vec::new(),
            uses: Uses::default(),
        };
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            if let Item::Mod(inner) = item {
                self.inner(file, folder, &path, inner)?;
                continue;
            }
            module.items.extend(name(item));
            module.uses.collect(item);
        }
        self.modules.insert(path, module);
        Ok(())
    }

    fn inner(
        &mut self,
        file: &Path,
        folder: &Path,
        path: &[String],
        inner: &ItemMod,
    ) -> Result<()> {
        let name = inner.ident.to_string();
        let mut path = path.to_vec();
        path.push(name.clone());
        let below = folder.join(&name);
        if let Some((_, items)) = &inner.content {
            return self.module(file, &below, path, items);
        }
        for candidate in [folder.join(format!("{name}.rs")), below.join("mod.rs")] {
            if self.tree.join(&candidate).is_file() {
                return self.file(&candidate, &below, path);
            }
        }
        bail!("{}: mod {name} has no file", file.display())
    }
}

/// Whether `#[cfg(test)]` or `#[test]` stands before an item.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && attribute
                    .parse_args::<syn::Path>()
                    .is_ok_and(|path| path.is_ident("test")))
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        _ => return None,
    };
    Some(ident.to_string())
}
