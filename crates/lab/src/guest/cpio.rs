//! Writes the archive that a kernel unpacks as its first root: cpio in the "newc" format, as
//! documented in the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.

const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const CHARACTER: u32 = 0o020_000;
const TRAILER: &str = "TRAILER!!!";

/// An archive in the making. Everything in it belongs to root and has no date, so that the same
/// contents give the same bytes.
#[derive(Default)]
pub struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    pub fn new() -> Archive {
        Archive::default()
    }

    /// Parents must come first; `name` has no leading slash.
    pub fn directory(&mut self, name: &str) {
        self.entry(name, DIRECTORY | 0o755, (0, 0), &[]);
    }

    pub fn file(&mut self, name: &str, mode: u32, contents: &[u8]) {
        self.entry(name, REGULAR | mode, (0, 0), contents);
    }

    /// A character device.
    pub fn device(&mut self, name: &str, mode: u32, (major, minor): (u32, u32)) {
        self.entry(name, CHARACTER | mode, (major, minor), &[]);
    }

    /// The whole archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry(TRAILER, 0, (0, 0), &[]);
        self.bytes
    }

    fn entry(&mut self, name: &str, mode: u32, (major, minor): (u32, u32), contents: &[u8]) {
        self.entries += 1;
        let fields = [
            self.entries,          // inode
            mode,                  //
            0,                     // owner
            0,                     // group
            1,                     // links
            0,                     // date
            contents.len() as u32, //
            0,                     // device that the file is on, major
            0,                     // and minor
            major,                 //
            minor,                 //
            name.len() as u32 + 1, // with its NUL
            0,                     // checksum, unused in this format
        ];
        self.bytes.extend(b"070701");
        for field in fields {
            self.bytes.extend(format!("{field:08x}").bytes());
        }
        self.bytes.extend(name.bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(contents);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}
