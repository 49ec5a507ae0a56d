//! Data disks: one ext4 image for each set of files, made once and shared read-only by all trials.
use crate::attend::{attend, Ending, Limits};
use crate::bed::{Bed, Boot, Image};
use crate::initramfs::Init;
use crate::results::explained;
use crate::stop::Stop;
use anyhow::{bail, Context, Result};
use kbuild::debian::Module;
use raw::spec::{Disk, GuestSpec, Task};
use raw::wire::Line;
use rustix::fs::{fallocate, flock, FallocateFlags, FlockOperation};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Raised when images are made in another way, so that older ones are not used.
const FORMAT: u32 = 1;
const MIB: u64 = 1 << 20;

/// Makes data disks and keeps them.
pub struct Maker<'a> {
    pub bed: &'a dyn Bed,
    pub kernel: &'a Path,
    /// What it needs loaded.
    pub modules: &'a [Module],
    pub init: &'a Init,
    pub stop: &'a Stop,
    /// Folder of finished images.
    pub cache: PathBuf,
}

impl Maker<'_> {
    /// The image with these files (name to bytes), made if there is none yet. `progress` is told the
    /// share that is done.
    ///
    /// # Errors
    /// When the disk has no room, `mke2fs` is missing, or the guest that fills the image fails.
    /// Nothing is left of an image that is not finished.
    pub fn image(
        &self,
        files: &BTreeMap<String, u64>,
        seed: u64,
        progress: &mut dyn FnMut(f64),
    ) -> Result<PathBuf> {
        let key = key(files, seed);
        let path = self.cache.join(format!("{key}.ext4"));
        if path.is_file() {
            return Ok(path);
        }
        std::fs::create_dir_all(&self.cache)
            .map_err(explained)
            .with_context(|| format!("making {}", self.cache.display()))?;
        let partial = self.cache.join(format!("{key}.partial"));
        let what = || format!("making the data disk {}", partial.display());
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&partial)
            .map_err(explained)
            .with_context(what)?;
        // Another hotset may be making the same one.
        flock(&file, FlockOperation::LockExclusive).with_context(what)?;
        if path.is_file() {
            return Ok(path);
        }
        let made = self.fill(&file, &partial, files, seed, progress);
        let made = made.and_then(|()| std::fs::rename(&partial, &path).with_context(what));
        if made.is_err() {
            let _ = std::fs::remove_file(&partial);
        }
        made.map(|()| path)
    }

    fn fill(
        &self,
        file: &File,
        path: &Path,
        files: &BTreeMap<String, u64>,
        seed: u64,
        progress: &mut dyn FnMut(f64),
    ) -> Result<()> {
        let what = || format!("making the data disk {}", path.display());
        let contents: u64 = files.values().sum();
        // Bitmaps, inode tables and the maps of large files.
        let bytes = (contents + contents / 50 + 16 * MIB).next_multiple_of(MIB);
        file.set_len(0).with_context(what)?;
        // Taken at once, so that a full disk is told now and not by a guest's write error.
        match fallocate(file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => {}
            Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(bytes).with_context(what)?,
            Err(error) => {
                let needs = format!("{} MB are needed in {}", bytes / MIB, self.cache.display());
                return Err(explained(error.into()))
                    .context(needs)
                    .with_context(what);
            }
        }
        format(path)?;
        let spec = GuestSpec {
            seed,
            knobs: Vec::new(),
            zram_mb: 0,
            disk: Disk {
                device: self.bed.device_to_fill().into(),
                read_bps: 0,
                read_iops: 0,
            },
            scratch: None,
            daemon: None,
            sample_ms: 1000,
            trace: Vec::new(),
            task: Task::Prepare {
                files: files.clone(),
            },
        };
        let mut guest = self.bed.start(&Boot {
            kernel: self.kernel,
            initramfs: &self.init.archive_with(&spec, self.modules)?,
            disk: Some(Image {
                path,
                writable: true,
            }),
            memory_mb: self.bed.boot_memory_mb().max(128),
            cpus: 1,
            nodes_mb: &[],
            scratch_mb: 0,
            command_line: &[],
        })?;
        let limits = Limits {
            silent: Duration::from_secs(120) * self.bed.slowness(),
            total: Duration::from_secs(3600),
        };
        let mut log = Vec::new();
        let heard = attend(&mut guest, &mut log, limits, self.stop, &mut |line| {
            if let Line::Progress { fraction } = line {
                progress(fraction);
            }
            Ok(())
        })?;
        match heard.ending {
            Ending::Finished => file.sync_all().map_err(explained).with_context(what),
            Ending::Stopped => bail!("interrupted"),
            other => bail!(
                "the guest that fills the data disk did not finish ({other:?}); the end of its \
                 console:\n{}",
                heard.tail.join("\n")
            ),
        }
    }
}

/// Makes an empty disk of `mb` MiB at `path` for one trial. The file is sparse: it takes what is
/// written to it.
///
/// # Errors
/// When it cannot be made, or `mke2fs` is missing.
pub fn scratch(path: &Path, mb: u64) -> Result<()> {
    let what = || format!("making the scratch disk {}", path.display());
    let file = File::create(path).map_err(explained).with_context(what)?;
    file.set_len(mb * MIB)
        .map_err(explained)
        .with_context(what)?;
    format_with(path, "16384")
}

/// Names an image by what is in it.
fn key(files: &BTreeMap<String, u64>, seed: u64) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64; // FNV-1a, 64 bits
    let text = format!("{FORMAT} {seed} {files:?}");
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let total: u64 = files.values().sum();
    format!("{hash:016x}-{}mb", total / MIB)
}

/// Puts an empty ext4 into a file. No journal: the trials mount it read-only.
fn format(path: &Path) -> Result<()> {
    format_with(path, "256")
}

fn format_with(path: &Path, inodes: &str) -> Result<()> {
    let places = ["/usr/sbin/mke2fs", "/sbin/mke2fs", "mke2fs"];
    let program = places
        .iter()
        .find(|place| Path::new(place).is_file())
        .unwrap_or(&"mke2fs");
    let output = Command::new(program)
        .args([
            "-q", "-F", "-t", "ext4", "-b", "4096", "-m", "0", "-N", inodes,
        ])
        .args(["-O", "^has_journal,^resize_inode", "-E"])
        .arg("nodiscard,lazy_itable_init=0")
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("running {program} (Debian package e2fsprogs)"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("mke2fs on {}: {}", path.display(), said.trim());
    }
    Ok(())
}
