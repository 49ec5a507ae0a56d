//! Memory of cgroups: the largest below the root and its slices.
use kernfs::cgroup::MemoryStat;
use kernfs::Root;
use std::fs;
use std::path::Path;

/// Groups that are read of a folder. A host of containers has thousands, and a screen some tens of lines.
const MOST: usize = 500;

/// A cgroup's memory, bytes.
#[derive(Clone, Default)]
pub struct Group {
    /// Its path below the root cgroup.
    pub name: String,
    pub anon: u64,
    pub file: u64,
    /// File pages that were refaulted since it began: its working set does not fit.
    pub refaults: u64,
    /// Refaulted bytes a second; 0 at the first look.
    pub refaults_per_s: f64,
}

impl Group {
    /// All of its memory.
    pub fn size(&self) -> u64 {
        self.anon + self.file
    }
}

/// The groups, the largest first. Slices are shown by their parts.
pub fn read(root: &Root, before: &[Group], seconds: f64, page_size: u64) -> Vec<Group> {
    let top = root.path("/sys/fs/cgroup");
    let mut groups = Vec::new();
    // Version 1 has other files of the same names.
    if !top.join("cgroup.controllers").exists() {
        return groups;
    }
    for name in below(&top) {
        let parts = below(&top.join(&name));
        if !name.ends_with(".slice") || parts.is_empty() {
            groups.extend(group(&top, &name));
        }
        for part in parts.iter().filter(|_| name.ends_with(".slice")) {
            groups.extend(group(&top, &format!("{name}/{part}")));
        }
    }
    for group in &mut groups {
        let old = before.iter().find(|old| old.name == group.name);
        if let Some(old) = old.filter(|_| seconds > 0.0) {
            let pages = group.refaults.saturating_sub(old.refaults);
            group.refaults_per_s = pages as f64 * page_size as f64 / seconds;
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.size()));
    groups
}

/// The names of the groups in a folder.
fn below(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let folders = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.take(MOST).collect()
}

/// `None`: it has gone, or has no memory controller.
fn group(top: &Path, name: &str) -> Option<Group> {
    let text = fs::read(top.join(name).join("memory.stat")).ok()?;
    let mut stat = MemoryStat::default();
    stat.parse(&text).ok()?;
    Some(Group {
        name: names::escaped(name),
        anon: stat.anon()?,
        file: stat.file()?,
        refaults: stat.workingset_refault_file().unwrap_or(0),
        refaults_per_s: 0.0,
    })
}
