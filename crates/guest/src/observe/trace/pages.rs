//! Pages that come into the page cache and leave it.
use super::event::Event;
use protocol::pages::PageRun;
use protocol::wire::Line;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

use crate::paths::DATA;

/// KiB of the kernel's buffer a CPU. An event takes some 60 bytes, and the deletion of a file of 64
/// MiB makes 16,384 at once.
pub const BUFFER_KB: u32 = 4096;

/// Device as `MAJOR:MINOR`, and inode.
type File = (String, u64);

pub struct Pages {
    /// Names of the data disk's files. Other files are named by device and inode.
    names: BTreeMap<File, String>,
    numbers: BTreeMap<File, u32>,
    scenes: Vec<Scene>,
    /// Runs of pages that are not yet reported.
    files: Vec<String>,
    runs: Vec<PageRun>,
}

struct Scene {
    begin_ms: f64,
    inserted: u64,
    evicted: u64,
    /// Events that this program cannot parse.
    unread: u64,
}

impl Pages {
    pub fn new() -> Pages {
        let files = std::fs::read_dir(DATA).into_iter().flatten().flatten();
        let names = files.filter_map(|entry| {
            let about = entry.metadata().ok()?;
            let device = about.dev();
            let device = format!("{}:{}", libc::major(device), libc::minor(device));
            let name = entry.path().to_string_lossy().into_owned();
            Some(((device, about.ino()), name))
        });
        Pages {
            names: names.collect(),
            numbers: BTreeMap::new(),
            scenes: Vec::new(),
            files: Vec::new(),
            runs: Vec::new(),
        }
    }

    pub fn scene(&mut self, begin_ms: f64) {
        self.scenes.push(Scene {
            begin_ms,
            inserted: 0,
            evicted: 0,
            unread: 0,
        });
    }

    pub fn event(&mut self, event: &Event<'_>) {
        let gone = event.name == "mm_filemap_delete_from_page_cache";
        if !gone && event.name != "mm_filemap_add_to_page_cache" {
            return;
        }
        let folio = folio(event.detail);
        let scenes = self.scenes.iter_mut().rev();
        if let Some(scene) = { scenes }.find(|scene| scene.begin_ms <= event.t_ms) {
            let (count, pages) = match &folio {
                None => (&mut scene.unread, 1),
                Some((.., pages)) if gone => (&mut scene.evicted, *pages),
                Some((.., pages)) => (&mut scene.inserted, *pages),
            };
            *count += pages;
        }
        let Some((file, first, pages)) = folio else {
            return;
        };
        let file = self.number(file);
        if let Some(last) = self.runs.last_mut() {
            if (last.gone, last.file, last.first + last.pages) == (gone, file, first) {
                last.pages += pages;
                return;
            }
        }
        self.runs.push(PageRun {
            t_us: (event.t_ms * 1e3).round() as u64,
            gone,
            file,
            first,
            pages,
        });
    }

    fn number(&mut self, file: File) -> u32 {
        if let Some(number) = self.numbers.get(&file) {
            return *number;
        }
        let name = self.names.get(&file).cloned();
        let name = name.unwrap_or_else(|| format!("device {} inode {}", file.0, file.1));
        self.files.push(name);
        let number = self.numbers.len() as u32;
        self.numbers.insert(file, number);
        number
    }

    /// The line with the pages seen since the last call; none without any.
    pub fn take_line(&mut self) -> Option<Line> {
        let runs = std::mem::take(&mut self.runs);
        (!runs.is_empty()).then(|| Line::PageCache {
            files: std::mem::take(&mut self.files),
            runs,
        })
    }

    /// Observes the numbers of one scene.
    pub fn report(&self, place: usize, mut observe: impl FnMut(&str, f64)) {
        let scene = &self.scenes[place];
        observe("inserted", scene.inserted as f64);
        observe("evicted", scene.evicted as f64);
        observe("unread", scene.unread as f64);
    }
}

/// The file, the first page and the number of pages in `dev 98:0 ino c pfn=0x1f2a ofs=4096
/// order=0`.
fn folio(detail: &str) -> Option<(File, u64, u64)> {
    let mut fields = detail.split_whitespace();
    let mut next = |name: &str| (fields.next()? == name).then(|| fields.next()).flatten();
    let device = next("dev")?.to_string();
    let inode = u64::from_str_radix(next("ino")?, 16).ok()?;
    let number = |name: &str| -> Option<u64> {
        let mut fields = detail.split_whitespace();
        fields.find_map(|field| field.strip_prefix(name)?.parse().ok())
    };
    let order = number("order=")?;
    Some((
        (device, inode),
        number("ofs=")? / 4096,
        1u64.checked_shl(order as u32)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::event::event;
    use super::*;

    #[test]
    fn pages_become_runs_by_file_and_are_counted_by_scene() {
        let mut pages = Pages::new();
        pages.names.insert(("98:0".into(), 12), "/data/apps".into());
        pages.scene(0.0);
        pages.scene(2000.0);
        for line in [
            "app-7 [000] ..... 1.000001: mm_filemap_add_to_page_cache: dev 98:0 ino c pfn=0x1a ofs=0 order=0",
            "app-7 [000] ..... 1.000002: mm_filemap_add_to_page_cache: dev 98:0 ino c pfn=0x1b ofs=4096 order=2",
            "app-7 [000] ..... 1.000003: mm_filemap_add_to_page_cache: dev 0:5 ino 62 pfn=0x1b ofs=20480 order=0",
            "a -- [x]-9 [000] ..... 2.5: mm_filemap_delete_from_page_cache: dev 98:0 ino c pfn=0x1a ofs=0 order=0",
            "a -- [x]-9 [000] ..... 2.6: mm_filemap_delete_from_page_cache: somehow else",
            "a -- [x]-9 [000] ..... 2.7: mm_vmscan_direct_reclaim_begin: order=0",
        ] {
            pages.event(&event(line).unwrap());
        }
        let line_out = Line::PageCache {
            files: vec!["/data/apps".into(), "device 0:5 inode 98".into()],
            runs: vec![
                PageRun::new(1_000_001, false, 0, 0, 5),
                PageRun::new(1_000_003, false, 1, 5, 1),
                PageRun::new(2_500_000, true, 0, 0, 1),
            ],
        };
        assert_eq!(pages.take_line(), Some(line_out));
        assert_eq!(pages.take_line(), None);
        let mut reported = Vec::new();
        for place in 0..2 {
            pages.report(place, |name, value| {
                reported.push((name.to_string(), value))
            });
        }
        let reported: Vec<_> = reported
            .iter()
            .map(|(name, n)| (name.as_str(), *n))
            .collect();
        let wanted = [
            ("inserted", 6.0),
            ("evicted", 0.0),
            ("unread", 0.0),
            ("inserted", 0.0),
            ("evicted", 1.0),
            ("unread", 1.0),
        ];
        assert_eq!(reported, wanted);
    }
}
