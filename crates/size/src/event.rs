//! The kernel's tracepoints of the page cache, include/trace/events/filemap.h.

/// A tracepoint's name below `events/filemap`, for folios that come.
pub const CAME: &str = "mm_filemap_add_to_page_cache";
/// For folios that leave: evicted, truncated, or dropped.
pub const LEFT: &str = "mm_filemap_delete_from_page_cache";

/// A folio of a file is no larger than a page table's top entry: 1 GiB in pages of 4 KiB. A torn line may say anything, and
/// each page of a folio is looked at.
const LARGEST_ORDER: u64 = 18;

/// Bytes of a page's offset that a line counts in. The tracepoint prints `index << PAGE_SHIFT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub gone: bool,
    /// Major and minor number of the device.
    pub device: (u32, u32),
    pub inode: u64,
    /// The first page's number in the file, and the number of pages.
    pub first: u64,
    pub pages: u64,
}

/// Parses a line of trace_pipe; `None` for a line of another event. `page_size`: bytes.
///
/// ```text
/// cat-7 [000] ..... 1.000001: mm_filemap_add_to_page_cache: dev 98:0 ino c pfn=0x1a ofs=4096 order=0
/// ```
#[must_use]
pub fn parse(line: &str, page_size: u64) -> Option<Event> {
    // A program's name may contain anything, so what follows the event's own name is read.
    let (gone, detail) = [(false, CAME), (true, LEFT)]
        .into_iter()
        .find_map(|(gone, name)| {
            let (_, rest) = line.split_once(name)?;
            Some((gone, rest.strip_prefix(':')?))
        })?;
    let mut words = detail.split_whitespace();
    let mut after = |name: &str| (words.next()? == name).then(|| words.next()).flatten();
    let (major, minor) = after("dev")?.split_once(':')?;
    let inode = u64::from_str_radix(after("ino")?, 16).ok()?;
    let field = |name: &str| {
        let mut words = detail.split_whitespace();
        words.find_map(|word| word.strip_prefix(name)?.parse::<u64>().ok())
    };
    // Kernels before 5.18 have pages alone.
    let order = field("order=").unwrap_or(0);
    if order > LARGEST_ORDER {
        return None;
    }
    Some(Event {
        gone,
        device: (major.parse().ok()?, minor.parse().ok()?),
        inode,
        first: field("ofs=")? / page_size,
        pages: 1u64.checked_shl(u32::try_from(order).ok()?)?,
    })
}

/// The thread in whose name the kernel wrote the line: 0 for none.
///
/// For pages that come it is the one that asked; for pages that leave it is whoever needed memory.
#[must_use]
pub fn thread(line: &str) -> u32 {
    // `NAME-7 [000] ..... 1.000001: mm_...`; a name may contain anything.
    let head = line
        .split_once(": mm_filemap_")
        .map_or("", |(head, _)| head);
    let before = head.rsplit_once(" [").map_or("", |(before, _)| before);
    let number = before.trim_end().rsplit_once('-');
    number
        .and_then(|(_, number)| number.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_old_and_new_kernels() {
        let new = "a: [x]-9 [000] ..... 2.5: mm_filemap_add_to_page_cache: dev 98:1 ino c1 pfn=0x1a ofs=8192 order=2";
        let wanted = Event {
            gone: false,
            device: (98, 1),
            inode: 0xc1,
            first: 2,
            pages: 4,
        };
        assert_eq!(parse(new, 4096), Some(wanted));
        assert_eq!(thread(new), 9);
        let old = "kswapd0-31    [001] .... 7.1: mm_filemap_delete_from_page_cache: dev 8:1 ino 1f page=00000000d pfn=77 ofs=0";
        let event = parse(old, 4096).unwrap();
        assert!(event.gone && event.pages == 1 && event.inode == 0x1f);
        assert_eq!((thread(old), thread("")), (31, 0));
        let torn = &new[..new.len() - 18];
        let huge = new.replace("order=2", "order=60");
        for other in [
            "",
            "cat-7 [000] 1.0: mm_filemap_fault: dev 8:1",
            torn,
            &huge,
        ] {
            assert_eq!(parse(other, 4096), None, "{other}");
        }
    }
}
