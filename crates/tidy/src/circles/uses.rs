//! The paths that a module's items name: in `use`, in types, expressions and patterns, in macros.
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use syn::{Item, ItemImpl, ItemUse, Macro, Path, Type, UseTree, Visibility};

/// The names that a module uses.
#[derive(Default)]
pub struct Uses {
    /// Names that `use` brings in, with the path that each stands for.
    pub names: BTreeMap<String, Vec<String>>,
    /// Modules and enums of which `use` brings in all names.
    pub globs: Vec<Vec<String>>,
    /// Every path that is named, but for re-exports.
    pub paths: Vec<Vec<String>>,
    /// Types that have an inherent impl here.
    pub impls: Vec<Vec<String>>,
}

impl Uses {
    pub fn collect(&mut self, item: &Item) {
        self.visit_item(item);
    }

    fn tree(&mut self, tree: &UseTree, prefix: &[String], reexport: bool) {
        let with = |name: &syn::Ident| {
            let mut path = prefix.to_vec();
            // `use a::{self}` names the module `a`.
            if name != "self" || path.is_empty() {
                path.push(name.to_string());
            }
            path
        };
        let (name, path) = match tree {
            UseTree::Path(tree) => {
                let path = with(&tree.ident);
                return self.tree(&tree.tree, &path, reexport);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(tree, prefix, reexport);
                }
                return;
            }
            UseTree::Glob(_) => return self.globs.push(prefix.to_vec()),
            UseTree::Name(tree) => {
                let path = with(&tree.ident);
                (path.last().cloned().unwrap_or_default(), path)
            }
            UseTree::Rename(tree) => (tree.rename.to_string(), with(&tree.ident)),
        };
        if !reexport {
            self.paths.push(path.clone());
        }
        self.names.insert(name, path);
    }

    /// Runs of `a::b::c` in a macro's tokens, which are not parsed.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.paths
                            .extend((!path.is_empty()).then(|| std::mem::take(&mut path)));
                        path.clear();
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    colons = 0;
                }
                _ => colons = 0,
            }
        }
        self.paths.extend((!path.is_empty()).then_some(path));
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let reexport = !matches!(item.vis, Visibility::Inherited);
        self.tree(&item.tree, &[], reexport);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.paths.push(segments(path));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, found: &'ast Macro) {
        self.tokens(found.tokens.clone());
        visit::visit_macro(self, found);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if let (None, Type::Path(of)) = (&item.trait_, &*item.self_ty) {
            self.impls.push(segments(&of.path));
        }
        visit::visit_item_impl(self, item);
    }
}

fn segments(path: &Path) -> Vec<String> {
    path.segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect()
}
