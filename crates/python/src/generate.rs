//! Rules of generated traces, by the names and options that `hotset trace generate` has.
use crate::errors;
use crate::work::Work;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trace::generate::{Part, Spec};
use trace::{advise_huge, Trace};

/// The rules by name.
const RULES: [&str; 8] = [
    "zipf",
    "self-similar",
    "uniform",
    "scan",
    "loop",
    "two-pool",
    "markov",
    "mix",
];

/// The options of a rule, each taken once.
struct Options<'a, 'py> {
    rule: &'a str,
    given: &'a Bound<'py, PyDict>,
    known: Vec<&'static str>,
}

impl<'py> Options<'_, 'py> {
    /// The value of an option, or its default.
    fn take<T>(&mut self, name: &'static str, default: T) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        self.known.push(name);
        match self.given.get_item(name)? {
            Some(value) => {
                let extracted: PyResult<T> = value.extract().map_err(Into::into);
                extracted.map_err(|error| {
                    errors::value(format!("{}: {name}={value}: {error}", self.rule))
                })
            }
            None => Ok(default),
        }
    }

    /// A number of objects, from an integer or a float without a fraction: `1e6`.
    fn objects(&mut self, name: &'static str, default: u32) -> PyResult<u32> {
        let number: f64 = self.take(name, f64::from(default))?;
        match number >= 0.0 && number < f64::from(u32::MAX) && number.fract() == 0.0 {
            true => Ok(number as u32),
            false => Err(errors::value(format!(
                "{}: {name}={number}: expected a whole number, 1 to 4294967294",
                self.rule
            ))),
        }
    }

    /// Refuses options that the rule does not have.
    fn end(self) -> PyResult<()> {
        for name in self.given.keys() {
            let name: String = name.extract()?;
            if !self.known.contains(&name.as_str()) {
                let known = self.known.join(", ");
                let guess = names::suggestion(&name, self.known.iter().copied());
                return Err(errors::value(format!(
                    "{} has no option {name:?}; its options are {known}{guess}",
                    self.rule
                )));
            }
        }
        Ok(())
    }
}

/// The rule of a name and its options.
///
/// # Errors
/// The name or an option is unknown, or a value is out of range.
pub fn spec(rule: &str, requests: u64, options: &Bound<'_, PyDict>) -> PyResult<Spec> {
    let rule = &rule.replace('_', "-");
    let mut options = Options {
        rule,
        given: options,
        known: Vec::new(),
    };
    let spec = match rule.as_str() {
        "zipf" => Spec::Zipf {
            objects: options.objects("objects", 1_000_000)?,
            alpha: options.take("alpha", 1.0)?,
        },
        "self-similar" => Spec::SelfSimilar {
            objects: options.objects("objects", 1000)?,
            alpha: options.take("alpha", 0.8)?,
            beta: options.take("beta", 0.2)?,
        },
        "uniform" => Spec::Uniform {
            objects: options.objects("objects", 1_000_000)?,
        },
        "scan" => Spec::Scan {
            objects: u32::try_from(requests.max(1)).map_err(|_| {
                errors::value(format!("scan: {requests} requests: at most 4294967294"))
            })?,
        },
        "loop" => Spec::Loop {
            objects: options.objects("objects", 100_000)?,
        },
        "two-pool" => Spec::TwoPool {
            first: options.objects("first", 100)?,
            second: options.objects("second", 10_000)?,
        },
        "markov" => Spec::Markov {
            phases: options.objects("phases", 10)?,
            objects: options.objects("objects", 10_000)?,
            overlap: options.take("overlap", 0.0)?,
            mean: options.take("mean", 100_000.0)?,
        },
        "mix" => mix(&mut options, requests)?,
        other => {
            let known = RULES.join(", ");
            let guess = names::suggestion(other, RULES);
            return Err(errors::value(format!(
                "there is no rule {other:?}: expected one of {known}{guess}"
            )));
        }
    };
    options.end()?;
    spec.check()
        .map_err(|problem| errors::value(format!("{rule}: {problem}")))?;
    Ok(spec)
}

/// Bursts of parts, each a weight, a rule and its options; without parts those of [`Spec::loop_scan_zipf`].
fn mix(options: &mut Options<'_, '_>, requests: u64) -> PyResult<Spec> {
    let given: Vec<(f64, String, Bound<'_, PyDict>)> = options.take("parts", Vec::new())?;
    let parts: PyResult<Vec<Part>> = given
        .iter()
        .map(|(weight, rule, options)| {
            Ok(Part {
                weight: *weight,
                spec: spec(rule, requests, options)?,
            })
        })
        .collect();
    let mut parts = parts?;
    if parts.is_empty() {
        let objects = options.objects("objects", 2_000_000)?;
        if let Spec::Mix { parts: usual, .. } = Spec::loop_scan_zipf(objects) {
            parts = usual;
        }
    }
    Ok(Spec::Mix {
        parts,
        burst: options.take("burst", 64.0)?,
    })
}

/// Draws the requests, numbered densely in order of first appearance.
///
/// # Errors
/// As [`Spec::check`], or there is no request, or no room for all.
pub fn draw(spec: &Spec, name: &str, requests: u64, seed: u64, work: &Work) -> PyResult<Trace> {
    if requests == 0 || requests > sim::error::MAX_REQUESTS as u64 {
        let most = sim::error::MAX_REQUESTS;
        return Err(errors::value(format!(
            "{requests} requests: expected 1 to {most}"
        )));
    }
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
