//! The model beside an independent implementation, and the policy beside fixed settings.
mod promises;

use lab::model::kernel::{Demand, Kernel, Machine};
use lab::model::{generate, Controller, Trace};
use promises::{assert_better_than_fixed, assert_promises, judged, quiet, Judged, STATICS};
use std::collections::BTreeMap;
use std::path::Path;

/// Demand traces, and their results under fixed settings.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/closed-loop");

const SMALL: Machine = Machine {
    managed: 1_000_000.0,
    min: 4000.0,
    kswapd_rate: 100_000.0,
    direct_rate: 30_000.0,
    cache_floor: 0.0,
};

/// Gaps, a wake, a refill and a stall, computed by hand.
#[test]
fn the_model_steps_as_specified() {
    let mut kernel = Kernel::new(SMALL, 5500.0, 500_000.0, 0.5, 10);
    assert_eq!((kernel.low, kernel.high), (5000.0, 6000.0));
    // 600 pages: 4900 left, below low; kswapd wakes and gives 1000, then 100 to reach high.
    kernel.step(
        0.01,
        Demand {
            cache: 60_000.0,
            ..Demand::default()
        },
    );
    assert_eq!(
        (kernel.free, kernel.kswapd_wakes, kernel.kswapd_awake),
        (5900.0, 1, true)
    );
    kernel.step(0.01, Demand::default());
    assert_eq!(
        (kernel.free, kernel.kswapd_awake, kernel.kswapd_steal),
        (6000.0, false, 1100.0)
    );
    // 3000 pages: 2000 above min and 300 from direct reclaim; 700 wait; kswapd gives 1000.
    kernel.step(
        0.01,
        Demand {
            anon: 300_000.0,
            ..Demand::default()
        },
    );
    assert_eq!(kernel.direct_steal, 300.0);
    assert_eq!(
        (kernel.backlog, kernel.free, kernel.stall_s),
        (700.0, 5000.0, 0.01)
    );
    // The next step begins with the backlog.
    kernel.step(0.01, Demand::default());
    assert_eq!(
        (kernel.backlog, kernel.free, kernel.allocated),
        (0.0, 5300.0, 3600.0)
    );
    // WSF under a quarter of min changes nothing; above, the gap is its share.
    kernel.set_wsf(1);
    assert_eq!((kernel.low, kernel.high), (5000.0, 6000.0));
    kernel.set_wsf(200);
    assert_eq!((kernel.low, kernel.high), (24_000.0, 44_000.0));
    let mut blocks = [0; 11];
    kernel.free_blocks(&mut blocks);
    let total: u64 = blocks
        .iter()
        .enumerate()
        .map(|(order, count)| count << order)
        .sum();
    assert_eq!(total, 5300, "{blocks:?}");
}

/// The model gives every number of the table, to the last digit.
#[test]
fn results_under_fixed_settings_are_those_of_the_table() {
    let fixtures = Path::new(FIXTURES);
    let table = std::fs::read_to_string(fixtures.join("static.csv")).unwrap();
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut traces = BTreeMap::new();
    let mut compared = 0;
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let wsf = fields[1].strip_prefix("static").unwrap();
        let trace = traces.entry(fields[0].to_owned()).or_insert_with(|| {
            Trace::read(&fixtures.join(format!("demand/{}.csv.zst", fields[0]))).unwrap()
        });
        let row = quiet(trace, Controller::Static(wsf.parse().unwrap()));
        let row = serde_json::to_value(row).unwrap();
        for (column, expected) in columns.iter().zip(&fields).skip(2) {
            let found = row[column]
                .as_f64()
                .unwrap_or_else(|| panic!("no column {column}"));
            assert_eq!(found, expected.parse::<f64>().unwrap(), "{line}\n{column}");
            compared += 1;
        }
    }
    assert_eq!(compared, 18 * STATICS.len() * 15);
}

/// An error in a trace names its line.
#[test]
fn traces_are_read_as_they_were_written() {
    let dir = tempfile::tempdir().unwrap();
    let trace = generate::all(5)
        .into_iter()
        .find(|trace| trace.kind == "fragneg")
        .unwrap();
    let path = dir.path().join("x.csv");
    std::fs::write(&path, trace.csv()).unwrap();
    let again = Trace::read(&path).unwrap();
    assert_eq!(again.machine, trace.machine);
    assert_eq!(Path::new(&again.name), path);
    assert_eq!(again.rows.len(), trace.rows.len());
    let error = |text: &str| format!("{:#}", Trace::parse("t", text).unwrap_err());
    assert!(error("hello\n1,2,3,4,5\n").contains("line 1"));
    assert!(error("# M=1 MIN=1\n1,2,3,4,5\n").contains("RKS= is missing"));
    let head = "# M=100 MIN=1 F=50 C=50 PHI=0.1 RKS=1 RDIR=1\nt_ms,a,c,f,d\n";
    assert!(error(&format!("{head}0,1,2\n")).contains("line 3"));
    assert!(error(&format!("{head}0,1,NaN,2,3\n")).contains("line 3"));
    assert!(error(head).contains("no rows"));
}

/// The policy's thresholds were set with these traces.
#[test]
fn hotset_keeps_its_promises_on_given_traces() {
    let files = std::fs::read_dir(Path::new(FIXTURES).join("demand")).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let traces = files.map(|path| {
        // The class of a trace is in its name.
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        Trace {
            name,
            ..Trace::read(&path).unwrap()
        }
    });
    let traces: Vec<Trace> = traces.collect();
    let counted = assert_promises(&traces, &["24 GB bursts", "24 GB noisy", "768 GB bursts"]);
    // The definition is frozen: no policy changes these counts.
    assert_eq!(counted, (68, 56));
}

/// The demand of a real machine.
#[test]
fn hotset_is_better_than_fixed_settings_on_recorded_demand() {
    let files = std::fs::read_dir(Path::new(FIXTURES).join("../recorded/demand")).unwrap();
    let traces: Vec<Trace> = files
        .map(|entry| Trace::read(&entry.unwrap().path()).unwrap())
        .collect();
    assert_eq!(traces.len(), 3);
    assert_better_than_fixed("recorded", &judged(&traces).iter().collect::<Vec<_>>());
}

/// tests/long.rs judges every generated trace.
#[test]
fn hotset_costs_nothing_where_the_default_suffices_on_generated_traces() {
    let mut traces = generate::all(2027);
    let kinds = ["drain_1000", "saw_safe", "plateau", "frag_ramp"];
    traces.retain(|trace| kinds.iter().any(|kind| trace.name.starts_with(kind)));
    assert_eq!(traces.len(), kinds.len());
    judged(&traces).iter().for_each(Judged::assert_harmless);
}
