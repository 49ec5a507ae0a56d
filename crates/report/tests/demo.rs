//! The report of a short run, which is the first that most readers see.
mod common;

use common::{run, trials};
use protocol::plan::{Better, Figure, Statistic};
use protocol::record::Trial;
use report::study::{measure::Missing, Spread};
use report::{study, Results, Study};
use roxmltree::{Document, ParsingOptions};

/// Four arms of `repetitions` trials that all ended well, and two figures that nothing recorded.
fn demo(repetitions: u32) -> Results {
    let mut run = run();
    let shown = |arm: &str| arm.ends_with("vanilla") || arm.ends_with("on");
    run.arms.retain(|arm| shown(&arm.name));
    run.repetitions = repetitions;
    let known: Vec<Trial> = trials().into_iter().filter(|t| shown(&t.arm)).collect();
    let all = (0..repetitions).flat_map(|repetition| {
        let alike = known.iter().filter(move |t| t.repetition == repetition % 3);
        alike.cloned().map(move |trial| Trial {
            repetition,
            ..trial
        })
    });
    let trials = all.collect();
    let plan = &mut run.plan;
    plan.promises
        .retain(|p| p.arms.iter().all(|arm| shown(arm)));
    plan.figures.retain(|f| f.title != "Late reader");
    for title in ["Direct reclaims", "Time in direct reclaim"] {
        plan.figures.push(Figure {
            title: title.into(),
            scene: "exhaustion".into(),
            metric: format!("direct_reclaim.{}", title.len()),
            statistic: Statistic::Max,
            better: Better::Lower,
            unit: String::new(),
        });
    }
    Results { run, trials }
}

/// The page, the Markdown file and the terminal's text.
fn formats(study: &Study) -> [String; 3] {
    [
        report::format::html::html(study),
        report::format::markdown::markdown(study),
        report::terminal(study, 80, false),
    ]
}

fn spreads(study: &Study) -> impl Iterator<Item = (&str, Spread)> {
    study.figures.iter().flat_map(|f| {
        let cells = f.cells.iter();
        cells.filter_map(|cell| Some((f.figure.unit.as_str(), cell.across.as_ref()?.spread?)))
    })
}

#[test]
fn a_figure_that_was_not_measured_is_named_once_and_has_no_cells() {
    let study = study(&demo(2));
    let unmeasured = study.figures.iter().filter_map(|f| f.unmeasured.as_ref());
    let unmeasured: Vec<&Missing> = unmeasured.collect();
    assert_eq!(unmeasured.len(), 3, "{unmeasured:?}");
    assert!(unmeasured.contains(&&Missing::NoScene("epilogue".into())));
    for text in formats(&study) {
        let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(!text.contains("no data"), "{text}");
        for title in ["Direct reclaims", "Time in direct reclaim", "Left over"] {
            assert_eq!(text.matches(title).count(), 1, "{title}: {text}");
        }
    }
}

#[test]
fn a_cell_without_a_number_is_a_dash_with_a_note_on_the_reason() {
    let [_, markdown, terminal] = formats(&study(&demo(2)));
    let why = "Note 1: vmstat.workingset_protected_clean was never recorded.";
    assert!(markdown.contains("| –<br>note 1 |"), "{markdown}");
    assert!(markdown.contains(&why.replace('_', "\\_")), "{markdown}");
    assert!(terminal.contains(why), "{terminal}");
}

#[test]
fn two_or_three_trials_have_a_range_in_every_format() {
    for repetitions in [2, 3] {
        let study = study(&demo(repetitions));
        assert!(spreads(&study).all(|(_, spread)| spread.interval().is_none()));
        for text in formats(&study) {
            assert!(text.contains("range"), "{text}");
            assert!(
                !text.contains("× better") && !text.contains("× worse"),
                "{text}"
            );
        }
        let json = serde_json::to_value(&study).unwrap();
        let across = &json["figures"][1]["cells"][0]["across"];
        assert_eq!(across["spread"]["kind"], "range");
        assert_eq!(across["spread"]["low"], across["min"]);
        assert_eq!(across["spread"]["high"], across["max"]);
    }
}

/// Means have an interval from four trials on, medians from six: five do not enclose 95 %.
#[test]
fn medians_carry_the_interval_of_the_median_in_every_format() {
    for repetitions in [4, 5, 6] {
        let study = study(&demo(repetitions));
        assert!(spreads(&study).all(|(_, spread)| spread.interval().is_some()));
        let json = serde_json::to_value(&study).unwrap();
        let across = &json["figures"][1]["cells"][0]["across"];
        assert_eq!(across["spread"]["kind"], "interval");
        let kind = if repetitions < 6 { "range" } else { "interval" };
        assert_eq!(across["median_spread"]["kind"], kind);
        let [_, markdown, terminal] = formats(&study);
        let ranges = repetitions < 6;
        assert_eq!(markdown.contains("<br>range"), ranges, "{markdown}");
        assert_eq!(terminal.contains("range\u{a0}"), ranges, "{terminal}");
        for cell in study.figures.iter().flat_map(|figure| &figure.cells) {
            let Some(across) = &cell.across else { continue };
            let ends = across.median_spread.unwrap().ends();
            assert!(ends.contains(across.median));
            assert!(across.min <= ends.low && ends.high <= across.max);
        }
    }
}

#[test]
fn every_interval_stays_within_the_domain_of_its_quantity() {
    let mut results = demo(4);
    // Far apart: Student's interval would be below zero, or above 1.
    for trial in &mut results.trials {
        let far = if trial.repetition == 3 { 90.0 } else { 1.0 };
        for scene in &mut trial.scenes {
            for count in scene.counters.values_mut() {
                *count *= far;
            }
            for (name, points) in &mut scene.observations {
                for (_, value) in points {
                    *value = match (name.as_str(), trial.repetition) {
                        ("probe.resident", 3) => 0.5,
                        ("probe.resident", _) => 0.99,
                        _ => *value * far,
                    };
                }
            }
        }
    }
    let study = study(&results);
    assert!(spreads(&study).count() > 20);
    for (unit, spread) in spreads(&study) {
        let ends = spread.interval().unwrap();
        assert!(0.0 <= ends.low && ends.low <= ends.high, "{unit}: {ends:?}");
        assert!(unit != "%" || ends.high <= 1.0, "{unit}: {ends:?}");
    }
    for ratio in study
        .figures
        .iter()
        .flat_map(|f| &f.cells)
        .filter_map(|c| c.ratio.as_ref())
    {
        assert!(
            ratio.spread.is_none_or(|spread| spread.ends().low >= 0.0),
            "{ratio:?}"
        );
    }
}

#[test]
fn charts_come_before_tables_on_the_page() {
    let html = report::format::html::html(&study(&demo(2)));
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let page = Document::parse_with_options(&html, options).unwrap();
    let mut sections = 0;
    let is_chart = |node: &roxmltree::Node| node.attribute("role") == Some("img");
    let is_table = |node: &roxmltree::Node| node.has_tag_name("table");
    for whole in page.descendants().filter(|n| n.has_tag_name("section")) {
        let charts = whole
            .descendants()
            .filter(is_chart)
            .map(|n| n.range().start);
        let tables = whole
            .descendants()
            .filter(is_table)
            .map(|n| n.range().start);
        if let (Some(last), Some(first)) = (charts.max(), tables.min()) {
            assert!(last < first, "{:?}", whole.attribute("id"));
            sections += 1;
        }
    }
    assert!(sections > 0, "no section has both");
    let first = page.descendants().find(|n| is_chart(n) || is_table(n));
    assert!(is_chart(&first.unwrap()), "a table is the first of all");
}

#[test]
fn the_first_sentence_gives_both_numbers_of_the_first_figure() {
    let study = study(&demo(2));
    let value = |arm: usize| {
        let across = study.figures[0].cells[arm].across.as_ref().unwrap();
        report::format::number::value(across.median, "%")
    };
    let terminal = report::terminal(&study, 200, false);
    let sentence = terminal.lines().nth(3).unwrap();
    assert!(
        sentence.starts_with(&study.figures[0].figure.title),
        "{sentence}"
    );
    for arm in 0..4 {
        assert!(sentence.contains(&value(arm)), "{sentence}");
    }
}
