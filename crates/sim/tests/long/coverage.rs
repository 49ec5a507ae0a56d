//! The tables of docs/design/simulator.md: how often intervals hold the exact miss ratio.
use crate::bed::{kinds, lru, policy, At, Cell};

const SIZES: [(&str, At); 8] = [
    ("0.25", At::Sampled(0.25)),
    ("5", At::Sampled(5.0)),
    ("10", At::Sampled(10.0)),
    ("20", At::Sampled(20.0)),
    ("50", At::Sampled(50.0)),
    ("200", At::Sampled(200.0)),
    ("20%", At::Share(0.2)),
    ("50%", At::Share(0.5)),
];

fn head(title: &str, first: &str) {
    let heads: Vec<&str> = SIZES.iter().map(|(head, _)| *head).collect();
    println!("\n{title}\n\n| {first} | {} |", heads.join(" | "));
    println!("|---|{}", "---|".repeat(heads.len()));
}

/// Prints a line: coverage in percent, and relative width, at each size.
fn line(name: &str, cells: &[Cell]) {
    let cells: Vec<String> = cells
        .iter()
        .map(|cell| match (cell.asked, cell.given) {
            (0, _) => String::new(),
            (_, 0) => "n/a".to_string(),
            _ => format!("{:.1} ({:.2})", 100.0 * cell.coverage(), cell.width()),
        })
        .collect();
    println!("| {name} | {} |", cells.join(" | "));
}

fn joined(rows: &[Vec<Cell>]) -> Vec<Cell> {
    let mut all = vec![Cell::default(); SIZES.len()];
    for cells in rows {
        all.iter_mut()
            .zip(cells)
            .for_each(|(all, cell)| all.join(cell));
    }
    all
}

/// Prints a line for all kinds together. The width is the median of the kinds'.
fn summary(name: &str, rows: &[Vec<Cell>]) -> Vec<Cell> {
    let all = joined(rows);
    let text = all.iter().enumerate().map(|(at, cell)| {
        let given = rows
            .iter()
            .map(|cells| &cells[at])
            .filter(|cell| cell.given > 0);
        let mut widths: Vec<f64> = given.map(Cell::width).collect();
        widths.sort_by(f64::total_cmp);
        let width = widths.get(widths.len() / 2);
        let percent = 100.0 * cell.coverage();
        width.map_or("n/a".to_string(), |width| {
            format!("{percent:.1} ({width:.2})")
        })
    });
    println!("| {name} | {} |", text.collect::<Vec<_>>().join(" | "));
    all
}

#[test]
#[ignore = "long: two minutes of simulations"]
fn coverage_of_lru() {
    let sizes = SIZES.map(|(_, at)| at);
    let mut low = Vec::new();
    for rate in [0.5, 0.1, 0.05, 0.01] {
        head(&format!("{}% of the objects", rate * 100.0), "trace");
        let mut rows = Vec::new();
        for (at, (name, _)) in kinds(20_000, 0).iter().enumerate() {
            rows.push(lru(at, (20_000, 200_000), rate, &sizes, 200));
            line(name, &rows[at]);
        }
        let all = summary("all", &rows);
        low.extend(
            all.iter()
                .filter(|cell| cell.given > 0 && cell.coverage() < 0.95)
                .cloned(),
        );
    }
    assert!(low.is_empty(), "{} columns below 95%", low.len());
}

#[test]
#[ignore = "long: ten minutes of simulations"]
fn coverage_of_policies() {
    let sizes = SIZES.map(|(_, at)| at);
    head("One object in 8, all kinds of traces", "policy");
    for known in sim::registry::POLICIES {
        let kinds = 0..kinds(20_000, 0).len();
        let rows: Vec<_> = kinds
            .map(|at| policy(known.name, at, (20_000, 200_000), 8, &sizes, 20))
            .collect();
        summary(known.name, &rows);
        for ((kind, _), cells) in self::kinds(20_000, 0).iter().zip(&rows) {
            let given = cells.iter().filter(|cell| cell.given > 0);
            if given.clone().map(Cell::coverage).sum::<f64>() < 0.85 * given.count() as f64 {
                line(&format!("{}, {kind}", known.name), cells);
            }
        }
    }
}
