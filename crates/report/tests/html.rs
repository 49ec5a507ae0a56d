//! The page: whole, self-contained, and safe from hostile texts.
mod common;

use common::{fixtures, put, run, trials};
use protocol::record::Outcome;
use report::{Results, Study};
use roxmltree::{Document, ParsingOptions};

fn page(study: &Study) -> String {
    report::format::html::html(study)
}

/// The page is well-formed XML too. A strict parser finds errors that a browser would mend.
fn parse(html: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(html, options).unwrap_or_else(|e| panic!("{e}"))
}

fn text(document: &Document) -> String {
    let texts = document.descendants().filter(|n| n.is_text());
    texts.filter_map(|n| n.text()).collect()
}

fn fixture() -> Study {
    report::study(&report::load(&fixtures()).unwrap())
}

/// Asserts that the page has nothing that a browser would fetch, run or follow out of the page.
fn self_contained(document: &Document) {
    for node in document.descendants().filter(|n| n.is_element()) {
        let tag = node.tag_name().name();
        for banned in [
            "script", "link", "img", "iframe", "object", "embed", "base", "form", "use",
        ] {
            assert_ne!(tag, banned);
        }
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on"), "{tag} {name}");
            assert!(
                !["src", "srcset", "action", "data", "style"].contains(&name),
                "{tag} {name}"
            );
            if name == "href" {
                assert!(value.starts_with('#'), "{value}");
            }
        }
    }
    let style = document.descendants().find(|n| n.has_tag_name("style"));
    let style = style.and_then(|n| n.text()).unwrap();
    assert!(!style.contains("url(") && !style.contains("@import"));
}

#[test]
fn the_page_is_well_formed_and_loads_nothing() {
    let html = page(&fixture());
    self_contained(&parse(&html));
    assert!(!html.contains("http://") && !html.contains("https://"));
}

#[test]
fn every_link_has_its_target() {
    let html = page(&fixture());
    let document = parse(&html);
    let ids: Vec<&str> = document
        .descendants()
        .filter_map(|n| n.attribute("id"))
        .collect();
    let links: Vec<&str> = document
        .descendants()
        .filter_map(|n| n.attribute("href"))
        .collect();
    assert!(links.len() >= 6, "{links:?}");
    for link in links {
        assert!(ids.contains(&&link[1..]), "{link}");
    }
}

#[test]
fn every_arm_figure_chart_and_promise_appears() {
    let study = fixture();
    let html = page(&study);
    let document = parse(&html);
    let text = text(&document);
    for arm in &study.arms {
        assert!(text.contains(&arm.label), "{}", arm.label);
        assert!(text.contains(&arm.releases[0]), "{}", arm.releases[0]);
    }
    for promise in &study.promises {
        assert!(text.contains(&promise.title), "{}", promise.title);
    }
    let heads: Vec<String> = document
        .descendants()
        .filter(|n| n.has_tag_name("th") && n.attribute("scope") == Some("col"))
        .map(|n| n.descendants().filter_map(|d| d.text()).collect())
        .collect();
    for f in &study.figures {
        let title = &f.figure.title;
        let in_table = heads.iter().any(|h| h.contains(title));
        assert_eq!(in_table, f.unmeasured.is_none(), "{title}");
        assert!(text.contains(title), "{title}");
    }
    // A panel an arm for each chart, and a dot plot for each figure that has a number.
    let charts = document
        .descendants()
        .filter(|n| n.attribute("role") == Some("img"));
    let plotted = study
        .figures
        .iter()
        .filter(|f| f.cells.iter().any(|c| !c.trials.is_empty()))
        .count();
    assert_eq!(
        charts.count(),
        study.charts.len() * study.arms.len() + plotted
    );
    for needed in [
        "The guest has one CPU",
        "only as ratios within one run",
        "hotset lab run experiments/three-workers.toml --repetitions 3",
        "Of 10 promises 2 are BROKEN",
        "late never finished a read in 2 of 3 trials",
        "the scene “epilogue” did not run",
        "Kernel panic - not syncing",
        "vm.workingset_protection = 1",
        "image 0123456789ab",
        "foreign: 1 patch feedbeefcafe",
        "2026-11-21 02:30 UTC",
        "Example CPU",
        "256\u{a0}MiB",
    ] {
        assert!(text.contains(needed), "{needed}");
    }
}

#[test]
fn charts_and_tables_are_accessible() {
    let html = page(&fixture());
    let document = parse(&html);
    for chart in document
        .descendants()
        .filter(|n| n.attribute("role") == Some("img"))
    {
        for wanted in ["title", "desc"] {
            let found = chart.children().find(|n| n.has_tag_name(wanted));
            assert!(found.and_then(|n| n.text()).is_some_and(|t| !t.is_empty()));
        }
    }
    let tables: Vec<_> = document
        .descendants()
        .filter(|n| n.has_tag_name("table"))
        .collect();
    assert!(tables.len() >= 8);
    for table in tables {
        assert!(table.children().any(|n| n.has_tag_name("caption")));
        let columns = table
            .descendants()
            .filter(|n| n.attribute("scope") == Some("col"))
            .count();
        for row in table.descendants().filter(|n| n.has_tag_name("tr")) {
            let cells: Vec<_> = row.children().filter(|n| n.is_element()).collect();
            let spanned = cells[0].attribute("colspan").map(|c| c.parse().unwrap());
            assert_eq!(spanned.unwrap_or(cells.len()), columns);
            assert!(cells[0].has_tag_name("th") && cells[0].has_attribute("scope"));
        }
    }
}

#[test]
fn no_coordinate_is_out_of_the_drawing() {
    let html = page(&fixture());
    let document = parse(&html);
    for chart in document
        .descendants()
        .filter(|n| n.attribute("role") == Some("img"))
    {
        let view: Vec<f64> = chart
            .attribute("viewBox")
            .unwrap()
            .split(' ')
            .map(|v| v.parse().unwrap())
            .collect();
        for node in chart.descendants().filter(|n| n.is_element()) {
            for name in ["x", "x1", "x2", "cx", "y", "y1", "y2", "cy"] {
                if let Some(value) = node.attribute(name) {
                    let value: f64 = value.parse().unwrap();
                    let end = if name.contains('x') { view[2] } else { view[3] };
                    assert!(
                        value.is_finite() && (0.0..=end).contains(&value),
                        "{name}={value}"
                    );
                }
            }
            for point in node.attribute("points").unwrap_or("").split_whitespace() {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!(
                    (0.0..=view[2]).contains(&x) && (0.0..=view[3]).contains(&y),
                    "{point}"
                );
            }
        }
    }
}

const EVIL: &str = "</title></style><script>alert(1)</script><img src=x onerror=\"a'b\"> & ]]> \
                    \u{1b}[31m \u{0} \u{202e} \u{ffff} `|*_ [a](http://evil.example/)";

/// Every text that a run carries, made hostile.
fn hostile() -> Results {
    let mut run = run();
    let mut trials = trials();
    for text in [
        &mut run.experiment,
        &mut run.title,
        &mut run.about,
        &mut run.command,
        &mut run.hotset_version,
        &mut run.source,
        &mut run.bed.name,
        &mut run.bed.host_cpu,
        &mut run.bed.host_kernel,
    ] {
        *text = EVIL.into();
    }
    let plan = &mut run.plan;
    plan.figures[0].title = EVIL.into();
    plan.figures[9].scene = EVIL.into();
    plan.figures[8].metric = EVIL.into();
    plan.figures[1].unit = EVIL.into();
    plan.charts[0].title = EVIL.into();
    plan.charts[1].unit = EVIL.into();
    plan.promises[0].title = EVIL.into();
    plan.promises[1].arms[0] = EVIL.into();
    plan.promises[2].metric = EVIL.into();
    for arm in &mut run.arms {
        arm.label = format!("{} {EVIL}", arm.name);
        arm.kernel = EVIL.into();
        if let Some(image) = &mut arm.image {
            image.sha256 = EVIL.into();
            image.patches_digest = EVIL.into();
        }
        arm.settings.insert(EVIL.into(), EVIL.into());
    }
    for trial in &mut trials {
        trial.release = EVIL.into();
        trial.settings.insert(EVIL.into(), format!("{EVIL}{EVIL}"));
    }
    trials[0].outcome = Outcome::Failed {
        message: EVIL.into(),
    };
    trials[0].console_tail = vec![EVIL.into(), "```".into(), "| a | b |".into()];
    trials[0].scenes[0].name = EVIL.into();
    Results { run, trials }
}

#[test]
fn hostile_texts_are_shown_and_do_nothing() {
    let study = report::study(&hostile());
    let html = page(&study);
    let document = parse(&html);
    self_contained(&document);
    assert!(text(&document).contains("<script>alert(1)</script>"));

    let markdown = report::format::markdown::markdown(&study);
    // `about` is the author's own Markdown and keeps its markup. All other texts must be inert.
    let about = report::format::text::clean(EVIL);
    for line in markdown.replacen(&about, "", 1).lines() {
        let code = line.starts_with("</title>") || line.starts_with("hotset");
        assert!(code || !line.contains("<script>"), "{line}");
    }
    assert!(markdown.contains("\n````text\n"));

    let shown = report::terminal(&study, 80, false);
    for text in [&markdown, &shown, &html] {
        let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        let line = text.lines().find(|l| l.contains(bad));
        assert!(line.is_none(), "{line:?}");
    }
}

#[test]
fn written_files_are_whole_and_the_study_is_json() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), &run(), &trials());
    let written = report::write(dir.path()).unwrap();
    assert_eq!(written.html, dir.path().join("report.html"));
    assert_eq!(written.markdown, dir.path().join("report.md"));
    let html = std::fs::read_to_string(&written.html).unwrap();
    assert!(html.ends_with("</html>\n"));
    let json = std::fs::read_to_string(&written.json).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        json["figures"].as_array().unwrap().len(),
        written.study.figures.len()
    );
    assert_eq!(json["promises"][0]["holds"], true);
    assert_eq!(json["failures"][0]["outcome"]["kind"], "panic");
    let mut names: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "report.html",
            "report.md",
            "run.json",
            "study.json",
            "trials"
        ]
    );
    // Made again from the same results, the report is the same to the byte.
    report::write(dir.path()).unwrap();
    assert_eq!(std::fs::read_to_string(&written.html).unwrap(), html);
}

#[test]
fn a_run_of_one_trial_and_no_plan_still_makes_a_page() {
    let mut run = run();
    run.plan = protocol::plan::Plan::default();
    run.repetitions = 1;
    let mut trials = trials();
    trials.truncate(1);
    let study = report::study(&Results { run, trials });
    let html = page(&study);
    let text = text(&parse(&html));
    assert!(text.contains("The experiment promises nothing."));
    assert!(text.contains("5 of 6 trials never ran"));
}

#[test]
fn the_error_of_a_report_that_cannot_be_written_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), &run(), &trials());
    // A directory in the way fails for root too, unlike permissions.
    std::fs::create_dir(dir.path().join("report.md")).unwrap();
    let error = format!("{:#}", report::write(dir.path()).unwrap_err());
    assert!(error.contains("report.md"), "{error}");
}
