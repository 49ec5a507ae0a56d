//! Data disks: one ext4 image for each set of files, made once and shared read-only by all trials.
use super::disk_cache::{self, DataDisk};
use crate::bed::{Bed, Boot, Image};
use crate::guest::initramfs::Init;
use crate::guest::monitor::{listen, Ending, Limits};
use crate::host::disk_full::explained;
use crate::host::ext4;
use crate::host::stop::Stop;
use anyhow::{bail, Context, Result};
use kbuild::cache;
use kbuild::fetch::debian::Module;
use protocol::spec::{Disk, GuestSpec, Task};
use protocol::wire::Line;
use rustix::fs::{fallocate, FallocateFlags};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The version of an image's contents. A new version makes cached images of the old one unused.
const FORMAT: u32 = 1;
const MIB: u64 = 1 << 20;

/// Makes data disks and keeps them.
pub struct Maker<'a> {
    pub bed: &'a dyn Bed,
    pub kernel: &'a Path,
    /// The modules that the kernel loads.
    pub modules: &'a [Module],
    pub init: &'a Init,
    pub stop: &'a Stop,
    /// The folder of finished images.
    pub cache: PathBuf,
}

impl Maker<'_> {
    /// The image with these files (name to size in bytes), made if there is none yet; then those that
    /// were used longest ago may go. `progress` gets the share of the work that is done.
    ///
    /// # Errors
    /// When the disk has no room, `mke2fs` is missing, or the guest that fills the image fails.
    /// Nothing is left of an image that is not finished.
    pub fn image(
        &self,
        files: &BTreeMap<String, u64>,
        seed: u64,
        progress: &mut dyn FnMut(f64),
    ) -> Result<DataDisk> {
        let key = key(files, seed);
        let path = self.cache.join(format!("{key}.ext4"));
        if let Some(disk) = DataDisk::find(&path)? {
            return Ok(disk);
        }
        std::fs::create_dir_all(&self.cache)
            .map_err(explained)
            .with_context(|| format!("making {}", self.cache.display()))?;
        // Another hotset may be making the same image.
        let _lock = cache::lock(&self.cache, &key, &mut |_| {})?;
        if let Some(disk) = DataDisk::find(&path)? {
            return Ok(disk);
        }
        let partial = self.cache.join(format!("{key}.partial"));
        let context = || format!("making the data disk {}", partial.display());
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&partial)
            .map_err(explained)
            .with_context(context)?;
        let made = self.fill(&file, &partial, files, seed, progress);
        let made = made.and_then(|()| std::fs::rename(&partial, &path).with_context(context));
        if made.is_err() {
            let _ = std::fs::remove_file(&partial);
        }
        made?;
        let disk = DataDisk::find(&path)?.with_context(context)?;
        disk_cache::trim(&self.cache, disk_cache::KEPT)?;
        Ok(disk)
    }

    /// Gives the image its size.
    fn allocate(&self, file: &File, path: &Path, files: &BTreeMap<String, u64>) -> Result<()> {
        let context = || format!("making the data disk {}", path.display());
        let contents: u64 = files.values().sum();
        // Bitmaps, inode tables and the maps of large files.
        let bytes = (contents + contents / 50 + 16 * MIB).next_multiple_of(MIB);
        file.set_len(0).with_context(context)?;
        // Allocated at once, so that a full disk is an error now and not in the guest.
        match fallocate(file, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => {}
            Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(bytes).with_context(context)?,
            Err(error) => {
                let needs = format!("{} MB are needed in {}", bytes / MIB, self.cache.display());
                return Err(explained(error.into()))
                    .context(needs)
                    .with_context(context);
            }
        }
        Ok(())
    }

    /// Boots a guest that writes the files into the image.
    fn fill(
        &self,
        file: &File,
        path: &Path,
        files: &BTreeMap<String, u64>,
        seed: u64,
        progress: &mut dyn FnMut(f64),
    ) -> Result<()> {
        self.allocate(file, path, files)?;
        ext4::format_data(path)?;
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
            root: None,
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
            in_turn: false,
            nodes_mb: &[],
            scratch_mb: 0,
            keep: &[],
            root: None,
            command_line: &[],
        })?;
        let limits = Limits {
            silent: Duration::from_secs(120) * self.bed.slowness(),
            total: Duration::from_secs(3600),
        };
        let mut log = Vec::new();
        let heard = listen(&mut guest, &mut log, limits, self.stop, &mut |line| {
            if let Line::Progress { fraction } = line {
                progress(fraction);
            }
            Ok(())
        })?;
        match heard.ending {
            Ending::Finished => file
                .sync_all()
                .map_err(explained)
                .with_context(|| format!("making the data disk {}", path.display())),
            Ending::Stopped => bail!("interrupted"),
            other => bail!(
                "the guest that fills the data disk did not finish ({other:?}); the end of its \
                 console:\n{}",
                heard.tail.join("\n")
            ),
        }
    }
}

/// The name of an image: a hash of its contents' description, and its size in MiB.
fn key(files: &BTreeMap<String, u64>, seed: u64) -> String {
    let hash = random::fnv1a(format!("{FORMAT} {seed} {files:?}").into_bytes());
    let total: u64 = files.values().sum();
    format!("{hash:016x}-{}mb", total / MIB)
}

#[cfg(test)]
mod tests {
    use super::key;
    use std::collections::BTreeMap;

    /// A cached image is found again by its name.
    #[test]
    fn an_images_name_does_not_change() {
        let files = BTreeMap::from([("a".to_string(), 8 << 20), ("b".to_string(), 3 << 20)]);
        assert_eq!(key(&files, 7), "e0d599cd1fe460a1-11mb");
    }
}
