//! `report.html`: one file that needs nothing else, neither network nor script.
//!
//! The page goes from the result to the method: a headline, charts, promises, tables, and the
//! measurement. The page is also well-formed XML, so that a strict parser can check it.
use super::charts;
use super::measured;
use super::parts::{contents, page, section, table, verbatim};
use crate::format::charts::key;
use crate::format::number;
use crate::format::phrases::{figure, headline, run};
use crate::format::tables::{self, comparisons};
use crate::format::text::{clean, line};
use crate::study::{FailedTrial, Study};
use maud::{html as markup, Markup};

/// The report as a page.
pub fn html(study: &Study) -> String {
    let sections = sections(study);
    let body = markup! {
        header {
            h1 { (clean(&study.run.title)) }
            (meta(study))
            (summary(study))
            (contents(sections.iter().map(|one| (one.id, one.title))))
        }
        @for one in sections { (section(one.id, one.title, one.body)) }
    };
    page(&study.run.title, body)
}

/// A part of the page that the contents lead to.
struct Section {
    id: &'static str,
    title: &'static str,
    body: Markup,
}

/// The sections that this study fills, in the page's order.
fn sections(study: &Study) -> Vec<Section> {
    let all = [
        ("charts", "Charts", charts::over_time(study)),
        ("curves", "Curves", charts::curves(study)),
        ("promises", "Promises", promises(study)),
        ("failures", "Trials that did not end well", failures(study)),
        ("figures", "Figures", figures(study)),
        ("published", "Beside published figures", published(study)),
        ("statistics", "All statistics", statistics(study)),
        (
            "measured",
            "How it was measured",
            Some(measured::body(study)),
        ),
        (
            "method",
            "How the numbers are made",
            Some(measured::method(study)),
        ),
    ];
    let filled = all.into_iter().filter_map(|(id, title, body)| {
        let body = body?;
        Some(Section { id, title, body })
    });
    filled.collect()
}

/// The result: a headline, and the state of promises and trials.
fn summary(study: &Study) -> Markup {
    let sentences = headline::summary(study);
    let class = if study.run.bed.is_this_machine() {
        "verdict"
    } else if study.all_hold() {
        "verdict holds"
    } else {
        "verdict broken"
    };
    markup! {
        @if let Some(found) = headline::headline(study) {
            p class="headline" {
                (clean(&found.subject)) ": "
                @for (place, contrast) in found.contrasts.iter().enumerate() {
                    @if place > 0 { "; " }
                    strong { (clean(&contrast.value)) }
                    " for " (clean(&contrast.arm)) " against "
                    strong { (clean(&contrast.baseline_value)) }
                    " for " (clean(&contrast.baseline))
                    span class="faint" { " (" (clean(&contrast.factor)) ")" }
                }
                "."
            }
        }
        p class=(class) {
            strong { (clean(&sentences[0])) } " " (clean(&sentences[1..].join(" ")))
        }
    }
}

fn meta(study: &Study) -> Markup {
    let facts = &study.run;
    markup! {
        p class="meta" {
            (line(&facts.bed.name)) " · " (study.arms.len()) " arms × "
            (run::repetitions(study)) " · " (line(&facts.experiment)) " · "
            (number::date(facts.started)) " · hotset " (line(&facts.hotset_version))
        }
    }
}

fn promises(study: &Study) -> Option<Markup> {
    let found = tables::promises(study);
    (!study.promises.is_empty()).then(|| table(&found, "promises named cards", key))
}

fn failures(study: &Study) -> Option<Markup> {
    let found = tables::run::failures(study)?;
    Some(markup! {
        (table(&found, "failures named cards", key))
        @for failure in &study.failures { (console(study, failure)) }
    })
}

fn console(study: &Study, failure: &FailedTrial) -> Markup {
    let tail = match failure.console_tail.is_empty() {
        true => "(the console is empty)".to_string(),
        false => failure.console_tail.join("\n"),
    };
    markup! {
        h3 {
            "Last lines of the console: " (line(study.label(&failure.arm))) ", "
            (line(&run::repetition(failure)))
        }
        (verbatim(&tail))
    }
}

fn figures(study: &Study) -> Option<Markup> {
    if study.figures.is_empty() {
        return None;
    }
    Some(markup! {
        (charts::trials(study))
        h3 { "In numbers" }
        p class="key-line" { (clean(&figure::legend(study))) }
        @for one in tables::figures(study, tables::PAGE_WIDE) { (table(&one, "main", key)) }
        @for sentence in figure::left_out(study) { p class="notes" { (clean(&sentence)) } }
    })
}

fn published(study: &Study) -> Option<Markup> {
    (!study.comparisons.is_empty()).then(|| {
        markup! {
            p class="key-line" { (figure::COMPARED) }
            @for one in comparisons::tables(study) { (table(&one, "main", key)) }
        }
    })
}

/// All statistics, in a folded section.
fn statistics(study: &Study) -> Option<Markup> {
    figure::shown(study).next()?;
    Some(markup! {
        details {
            summary { "Mean, median, quantiles and spread of every figure" }
            (table(&tables::statistics(study), "full named", key))
        }
    })
}
