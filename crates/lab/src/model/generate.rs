//! Generates demand traces from a seed.
//!
//! A controller must not be judged by the traces that it was tuned on. Every rate, length, moment and
//! size is drawn from a range.
use super::demand::Trace;
use super::kernel::{Demand, Machine};
use random::SplitMix64;

/// Rows a second.
const HZ: f64 = 10.0;
/// Pages of 4 KiB in a MB.
const MB: f64 = 256.0;

/// Random numbers of several distributions.
struct Random(SplitMix64);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.next_f64()
    }

    /// An exponentially distributed number.
    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.between(0.0, 1.0)).ln()
    }

    /// A normally distributed number, by the method of Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.between(0.0, 1.0)).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.between(0.0, 1.0)).cos()
    }
}

/// A random walk that returns to 0: the logarithm of a busy stream's rate.
struct Wander {
    x: f64,
    keep: f64,
    step: f64,
}

impl Wander {
    /// Standard deviation `sigma`, correlation gone in about `tau_s`.
    fn new(sigma: f64, tau_s: f64) -> Self {
        let keep = (-1.0 / (tau_s * HZ)).exp();
        Wander {
            x: 0.0,
            keep,
            step: sigma * (1.0 - keep * keep).sqrt(),
        }
    }

    fn next(&mut self, random: &mut Random) -> f64 {
        self.x = self.keep * self.x + self.step * random.normal();
        self.x
    }
}

/// The machine of a trace at its start: free and cache pages as shares of the managed pages.
struct Start {
    big: bool,
    free: f64,
    cache: f64,
    phi: f64,
}

fn trace(name: String, kind: &str, start: &Start, seconds: f64) -> Trace {
    let machine = match start.big {
        true => Machine {
            managed: 201_326_592.0,
            min: 28_378.0,
            kswapd_rate: 750_000.0,
            direct_rate: 250_000.0,
            cache_floor: 0.0,
        },
        false => Machine {
            managed: 6_291_456.0,
            min: 16_896.0,
            kswapd_rate: 150_000.0,
            direct_rate: 50_000.0,
            cache_floor: 0.0,
        },
    };
    let high = machine.min + 2.0 * (machine.managed / 1000.0).max(machine.min / 4.0);
    Trace {
        name,
        kind: kind.to_owned(),
        machine,
        // A machine that has run for a while has no more free pages than kswapd leaves.
        free: match start.free {
            0.0 => high.round(),
            share => (machine.managed * share).round(),
        },
        cache: (machine.managed * start.cache).round(),
        phi: start.phi,
        rows: vec![Demand::default(); (seconds * HZ) as usize],
    }
}

impl Trace {
    /// Changes every row by its time in seconds.
    fn each(&mut self, mut change: impl FnMut(f64, &mut Demand)) {
        for (index, row) in self.rows.iter_mut().enumerate() {
            change(index as f64 / HZ, row);
        }
    }

    /// Adds the load of an idle machine: `pages` a second come and go.
    fn hum(mut self, random: &mut Random, pages: f64) -> Self {
        self.each(|_, row| {
            row.anon += random.exponential(pages);
            row.freed += random.exponential(pages);
        });
        self
    }
}

/// Quiet, then one steady stream, of anonymous memory or of page cache.
fn drain(random: &mut Random, mb_s: f64, anon: bool) -> Trace {
    let start = match anon {
        true => Start {
            big: false,
            free: random.between(0.3, 0.5),
            cache: 0.35,
            phi: 0.1,
        },
        false => Start {
            big: false,
            free: random.between(0.5, 0.75),
            cache: 0.24,
            phi: 0.1,
        },
    };
    let rate = mb_s * MB;
    let quiet_s = random.between(300.0, 900.0);
    // Anonymous memory may take a part of the cache alone, or none is left to reclaim.
    let fall_s = start.free * 6_291_456.0 / rate;
    let stream_s = match anon {
        true => fall_s + random.between(0.3, 0.7) * start.cache * 6_291_456.0 / rate,
        false => fall_s + 600.0,
    };
    let name = format!("{}_{mb_s:04.0}MBps", if anon { "anon" } else { "drain" });
    let mut trace = trace(name, "drain", &start, quiet_s + stream_s + 300.0);
    trace.each(|t, row| {
        if t >= quiet_s && t < quiet_s + stream_s {
            match anon {
                true => row.anon = rate,
                false => row.cache = rate,
            }
        }
    });
    trace.hum(random, 32.0)
}

/// A saw: memory is taken steadily and given back at once. `depth` is the taken share of the free pages.
fn saw(random: &mut Random, name: &str, kind: &str, depth: f64) -> Trace {
    let start = Start {
        big: false,
        free: random.between(0.45, 0.65),
        cache: 0.25,
        phi: 0.1,
    };
    let period_s = random.between(250.0, 700.0);
    let taken = start.free * 6_291_456.0 * depth;
    let fall_s = period_s * 0.6;
    let mut trace = trace(name.to_owned(), kind, &start, period_s * 10.0);
    trace.each(|t, row| {
        let phase = t % period_s;
        if phase >= period_s * 0.3 && phase < period_s * 0.3 + fall_s {
            row.anon = taken / fall_s;
        } else if phase < 20.0 && t >= period_s {
            row.freed = taken / 20.0;
        }
    });
    trace.hum(random, 32.0)
}

/// A fall that ends by itself, with or without giving the memory back.
fn plateau(random: &mut Random, name: &str, given_back: bool) -> Trace {
    let start = Start {
        big: false,
        free: random.between(0.45, 0.65),
        cache: 0.25,
        phi: 0.1,
    };
    let rate = random.between(15.0, 120.0) * MB;
    let left = random.between(0.06, 0.25) * 6_291_456.0;
    let fall_s = (start.free * 6_291_456.0 - left) / rate;
    let mut trace = trace(name.to_owned(), "negative", &start, 1200.0 + 2.0 * fall_s);
    trace.each(|t, row| {
        if (300.0..300.0 + fall_s).contains(&t) {
            row.anon = rate;
        } else if given_back && (360.0 + fall_s..365.0 + fall_s).contains(&t) {
            row.freed = rate * fall_s / 5.0;
        }
    });
    trace.hum(random, 32.0)
}

/// An idle machine: only the hum.
fn idle(random: &mut Random, name: &str, big: bool) -> Trace {
    let start = Start {
        big,
        free: 0.5,
        cache: 0.3,
        phi: 0.2,
    };
    let mut trace = trace(name.to_owned(), "negative", &start, 3600.0);
    let pages = if big { 1500.0 } else { 300.0 };
    trace = trace.hum(random, pages);
    trace.each(|_, row| row.dphi = 0.002 * random.normal());
    trace
}

/// A trickle or stream of page cache, and bursts of anonymous memory that are freed a minute later.
fn burst(random: &mut Random, name: &str, stream_mb: f64, burst_mb: f64, quiet_s: f64) -> Trace {
    let start = Start {
        big: false,
        free: 0.0,
        cache: 0.72,
        phi: 0.3,
    };
    let mut trace = trace(name.to_owned(), "burst", &start, 3600.0);
    let (mut at_s, mut bursts) = (random.between(200.0, 500.0), Vec::new());
    while at_s < 3500.0 {
        let long_s = random.between(0.6, 2.0);
        bursts.push((at_s, long_s));
        at_s += long_s + 2.0 + random.exponential(quiet_s);
    }
    trace.each(|_, row| row.cache = stream_mb * MB);
    let rows = trace.rows.len();
    for (at_s, long_s) in bursts {
        let (from, long) = ((at_s * HZ) as usize, (long_s * HZ) as usize);
        trace.rows[from..(from + long).min(rows)]
            .iter_mut()
            .for_each(|row| row.anon += burst_mb * MB);
        let given_back = from + long + 600;
        for row in trace.rows.iter_mut().skip(given_back).take(10) {
            row.freed += burst_mb * MB * long as f64 / 10.0;
        }
    }
    trace.hum(random, 32.0)
}

/// A stream of page cache whose rate wanders over orders of magnitude.
fn noisy(random: &mut Random, mb_s: f64) -> Trace {
    let start = Start {
        big: false,
        free: random.between(0.5, 0.7),
        cache: 0.29,
        phi: 0.15,
    };
    let rate = mb_s * MB;
    let long_s = 300.0 + start.free * 6_291_456.0 / rate + 900.0;
    let mut trace = trace(format!("noisy_{mb_s:04.0}MBps"), "noisy", &start, long_s);
    let sigma = random.between(0.85, 1.1);
    let mut wander = Wander::new(sigma, random.between(3.0, 5.0));
    trace.each(|t, row| {
        let both = random.normal() * rate / 2.0;
        row.anon = both.max(0.0);
        row.freed = (-both).max(0.0);
        if t >= 300.0 {
            row.cache = rate * (wander.next(random) - sigma * sigma / 2.0).exp();
        }
    });
    trace
}

/// 768 GB: a stream of page cache of a GB a second whose rate wanders slowly.
fn big_io_burst(random: &mut Random) -> Trace {
    let start = Start {
        big: true,
        free: 0.0,
        cache: 0.75,
        phi: 0.5,
    };
    let mut trace = trace("big_io_burst".to_owned(), "burst", &start, 7200.0);
    let (rate, sigma) = (random.between(220e3, 260e3), random.between(0.45, 0.55));
    let mut wander = Wander::new(sigma, random.between(5.0, 9.0));
    trace.each(|_, row| {
        row.cache = rate * (wander.next(random) - sigma * sigma / 2.0).exp();
        row.dphi = 0.003 * random.normal();
    });
    let mut at_s = random.between(300.0, 900.0);
    while at_s < 7100.0 {
        let from = (at_s * HZ) as usize;
        let long = (random.between(2.0, 12.0) * HZ) as usize;
        let more = random.between(2.0, 3.0);
        trace
            .rows
            .iter_mut()
            .skip(from)
            .take(long)
            .for_each(|row| row.cache *= more);
        at_s += random.exponential(150.0);
    }
    trace.hum(random, 1500.0)
}

/// Free blocks of high order go (`ramp`), or are gone at the start and come back.
fn fragmentation(random: &mut Random, name: &str, big: bool, ramp: bool) -> Trace {
    let start = Start {
        big,
        free: random.between(0.3, 0.5),
        cache: 0.4,
        phi: if ramp {
            random.between(0.1, 0.3)
        } else {
            random.between(0.93, 0.99)
        },
    };
    let over_s = random.between(400.0, 2000.0);
    let kind = if ramp { "frag" } else { "fragneg" };
    let mut trace = trace(name.to_owned(), kind, &start, 600.0 + over_s + 300.0);
    let goal = if ramp { 0.99 } else { random.between(0.1, 0.3) };
    let slope = (goal - start.phi) / over_s;
    let noise = random.between(0.001, 0.003);
    trace.each(|t, row| {
        row.dphi = noise * random.normal();
        if (300.0..300.0 + over_s).contains(&t) {
            row.dphi += slope;
        }
    });
    trace.hum(random, if big { 1500.0 } else { 60.0 })
}

/// A trace of every kind; each name ends in the seed.
pub fn all(seed: u64) -> Vec<Trace> {
    let mut random = Random(SplitMix64::new(seed));
    let r = &mut random;
    let quiet_s = r.between(60.0, 200.0);
    let mut traces = vec![
        drain(r, 100.0, true),
        drain(r, 400.0, true),
        drain(r, 30.0, false),
        drain(r, 100.0, false),
        drain(r, 300.0, false),
        drain(r, 1000.0, false),
        saw(r, "saw_edge", "positive", 0.9938),
        saw(r, "saw_deep", "positive", 1.02),
        saw(r, "saw_safe", "negative", 0.6),
        plateau(r, "plateau", false),
        plateau(r, "recovery", true),
        idle(r, "idle_flat", false),
        idle(r, "big_idle", true),
        burst(r, "burst", 20.0, 1024.0, quiet_s),
        burst(r, "io_steady_200MBps", 200.0, 800.0, 200.0),
        noisy(r, 50.0),
        noisy(r, 100.0),
        noisy(r, 200.0),
        big_io_burst(r),
        fragmentation(r, "frag_ramp", false, true),
        fragmentation(r, "big_frag_ramp", true, true),
        fragmentation(r, "frag_recover", false, false),
    ];
    for trace in &mut traces {
        trace.name += &format!("_g{seed}");
    }
    traces
}
