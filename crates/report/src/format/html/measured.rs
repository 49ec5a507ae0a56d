//! The section on the measurement of a run: the experiment, its arms, the test bed and the command.
use super::about;
use super::parts::{table, verbatim};
use crate::format::charts::key;
use crate::format::phrases::figure;
use crate::format::tables::run;
use crate::format::text::clean;
use crate::study::Study;
use maud::{html as markup, Markup, PreEscaped};

/// The section on the experiment, its arms, the test bed and the command.
pub fn body(study: &Study) -> Markup {
    let facts = &study.run;
    markup! {
        @if !facts.about.trim().is_empty() {
            div class="about" { (PreEscaped(about::to_html(&facts.about))) }
        }
        (table(&run::arms(study), "arms cards", key))
        (table(&run::bed(study), "bed", key))
        h3 { "The command" }
        (verbatim(&facts.command))
        @if !facts.source.trim().is_empty() {
            details {
                summary { "The experiment file as it was run" }
                (verbatim(&facts.source))
            }
        }
    }
}

/// The section on the computation of the numbers from the trials.
pub fn method(study: &Study) -> Markup {
    markup! {
        ul { @for paragraph in figure::method(study) { li { (clean(&paragraph)) } } }
    }
}
