//! Strongly connected components (Tarjan, "Depth-first search and linear graph algorithms", 1972).
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// By file: the files that it uses, and the names that it uses of each.
pub type Edges = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// Sets of at least two files of which each reaches every other.
pub fn cycles(edges: &Edges) -> Vec<Vec<PathBuf>> {
    let mut search = Search {
        edges,
        index: BTreeMap::new(),
        low: BTreeMap::new(),
        stack: Vec::new(),
        found: Vec::new(),
    };
    for file in edges.keys() {
        if !search.index.contains_key(file) {
            search.visit(file);
        }
    }
    search.found.sort();
    search.found
}

struct Search<'a> {
    edges: &'a Edges,
    index: BTreeMap<&'a PathBuf, usize>,
    /// The lowest index that is reached from a file on the stack.
    low: BTreeMap<&'a PathBuf, usize>,
    stack: Vec<&'a PathBuf>,
    found: Vec<Vec<PathBuf>>,
}

impl<'a> Search<'a> {
    fn visit(&mut self, file: &'a PathBuf) {
        let index = self.index.len();
        self.index.insert(file, index);
        self.low.insert(file, index);
        self.stack.push(file);
        let edges = self.edges;
        for next in edges.get(file).into_iter().flat_map(BTreeMap::keys) {
            let reached = match self.index.get(next) {
                None => {
                    self.visit(next);
                    self.low[next]
                }
                Some(&index) if self.stack.contains(&next) => index,
                Some(_) => continue,
            };
            let low = self.low[file].min(reached);
            self.low.insert(file, low);
        }
        if self.low[file] == index {
            let from = self.stack.iter().position(|&on| on == file).unwrap_or(0);
            let mut circle: Vec<PathBuf> = self.stack.drain(from..).cloned().collect();
            if circle.len() > 1 {
                circle.sort();
                self.found.push(circle);
            }
        }
    }
}
