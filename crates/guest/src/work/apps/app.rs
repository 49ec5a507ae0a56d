//! One app's process, and the system process: each carries out one order at a time.
use anyhow::{ensure, Context, Result};
use protocol::work::apps::AppCycle;
use protocol::work::Fill;
use rustix::mm::{mmap, MapFlags, ProtFlags};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;

use super::order::{Command, Order};
use super::plan::Plan;
use crate::kernel_files::write;
use crate::paths::data_path;
use crate::work::memory::anon;
use crate::xorshift::Random;

const PAGE: usize = 4096;
/// Neighbouring pages are used together: touched pages are drawn in runs of this many.
const RUN: usize = 16;
/// Parts of an app's memory, as shares of it: the hot set, the part that each burst discards and
/// fills anew, and the part of the interface.
const HOT: f64 = 0.3;
const NEW: (f64, f64) = (0.7, 0.8);
const INTERFACE: (f64, f64) = (0.8, 1.0);
/// Share of the cold memory that a burst touches.
const COLD_TOUCHED: f64 = 0.3;
/// Share of a file that a cold start reads.
const STARTED: f64 = 0.6;
/// Share of the incompressible pages.
const INCOMPRESSIBLE: f64 = 0.05;

/// Runs app `which`, or the system process, until its orders end.
pub fn run(which: Option<usize>, spec: &AppCycle, seed: u64) -> Result<()> {
    // SAFETY: prctl(2) with this option takes a signal, and nothing by address.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let plan = Plan::new(spec, seed);
    let mut app = match which {
        Some(app) => {
            write(&format!("{}/cgroup.procs", plan.cgroup(app)), "0")?;
            App::open(&plan, app)?
        }
        None => App::system(spec.system.bytes())?,
    };
    let mut random = Random::new(seed ^ which.map_or(0, |app| app as u64 + 1) << 40);
    let (mut orders, mut answers) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut order = [0; Order::BYTES];
    loop {
        match orders.read_exact(&mut order) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error).context("reading an order"),
        }
        let order = Order::from_bytes(order).context("an unknown order")?;
        // The same in all arms, even if the app was killed before.
        let mut drawn = Random::new(random_of(seed, which, order.turn));
        match order.command {
            Command::Cold => app.cold(&mut random)?,
            Command::Warm => app.warm(&mut random, &mut drawn),
            Command::Hot => app.hot(&mut drawn),
            Command::Burst => app.burst(spec, &plan, order.turn, &mut random, &mut drawn)?,
            Command::Background => app.lose_interface()?,
        }
        answers.write_all(&[1]).context("answering")?;
        answers.flush().context("answering")?;
    }
}

fn random_of(seed: u64, which: Option<usize>, turn: u32) -> u64 {
    let app = which.map_or(0, |app| app as u64 + 1);
    (seed << 1) ^ (app << 48) ^ u64::from(turn)
}

struct App {
    memory: &'static mut [u8],
    /// Mapped files: its code, and the framework.
    mapped: Vec<&'static [u8]>,
    /// The app's own data: file, offset, bytes.
    data: Option<(File, u64, usize)>,
}

/// A share of a length, in whole pages.
fn part(len: usize, share: f64) -> usize {
    (len as f64 * share) as usize / PAGE * PAGE
}

impl App {
    fn open(plan: &Plan, app: usize) -> Result<App> {
        let path = data_path(&plan.files);
        let file = File::open(&path).with_context(|| format!("opening {path}"))?;
        let all = file.metadata()?.len();
        let place = plan.place(app);
        ensure!(
            place.data + plan.data <= all,
            "{path} has {all} bytes; the apps' code and data need {}",
            plan.file_bytes
        );
        let code = map_file(&file, place.code, place.code_bytes, ProtFlags::READ)?;
        let path = data_path(&plan.framework);
        let shared = File::open(&path).with_context(|| format!("opening {path}"))?;
        let len = shared.metadata()?.len() / PAGE as u64 * PAGE as u64;
        let framework = map_file(&shared, 0, len, ProtFlags::READ | ProtFlags::EXEC)?;
        Ok(App {
            memory: anon::map(place.memory as usize)?,
            mapped: vec![code, framework],
            data: Some((file, place.data, plan.data as usize)),
        })
    }

    fn system(bytes: u64) -> Result<App> {
        Ok(App {
            memory: anon::map(bytes as usize)?,
            mapped: Vec::new(),
            data: None,
        })
    }

    fn cold(&mut self, random: &mut Random) -> Result<()> {
        for file in &self.mapped {
            read_pages(&file[..part(file.len(), STARTED)]);
        }
        fill(self.memory, random);
        if let Some((file, from, len)) = &self.data {
            read(file, *from, *len)?;
        }
        Ok(())
    }

    fn warm(&mut self, random: &mut Random, drawn: &mut Random) {
        let len = self.memory.len();
        fill(&mut self.memory[part(len, INTERFACE.0)..], random);
        self.hot(drawn);
    }

    fn hot(&mut self, drawn: &mut Random) {
        let hot = part(self.memory.len(), HOT);
        touch(&mut self.memory[..hot], 1.0, drawn);
        for file in &self.mapped {
            read_pages(&file[..part(file.len(), HOT)]);
        }
    }

    fn burst(
        &mut self,
        spec: &AppCycle,
        plan: &Plan,
        turn: u32,
        random: &mut Random,
        drawn: &mut Random,
    ) -> Result<()> {
        self.hot(drawn);
        let len = self.memory.len();
        let (hot, from, to) = (part(len, HOT), part(len, NEW.0), part(len, NEW.1));
        touch(&mut self.memory[hot..from], COLD_TOUCHED, drawn);
        touch(&mut self.memory[to..], COLD_TOUCHED, drawn);
        for file in &self.mapped {
            let rest = &file[part(file.len(), HOT)..];
            for run in rest.chunks(RUN * PAGE) {
                if drawn.share() < COLD_TOUCHED {
                    read_pages(run);
                }
            }
        }
        if self.data.is_none() {
            return Ok(());
        }
        give_up(&mut self.memory[from..to])?;
        fill(&mut self.memory[from..to], random);
        let path = data_path(&plan.media);
        let media = File::open(&path).with_context(|| format!("opening {path}"))?;
        let stream = spec.stream.bytes();
        let parts = (media.metadata()?.len() / stream.max(1)).max(1);
        read(&media, u64::from(turn) % parts * stream, stream as usize)
    }

    fn lose_interface(&mut self) -> Result<()> {
        let len = self.memory.len();
        give_up(&mut self.memory[part(len, INTERFACE.0)..])
    }
}

/// Maps a part of a file from a page boundary on. It is never unmapped.
fn map_file(file: &File, from: u64, len: u64, prot: ProtFlags) -> Result<&'static [u8]> {
    // SAFETY: a fresh mapping of a file on a read-only file system, which nothing writes to; valid
    // until the process ends.
    unsafe {
        let at = mmap(
            std::ptr::null_mut(),
            len as usize,
            prot,
            MapFlags::PRIVATE,
            file,
            from,
        )
        .with_context(|| format!("mapping {len} bytes of a file"))?;
        Ok(std::slice::from_raw_parts(at.cast(), len as usize))
    }
}

fn read_pages(memory: &[u8]) {
    for page in memory.chunks(PAGE) {
        // Volatile: the compiler would drop an unused read.
        // SAFETY: a pointer to the first byte of a live slice.
        unsafe { std::ptr::read_volatile(page.as_ptr()) };
    }
}

/// Touches a share of the memory, run by run; every fourth page is written to.
fn touch(memory: &mut [u8], share: f64, drawn: &mut Random) {
    for run in memory.chunks_mut(RUN * PAGE) {
        if share < 1.0 && drawn.share() >= share {
            continue;
        }
        for (place, page) in run.chunks_mut(PAGE).enumerate() {
            // SAFETY: a pointer to the first byte of a live slice, which this function borrows exclusively.
            unsafe {
                let first = std::ptr::read_volatile(page.as_ptr());
                if place % 4 == 0 {
                    std::ptr::write_volatile(page.as_mut_ptr(), first ^ 1);
                }
            }
        }
    }
}

fn fill(memory: &mut [u8], random: &mut Random) {
    for page in memory.chunks_mut(PAGE) {
        let kind = match random.share() < INCOMPRESSIBLE {
            true => Fill::Random,
            false => Fill::Mixed,
        };
        random.page(page, kind);
    }
}

fn give_up(memory: &mut [u8]) -> Result<()> {
    // SAFETY: the range is whole pages of this process's private anonymous memory. The range reads
    // as zeros afterwards, and no other reference points into it.
    let result = unsafe {
        libc::madvise(
            memory.as_mut_ptr().cast(),
            memory.len(),
            libc::MADV_DONTNEED,
        )
    };
    ensure!(result == 0, "madvise: {}", std::io::Error::last_os_error());
    Ok(())
}

fn read(file: &File, from: u64, len: usize) -> Result<()> {
    let mut buffer = vec![0; 128 << 10];
    let mut done = 0;
    while done < len {
        let want = buffer.len().min(len - done);
        let got = file.read_at(&mut buffer[..want], from + done as u64);
        match got {
            Ok(0) => return Ok(()),
            Ok(got) => done += got,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("reading an app's file"),
        }
    }
    Ok(())
}
