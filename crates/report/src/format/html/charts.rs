//! The charts of a run's page.
use super::parts::table;
use crate::format::charts::{curve, dots, key, panels};
use crate::format::number;
use crate::format::phrases::{figure, run};
use crate::format::tables::curves as tables;
use crate::format::text::{clean, line};
use crate::study::{ChartStudy, CurveStudy, FigureStudy, Line, Study};
use maud::{html as markup, Markup};

/// `, ms`: a unit after a title; nothing where there is none.
fn comma_unit(unit: &str) -> String {
    match number::name(unit) {
        "" => String::new(),
        name => format!(", {name}"),
    }
}

/// The meaning of numbers from this test bed.
fn caution(study: &Study) -> Markup {
    let caution = run::caution(study);
    markup! {
        @if !caution.is_empty() { p class="caution" { (clean(&caution.join(" "))) } }
    }
}

/// The charts of metrics over the time of a scene; none where the plan has none.
pub fn over_time(study: &Study) -> Option<Markup> {
    if study.charts.is_empty() {
        return None;
    }
    Some(markup! {
        @for chart in &study.charts { (one_over_time(study, chart)) }
        (caution(study))
    })
}

fn one_over_time(study: &Study, chart: &ChartStudy) -> Markup {
    let plan = &chart.chart;
    let recorded = chart.arms.iter().filter(|arm| !arm.lines.is_empty());
    let absent = chart.arms.iter().filter(|arm| arm.lines.is_empty());
    let absent: Vec<&str> = absent.map(|arm| study.label(&arm.arm)).collect();
    markup! {
        h3 {
            (clean(&plan.title)) (clean(&comma_unit(&plan.unit)))
            @if plan.log { ", log scale" }
        }
        @if recorded.count() == 0 {
            p class="notes" {
                "No chart: nothing recorded " (clean(&plan.metric)) " in the scene “"
                (clean(&plan.scene)) "”."
            }
        } @else {
            p class="key-line" { "Scene “" (clean(&plan.scene)) "”. " (legend(chart)) }
            @let panels = panels(study, chart);
            // Four charts in rows of three would leave one alone.
            div class=(if matches!(panels.len(), 2 | 4) { "panels pairs" } else { "panels" }) {
                @for (label, panel) in panels {
                    figure { figcaption { (line(&label)) } (panel) }
                }
            }
            @if !absent.is_empty() {
                p class="notes" { "Nothing recorded for " (clean(&absent.join("; "))) "." }
            }
        }
    }
}

/// Explains the kinds of lines that occur in a chart.
fn legend(chart: &ChartStudy) -> String {
    let lines = || chart.arms.iter().flat_map(|arm| &arm.lines);
    let several = chart.arms.iter().any(|arm| arm.lines.len() > 1);
    let mut out = match several {
        true => "Bold: the trial whose mean is the median. Thin: the others.".to_string(),
        false => String::new(),
    };
    let mut add = |wanted: bool, sentence: &str| {
        if wanted {
            out += sentence;
        }
    };
    let any = |test: fn(&Line) -> bool| lines().any(test);
    add(any(|line| !line.ok), " Dotted: trials that failed.");
    add(true, " Grey dashes: the arm’s baseline.");
    add(
        any(|line| !line.kills.is_empty()),
        " Ticks at the foot: kills by the kernel in the bold trial.",
    );
    out.trim_start().to_string()
}

/// The charts and tables of figures over `x`; none where the plan has none.
pub fn curves(study: &Study) -> Option<Markup> {
    if study.curves.is_empty() {
        return None;
    }
    Some(markup! {
        p class="key-line" {
            "Each point is the mean of the trials. The bar is its 95 % confidence interval, or the "
            "range of two or three trials."
        }
        div class="panels pairs" { @for curve in &study.curves { (one_curve(curve)) } }
        @if study.charts.is_empty() { (caution(study)) }
        @for found in tables::tables(study) { (table(&found, "main", key)) }
    })
}

fn one_curve(curve: &CurveStudy) -> Markup {
    let plan = &curve.curve;
    markup! {
        figure {
            figcaption {
                (clean(&plan.title)) (clean(&comma_unit(&plan.unit)))
                small {
                    "Scene “" (clean(&plan.scene)) "”. "
                    @for (place, series) in curve.lines.iter().enumerate() {
                        span class="one-key" { (key(place)) (line(&series.label)) }
                    }
                }
            }
            (curve::drawn(curve))
        }
    }
}

/// A chart of each figure with a mark for every trial.
pub fn trials(study: &Study) -> Markup {
    let drawn = figure::shown(study).filter_map(|f| Some((f, dots(study, f)?)));
    markup! {
        p class="key-line" {
            "Each mark is a trial, the tall line the median of an arm. " (figure::bars(study))
        }
        div class="panels" {
            @for (found, (chart, log)) in drawn { (one_of_trials(found, &chart, log)) }
        }
        @if study.charts.is_empty() && study.curves.is_empty() { (caution(study)) }
    }
}

fn one_of_trials(found: &FigureStudy, chart: &Markup, log: bool) -> Markup {
    let plan = &found.figure;
    let better = figure::better(plan.better);
    markup! {
        figure {
            figcaption {
                (clean(&plan.title)) (clean(&comma_unit(&plan.unit)))
                small {
                    "scene “" (clean(&plan.scene)) "”"
                    @if !better.is_empty() { "; " (better) }
                    @if log { "; log scale" }
                }
            }
            (chart)
        }
    }
}
