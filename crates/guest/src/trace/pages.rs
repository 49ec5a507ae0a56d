//! What comes into the page cache and goes from it.
use super::Event;
use raw::pages::PageRun;
use raw::wire::Line;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

use crate::setup::DATA;

pub const EVENTS: [&str; 2] = [
    "filemap/mm_filemap_add_to_page_cache",
    "filemap/mm_filemap_delete_from_page_cache",
];
/// An event takes some 60 bytes, and a file of 64 MiB that is deleted makes 16,384 at once.
pub const BUFFER_KB: u32 = 4096;

/// Device as `MAJOR:MINOR`, and inode.
type File = (String, u64);

pub struct Pages {
    /// Names of the data disk's files. Others have their device and inode for one.
    names: BTreeMap<File, String>,
    numbers: BTreeMap<File, u32>,
    scenes: Vec<Scene>,
    /// What is still to be told.
    files: Vec<String>,
    runs: Vec<PageRun>,
}

struct Scene {
    begin_ms: f64,
    inserted: u64,
    evicted: u64,
    /// Events that are not as this program knows them.
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

    /// What is to be told.
    pub fn news(&mut self) -> Option<Line> {
        let runs = std::mem::take(&mut self.runs);
        (!runs.is_empty()).then(|| Line::PageCache {
            files: std::mem::take(&mut self.files),
            runs,
        })
    }

    /// Says what was seen of a scene.
    pub fn tell(&self, place: usize, mut say: impl FnMut(&str, f64)) {
        let scene = &self.scenes[place];
        say("inserted", scene.inserted as f64);
        say("evicted", scene.evicted as f64);
        say("unread", scene.unread as f64);
    }
}

/// `dev 98:0 ino c pfn=0x1f2a ofs=4096 order=0`: the file, its first page, and how many.
fn folio(detail: &str) -> Option<(File, u64, u64)> {
    let mut words = detail.split_whitespace();
    let mut next = |name: &str| (words.next()? == name).then(|| words.next()).flatten();
    let device = next("dev")?.to_string();
    let inode = u64::from_str_radix(next("ino")?, 16).ok()?;
    let number = |name: &str| -> Option<u64> {
        let mut words = detail.split_whitespace();
        words.find_map(|word| word.strip_prefix(name)?.parse().ok())
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
    use super::super::event;
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
        let news = Line::PageCache {
            files: vec!["/data/apps".into(), "device 0:5 inode 98".into()],
            runs: vec![
                PageRun::new(1_000_001, false, 0, 0, 5),
                PageRun::new(1_000_003, false, 1, 5, 1),
                PageRun::new(2_500_000, true, 0, 0, 1),
            ],
        };
        assert_eq!(pages.news(), Some(news));
        assert_eq!(pages.news(), None);
        let mut told = Vec::new();
        for place in 0..2 {
            pages.tell(place, |name, value| told.push((name.to_string(), value)));
        }
        let told: Vec<_> = told.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        let wanted = [
            ("inserted", 6.0),
            ("evicted", 0.0),
            ("unread", 0.0),
            ("inserted", 0.0),
            ("evicted", 1.0),
            ("unread", 1.0),
        ];
        assert_eq!(told, wanted);
    }
}
