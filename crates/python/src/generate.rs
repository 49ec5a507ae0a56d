//! Rules of generated traces, by the names and options that `hotset trace generate` has.
use crate::errors;
use crate::work::Work;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trace::generate::Spec;
use trace::{advise_huge, Trace};

/// The rule of a name and its options, as campaigns write it: `zipf,objects=1000.0,alpha=0.8`.
///
/// # Errors
/// The name or a value has a comma.
fn text(rule: &str, options: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut text = rule.replace('_', "-");
    if text.contains(',') {
        return Err(errors::value(format!("there is no rule {rule:?}")));
    }
    for (name, value) in options {
        let option = format!("{}={}", name.str()?, value.str()?);
        if option.contains(',') {
            return Err(errors::value(format!(
                "{rule}: {option}: an option is one number"
            )));
        }
        text.push(',');
        text.push_str(&option);
    }
    Ok(text)
}

/// The rule of a name and its options.
///
/// # Errors
/// There is no request, or no room for all; the name or an option is unknown, or a value is out of range.
pub fn spec(rule: &str, requests: u64, options: &Bound<'_, PyDict>) -> PyResult<Spec> {
    let most = sim::error::MAX_REQUESTS;
    if requests == 0 || requests > most as u64 {
        return Err(errors::value(format!(
            "{requests} requests: expected 1 to {most}"
        )));
    }
    let options = options.copy()?;
    let mut parts = Vec::new();
    if rule == "scan" {
        if let Some((name, _)) = options.iter().next() {
            return Err(errors::value(format!(
                "scan has no option {name}: it requests each object once"
            )));
        }
        options.set_item("objects", requests)?;
    }
    if rule == "mix" {
        parts = mixed(&options)?;
    }
    let text = text(rule, &options)?;
    Spec::with_parts(&text, &parts).map_err(|wrong| errors::value(format!("{text}: {wrong}")))
}

/// Takes the parts out of the options of a mix: each is a weight, a rule and its options.
fn mixed(options: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let Some(given) = options.get_item("parts")? else {
        return Ok(Vec::new());
    };
    options.del_item("parts")?;
    let given: Vec<(f64, String, Bound<'_, PyDict>)> = given.extract().map_err(|error| {
        errors::value(format!(
            "parts: expected tuples of weight, rule and options: {error}"
        ))
    })?;
    if !given.is_empty() && options.contains("objects")? {
        return Err(errors::value(
            "mix: objects is for a mix without parts; the parts have objects of their own",
        ));
    }
    let parts = given
        .iter()
        .map(|(weight, rule, options)| Ok(format!("{weight}:{}", text(rule, options)?)));
    parts.collect()
}

/// Draws the requests, numbered densely in order of first appearance.
///
/// # Errors
/// As [`Spec::check`].
pub fn draw(spec: &Spec, name: &str, requests: u64, seed: u64, work: &Work) -> PyResult<Trace> {
    work.expect(requests);
    let mut ids: Vec<u32> = Vec::with_capacity(requests as usize);
    advise_huge(&mut ids);
    let mut dense: Vec<u32> = vec![u32::MAX; spec.objects() as usize];
    let mut objects = 0;
    let drawn = spec.requests(requests, seed, |some| {
        ids.extend(some.iter().map(|&object| {
            let id = &mut dense[object as usize];
            if *id == u32::MAX {
                *id = objects;
                objects += 1;
            }
            *id
        }));
        work.advance(some.len() as u64);
    });
    drawn.map_err(errors::value)?;
    Ok(Trace {
        name: name.to_string(),
        ids,
        objects,
        ..Trace::default()
    })
}
