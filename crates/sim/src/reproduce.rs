//! Published tables, run again: the paper's value beside ours.
use crate::curve::Curve;
use crate::registry::Choice;
use crate::sample::Pcg64;
use crate::{Error, Input};

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Buffer size, in pages.
    pub size: u64,
    /// The column's heading.
    pub column: &'static str,
    /// What the paper has; none where it is not at hand.
    pub paper: Option<f64>,
    pub ours: f64,
}

/// A table.
pub struct Table {
    pub title: &'static str,
    pub note: &'static str,
    pub cells: Vec<Cell>,
}

/// Hot pages (N1) and others (N2) of the two-pool experiment.
const POOLS: (u32, u32) = (100, 10_000);

/// B, LRU-1, LRU-2, LRU-3, A0 and B(1)/B(2) of the LRU-K paper's table 4.1.
const TWO_POOLS: [(u64, [f64; 5]); 8] = [
    (60, [0.14, 0.291, 0.300, 0.300, 2.3]),
    (80, [0.18, 0.382, 0.400, 0.400, 2.6]),
    (100, [0.22, 0.459, 0.495, 0.500, 3.0]),
    (120, [0.26, 0.496, 0.501, 0.501, 3.3]),
    (140, [0.29, 0.502, 0.502, 0.502, 3.2]),
    (200, [0.37, 0.505, 0.505, 0.505, 2.3]),
    (300, [0.45, 0.510, 0.510, 0.510, 2.0]),
    (450, [0.50, 0.517, 0.518, 0.518, 1.8]),
];

/// B, LRU-1, LRU-2, A0 and B(1)/B(2) of the LRU-K paper's table 4.2, from memory.
const ZIPF: [(u64, [f64; 4]); 8] = [
    (40, [0.53, 0.61, 0.640, 2.0]),
    (60, [0.57, 0.65, 0.677, 2.2]),
    (80, [0.61, 0.67, 0.705, 2.1]),
    (100, [0.63, 0.68, 0.727, 1.6]),
    (140, [0.67, 0.72, 0.761, 1.4]),
    (200, [0.72, 0.76, 0.799, 1.3]),
    (300, [0.78, 0.80, 0.846, 1.1]),
    (500, [0.87, 0.87, 0.908, 1.0]),
];

/// A policy, its column and exact misses on the LIRS authors' trace `2_pools` at [`POOL_SIZES`]: rows
/// of shared/sim/misses.csv.
type OnTwoPools = (&'static str, &'static str, [u64; 4]);

/// Sizes of those counts.
const POOL_SIZES: [u64; 4] = [100, 500, 1000, 2000];

/// Requests of that trace.
const POOL_REQUESTS: usize = 100_000;

const POOLS_LIRS: [OnTwoPools; 4] = [
    ("lru", "LRU", [78_054, 48_938, 45_585, 40_674]),
    ("lirs:history=0", "LIRS", [54_853, 48_043, 45_608, 40_810]),
    (
        "lirs:history=1",
        "LIRS, 1",
        [52_698, 48_080, 45_648, 40_861],
    ),
    ("opt", "OPT", [49_361, 37_155, 31_481, 24_659]),
];

const POOLS_ARC: [OnTwoPools; 3] = [
    ("lru", "LRU", [78_054, 48_938, 45_585, 40_674]),
    ("arc", "ARC", [53_122, 48_125, 45_667, 40_742]),
    ("car", "CAR", [52_400, 48_095, 45_655, 40_701]),
];

const POOLS_S3_FIFO: [OnTwoPools; 3] = [
    ("lru", "LRU", [78_054, 48_938, 45_585, 40_674]),
    ("sieve", "SIEVE", [52_105, 48_136, 45_639, 40_654]),
    ("s3-fifo", "S3-FIFO", [55_840, 48_091, 45_614, 40_683]),
];

/// Traces of one experiment, and how much of each is measured.
struct Runs {
    traces: Vec<(Vec<u32>, u32)>,
    warm: usize,
}

impl Runs {
    fn new(
        runs: u32,
        objects: u32,
        warm: usize,
        len: usize,
        draw: impl Fn(&mut Pcg64, usize) -> u32,
    ) -> Runs {
        let traces = (0..runs).map(|run| {
            let mut random = Pcg64::new(1000 + run);
            let ids = (0..len).map(|at| draw(&mut random, at)).collect();
            (ids, objects)
        });
        Runs {
            traces: traces.collect(),
            warm,
        }
    }

    /// One of the hot pages and one of the others in turn.
    fn two_pools(runs: u32, warm: usize, len: usize) -> Runs {
        let (hot, cold) = POOLS;
        Runs::new(runs, hot + cold, warm, len, |random, at| match at % 2 {
            0 => random.up_to(hot - 1),
            _ => hot + random.up_to(cold - 1),
        })
    }

    fn measured(&self) -> f64 {
        self.traces
            .iter()
            .map(|(ids, _)| (ids.len() - self.warm) as f64)
            .sum()
    }

    /// Hits of requests, the warm-up left out.
    fn hit_ratio(&self, policy: &str, size: u64) -> Result<f64, Error> {
        let choice = Choice::parse(policy)?;
        let mut misses = 0;
        for (ids, objects) in &self.traces {
            let input = Input::new(ids, *objects as usize)?;
            let mut policy = choice.build(&input, size)?;
            policy.stretch(&input, 0, self.warm);
            misses += policy.stretch(&input, self.warm, ids.len());
        }
        Ok(1.0 - misses as f64 / self.measured())
    }

    /// LRU's hits at every size from 0 on, the warm-up left out.
    fn lru_curve(&self) -> Result<Vec<f64>, Error> {
        let most = self.traces.iter().map(|(_, objects)| *objects).max();
        let mut hits = vec![0.0; most.unwrap_or(0) as usize + 1];
        for (ids, objects) in &self.traces {
            let all = Curve::lru(&Input::new(ids, *objects as usize)?, &mut |_| {});
            let warm = Curve::lru(
                &Input::new(&ids[..self.warm], *objects as usize)?,
                &mut |_| {},
            );
            for (size, sum) in hits.iter_mut().enumerate() {
                let of = |curve: &Curve| curve.requests() - curve.misses(size as u64);
                *sum += (of(&all) - of(&warm)) as f64;
            }
        }
        let measured = self.measured();
        Ok(hits.into_iter().map(|hits| hits / measured).collect())
    }
}

/// The size, with a fraction, at which a rising curve reaches `ratio`.
fn size_for(curve: &[f64], ratio: f64) -> Option<f64> {
    let above = curve.iter().position(|&here| here >= ratio)?;
    let below = above.checked_sub(1)?;
    let rise = curve[above] - curve[below];
    Some(below as f64 + (ratio - curve[below]) / rise)
}

/// The LRU-K paper's two synthetic experiments, the mean of so many runs each.
///
/// # Errors
/// None that a caller could cause.
pub fn lru_k(runs: u32) -> Result<Vec<Table>, Error> {
    Ok(vec![two_pools(runs)?, zipf(runs)?])
}

/// What of the LIRS paper has an input that can be generated: its trace `2_pools`, of the LRU-K paper's
/// experiment. Its other traces (cpp, cs, gli, ps, sprite, multi) were recorded.
///
/// # Errors
/// None that a caller could cause.
pub fn lirs(runs: u32) -> Result<Vec<Table>, Error> {
    on_two_pools(
        runs,
        "LIRS on two pools, hit ratios by cache size",
        &POOLS_LIRS,
    )
}

/// The ARC paper's tables are all of recorded traces (P1 to P14, DS1, SPC1, S1 to S3): ARC and CAR on
/// two pools instead.
///
/// # Errors
/// None that a caller could cause.
pub fn arc(runs: u32) -> Result<Vec<Table>, Error> {
    on_two_pools(
        runs,
        "ARC and CAR on two pools, hit ratios by cache size",
        &POOLS_ARC,
    )
}

/// The S3-FIFO paper's figures are all of recorded traces: S3-FIFO and SIEVE on two pools instead.
///
/// # Errors
/// None that a caller could cause.
pub fn s3_fifo(runs: u32) -> Result<Vec<Table>, Error> {
    on_two_pools(
        runs,
        "S3-FIFO and SIEVE on two pools, hit ratios by cache size",
        &POOLS_S3_FIFO,
    )
}

fn on_two_pools(
    runs: u32,
    title: &'static str,
    columns: &[OnTwoPools],
) -> Result<Vec<Table>, Error> {
    let runs = Runs::two_pools(runs, 0, POOL_REQUESTS);
    let mut cells = Vec::new();
    for (index, size) in POOL_SIZES.into_iter().enumerate() {
        for &(policy, column, misses) in columns {
            cells.push(Cell {
                size,
                column,
                paper: Some(1.0 - misses[index] as f64 / POOL_REQUESTS as f64),
                ours: runs.hit_ratio(policy, size)?,
            });
        }
    }
    Ok(vec![Table {
        title,
        note: "100,000 references from empty; \"paper\" is the exact count on the LIRS authors' own trace \
               2_pools, ours are traces generated alike; recorded traces cannot be generated: \
               hotset sim run FILE",
        cells,
    }])
}

fn two_pools(runs: u32) -> Result<Table, Error> {
    let (hot, cold) = POOLS;
    let warm = 10 * hot as usize;
    let runs = Runs::two_pools(runs, warm, 4 * warm);
    let curve = runs.lru_curve()?;
    let mut cells = Vec::new();
    for (size, paper) in TWO_POOLS {
        let lru_2 = runs.hit_ratio("lru-k:k=2", size)?;
        let best = size.min(u64::from(hot)) as f64 / f64::from(hot) / 2.0
            + size.saturating_sub(u64::from(hot)) as f64 / f64::from(cold) / 2.0;
        let ours = [
            runs.hit_ratio("lru", size)?,
            lru_2,
            runs.hit_ratio("lru-k:k=3", size)?,
            best,
            size_for(&curve, lru_2).map_or(f64::NAN, |b1| b1 / size as f64),
        ];
        let columns = ["LRU-1", "LRU-2", "LRU-3", "A0", "B(1)/B(2)"];
        for ((column, paper), ours) in columns.into_iter().zip(paper).zip(ours) {
            cells.push(Cell {
                size,
                column,
                paper: Some(paper),
                ours,
            });
        }
    }
    Ok(Table {
        title: "LRU-K, two pools: N1 = 100, N2 = 10,000, hit ratios by buffer size",
        note: "1,000 references dropped, 3,000 measured; A0 is worked out, not run; B(1) is where LRU-1's \
               curve reaches LRU-2's hits. At B = 300 and 450 the paper's ratios and its hit ratios exclude each \
               other: LRU-1 with its B(1) pages hits 0.01 to 0.02 more than its LRU-2",
        cells,
    })
}

/// Pr(page <= i) = (i / N)^(ln 0.8 / ln 0.2): 80% of references to 20% of pages, and so again within.
fn zipf(runs: u32) -> Result<Table, Error> {
    const PAGES: u32 = 1000;
    let power = 0.2f64.ln() / 0.8f64.ln();
    let runs = Runs::new(runs, PAGES, 10_000, 40_000, |random, _| {
        let page = (random.unit().powf(power) * f64::from(PAGES)) as u32;
        page.min(PAGES - 1)
    });
    let curve = runs.lru_curve()?;
    let mut cells = Vec::new();
    for (size, paper) in ZIPF {
        let lru_2 = runs.hit_ratio("lru-k:k=2", size)?;
        let ours = [
            ("LRU-1", runs.hit_ratio("lru", size)?),
            ("LRU-2", lru_2),
            ("A0", (size as f64 / f64::from(PAGES)).powf(1.0 / power)),
            (
                "B(1)/B(2)",
                size_for(&curve, lru_2).map_or(f64::NAN, |b1| b1 / size as f64),
            ),
        ];
        for ((column, ours), paper) in ours.into_iter().zip(paper) {
            cells.push(Cell {
                size,
                column,
                paper: Some(paper),
                ours,
            });
        }
    }
    Ok(Table {
        title: "LRU-K, zipfian 80-20 over 1,000 pages, hit ratios by buffer size",
        note: "the paper's figures are given from memory; A0 is worked out, not run",
        cells,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where our B(1)/B(2) is not the paper's, the paper's is not what its own hit ratios say: B(1) pages
    /// make LRU-1 hit more than the LRU-2 that it is to equal, even where the ratio was rounded up.
    /// Worked out besides, without any run: each of t requests back touches a hot page with 1/2N1.
    #[test]
    fn the_papers_ratios_at_300_and_450_exclude_its_hit_ratios() {
        let runs = Runs::two_pools(40, 1000, 4000);
        let curve = runs.lru_curve().unwrap();
        let pool = |pages: u32, t: f64| 1.0 - (-t / (2.0 * f64::from(pages))).exp();
        let steady = |size: f64| {
            let held = |t: f64| 100.0 * pool(100, t) + 10_000.0 * pool(10_000, t);
            let t = (0..100_000).map(f64::from).find(|&t| held(t) >= size);
            let t = t.expect("some time fills it");
            (pool(100, t) + pool(10_000, t)) / 2.0
        };
        for (size, [_, lru_2, .., ratio]) in TWO_POOLS {
            let least = (ratio - 0.05) * size as f64;
            let over = curve[least as usize] - lru_2;
            let worked_out = steady(least) - lru_2;
            assert!(
                (over - worked_out).abs() < 0.005,
                "{size}: {over} {worked_out}"
            );
            assert_eq!(over > 0.005, size >= 300, "{size}: {over}");
        }
    }

    /// Nor are they one run's, by chance: each run's own LRU-2 against its own LRU-1. The paper's other
    /// ratios are what single runs give.
    #[test]
    fn no_single_run_has_the_papers_ratios_at_300_and_450() {
        let all = Runs::two_pools(200, 1000, 4000);
        for (size, [.., ratio]) in TWO_POOLS {
            let mut ours: Vec<f64> = Vec::new();
            for trace in &all.traces {
                let run = Runs {
                    traces: vec![trace.clone()],
                    warm: all.warm,
                };
                let lru_2 = run.hit_ratio("lru-k:k=2", size).unwrap();
                ours.extend(size_for(&run.lru_curve().unwrap(), lru_2));
            }
            assert_eq!(ours.len(), all.traces.len());
            let rounded = (ratio - 0.05) * size as f64;
            let as_high = ours.iter().filter(|&&b1| b1 >= rounded).count();
            match size {
                ..300 => assert!(as_high >= 20, "{size}: {as_high} of 200"),
                _ => assert_eq!(as_high, 0, "{size}"),
            }
        }
    }

    /// Noise of a run is about 0.01; of 40 runs a sixth of that.
    #[test]
    fn two_pools_are_within_a_hundredth_of_the_paper() {
        for cell in two_pools(40).unwrap().cells {
            // Further on the paper contradicts itself: the test above.
            let bound = match (cell.column, cell.size) {
                ("B(1)/B(2)", ..=200) => 0.15,
                ("B(1)/B(2)", _) => continue,
                _ => 0.01,
            };
            let paper = cell.paper.unwrap();
            assert!((cell.ours - paper).abs() <= bound, "{cell:?}");
        }
    }

    #[test]
    fn generated_pools_are_as_the_authors_trace() {
        for tables in [lirs(4), arc(4), s3_fifo(4)] {
            for cell in tables.unwrap().remove(0).cells {
                let off = (cell.ours - cell.paper.unwrap()).abs();
                assert!(off <= 0.01, "{cell:?}");
            }
        }
    }

    #[test]
    fn zipf_is_near_the_paper() {
        for cell in zipf(10).unwrap().cells {
            let off = (cell.ours - cell.paper.unwrap()).abs();
            // The paper's are of single runs, in two digits.
            let bound = match cell.column {
                "A0" => 0.002,
                "LRU-1" => 0.01,
                "LRU-2" => 0.02,
                _ => continue,
            };
            assert!(off <= bound, "{cell:?}");
        }
    }
}
