//! A model of one memory node: how the kernel's reclaim answers to demand for free pages.
//!
//! Amounts are pages of 4 KiB, times are seconds. The gap between the min and the low watermark is
//! max(min/4, managed*WSF/10000), and as large between low and high. kswapd wakes below low and stops
//! at high. An allocation that would leave less than min stalls and reclaims directly. The model
//! ranks controllers; it proves nothing about a real machine.

/// Orders of the buddy allocator in the model: 0 to 10.
pub const ORDERS: usize = 11;

/// A machine: the size of its node, and the speed of its reclaim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Managed pages.
    pub managed: f64,
    /// The min watermark.
    pub min: f64,
    /// Pages a second that kswapd can free.
    pub kswapd_rate: f64,
    /// Pages a second that direct reclaim can free.
    pub direct_rate: f64,
    /// Cache pages that reclaim never frees.
    pub cache_floor: f64,
}

/// The demand for free memory in pages a second, and the change of the fragmented share a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demand {
    pub anon: f64,
    pub cache: f64,
    pub freed: f64,
    pub dphi: f64,
}

/// The node's state, and totals since the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernel {
    pub machine: Machine,
    pub free: f64,
    pub cache: f64,
    pub anon: f64,
    /// The share of free pages in blocks below order 9.
    pub phi: f64,
    pub wsf: u32,
    pub low: f64,
    pub high: f64,
    pub kswapd_awake: bool,
    pub kswapd_wakes: u64,
    /// Pages freed by kswapd, by direct reclaim, and on the controller's request.
    pub kswapd_steal: f64,
    pub direct_steal: f64,
    pub asked_steal: f64,
    pub stall_s: f64,
    pub stall_pages: f64,
    /// Pages that allocations wait for.
    pub backlog: f64,
    pub allocated: f64,
    /// Whether an allocation has waited while no page could be reclaimed.
    pub out_of_memory: bool,
    /// Pages that the controller has requested and that are not yet freed.
    pub asked: f64,
    pub asked_rate: AskedRate,
}

/// The rate at which a write to the node's `reclaim` file (or to `memory.reclaim`) frees pages, beside
/// kswapd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskedRate {
    /// kswapd's rate: the writer is one thread in the same code.
    #[default]
    Kswapd,
    /// The part of direct reclaim's rate that is unused in this step: the writer is one more thread
    /// that reclaims for itself.
    Direct,
}

impl Kernel {
    pub fn new(machine: Machine, free: f64, cache: f64, phi: f64, wsf: u32) -> Self {
        let mut kernel = Kernel {
            machine,
            free,
            cache,
            anon: machine.managed - free - cache,
            phi,
            wsf,
            low: 0.0,
            high: 0.0,
            kswapd_awake: false,
            kswapd_wakes: 0,
            kswapd_steal: 0.0,
            direct_steal: 0.0,
            asked_steal: 0.0,
            stall_s: 0.0,
            stall_pages: 0.0,
            backlog: 0.0,
            allocated: 0.0,
            out_of_memory: false,
            asked: 0.0,
            asked_rate: AskedRate::default(),
        };
        kernel.set_wsf(wsf);
        kernel
    }

    /// Sets vm.watermark_scale_factor. The watermarks follow as in `__setup_per_zone_wmarks` (mm/page_alloc.c).
    pub fn set_wsf(&mut self, wsf: u32) {
        let machine = self.machine;
        let gap = (machine.managed * f64::from(wsf) / 10_000.0).max(machine.min / 4.0);
        self.wsf = wsf;
        self.low = machine.min + gap;
        self.high = machine.min + 2.0 * gap;
    }

    /// Pages that reclaim can free in `dt` seconds at `rate`.
    fn reclaimable(&self, rate: f64, dt: f64) -> f64 {
        (rate * dt)
            .min(self.cache - self.machine.cache_floor)
            .max(0.0)
    }

    /// Lets `dt` seconds pass under `demand`.
    pub fn step(&mut self, dt: f64, demand: Demand) {
        let freed = (demand.freed * dt).min(self.anon);
        self.anon -= freed;
        self.free += freed;

        let asked_for = demand.anon + demand.cache;
        let want = asked_for * dt + self.backlog;
        let anon_share = if asked_for > 0.0 {
            demand.anon / asked_for
        } else {
            1.0
        };
        let mut got = want;
        let mut direct_left = self.machine.direct_rate * dt;
        if self.free - want < self.machine.min {
            let above_min = (self.free - self.machine.min).max(0.0);
            let need = want - above_min;
            let reclaimed = self.reclaimable(self.machine.direct_rate, dt).min(need);
            self.cache -= reclaimed;
            self.free += reclaimed;
            self.direct_steal += reclaimed;
            direct_left -= reclaimed;
            got = (above_min + reclaimed).min(want);
            self.stall_s += dt;
            self.stall_pages += need;
            if reclaimed <= 0.0 && self.cache <= self.machine.cache_floor + 1.0 {
                self.out_of_memory = true;
            }
        }
        self.backlog = want - got;
        self.free -= got;
        self.allocated += got;
        self.anon += got * anon_share;
        self.cache += got * (1.0 - anon_share);

        if !self.kswapd_awake && self.free < self.low {
            self.kswapd_awake = true;
            self.kswapd_wakes += 1;
        }
        if self.kswapd_awake {
            let reclaimed = self
                .reclaimable(self.machine.kswapd_rate, dt)
                .min((self.high - self.free).max(0.0));
            self.cache -= reclaimed;
            self.free += reclaimed;
            self.kswapd_steal += reclaimed;
            if self.free >= self.high - 0.5 {
                self.kswapd_awake = false;
            }
        }
        self.serve_asked(match self.asked_rate {
            AskedRate::Kswapd => self.machine.kswapd_rate * dt,
            AskedRate::Direct => direct_left,
        });
        self.phi = (self.phi + demand.dphi * dt).clamp(0.02, 1.0);
    }

    /// Frees up to `budget` of the pages that the controller requested.
    fn serve_asked(&mut self, budget: f64) {
        if self.asked <= 0.0 {
            return;
        }
        let reclaimed = self
            .asked
            .min(budget)
            .min(self.cache - self.machine.cache_floor)
            .max(0.0);
        self.cache -= reclaimed;
        self.free += reclaimed;
        self.asked_steal += reclaimed;
        self.asked -= reclaimed;
    }

    /// Compaction, which halves the fragmented share, as the policy's `CompactNode` expects.
    pub fn compact(&mut self) {
        self.phi = (self.phi * 0.5).max(0.02);
    }

    /// Free blocks of each order, as buddyinfo would show them.
    pub fn free_blocks(&self, blocks: &mut [u64; ORDERS]) {
        let low_pages = self.free * self.phi;
        let high_pages = self.free * (1.0 - self.phi);
        let weights: f64 = (0..9).map(|order| 0.7f64.powi(order)).sum();
        blocks[9] = (high_pages * 0.1 / 512.0) as u64;
        blocks[10] = (high_pages * 0.9 / 1024.0) as u64;
        let mut used = blocks[9] * 512 + blocks[10] * 1024;
        for order in (1..9).rev() {
            let share = 0.7f64.powi(order as i32) / weights;
            blocks[order] = (low_pages * share / f64::from(1u32 << order)) as u64;
            used += blocks[order] << order;
        }
        blocks[0] = (self.free as u64).saturating_sub(used);
    }
}
