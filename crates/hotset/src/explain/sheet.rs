//! What the pages of a record and of a log have in common: the headline, and what to do.
use explain::words::Advice;
use report::format::html::sheet::{html, Part, Section, Sheet};

/// A page. `headline`: without its full stop.
pub fn whole(headline: &str, meta: String, advice: &[Advice], sections: Vec<Section>) -> String {
    let texts: Vec<String> = advice.iter().map(|one| format!("{}.", one.text)).collect();
    let commands = advice.iter().filter(|one| !one.command.is_empty());
    html(&Sheet {
        title: format!("{headline}."),
        meta,
        verdict: texts.join(" "),
        lead: commands
            .map(|one| Part::Verbatim(one.command.clone()))
            .collect(),
        caution: String::new(),
        sections,
    })
}
