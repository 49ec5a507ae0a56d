//! Rules and parts of a mix as text: `zipf,objects=200e3,alpha=0.8` and `0.4:zipf,objects=200e3`.
use super::spec::{Part, Spec};
use names::suggestion;
use units::parse_count;

/// The rules that a part may have.
const RULES: [&str; 7] = [
    "zipf",
    "self-similar",
    "uniform",
    "scan",
    "loop",
    "two-pool",
    "markov",
];

/// Parses a number of objects.
///
/// # Errors
/// `text` is no count, or out of range.
pub fn objects(text: &str) -> Result<u32, String> {
    match u32::try_from(parse_count(text)?) {
        Ok(n) if n > 0 && n < u32::MAX => Ok(n),
        _ => Err(format!("{text} is out of range (1 to 4294967294)")),
    }
}

impl Part {
    /// Parses a part of a mix, such as `0.4:zipf,objects=200e3,alpha=0.8`.
    ///
    /// # Errors
    /// The rule or an option is unknown, or a value is no number in its range.
    pub fn parse(text: &str) -> Result<Part, String> {
        let (weight, rule) = text
            .split_once(':')
            .ok_or("expected WEIGHT:RULE[,OPTION=VALUE...]")?;
        let weight: f64 = weight
            .parse()
            .map_err(|_| format!("a weight is a number, and {weight} is none"))?;
        let (name, mut options) = Options::of(rule)?;
        let spec = simple(name, &mut options)?.ok_or_else(|| {
            format!(
                "{name} is no rule of a part; expected one of {}{}",
                RULES.join(", "),
                suggestion(name, RULES)
            )
        })?;
        options.finish(name)?;
        Ok(Part { weight, spec })
    }
}

impl Spec {
    /// Parses a rule with its options, such as `zipf,objects=200e3,alpha=0.8`. The rules are those of a part,
    /// and `mix`, which is [`Spec::loop_scan_zipf`].
    ///
    /// # Errors
    /// The rule or an option is unknown, or a value is no number in its range.
    pub fn parse(text: &str) -> Result<Spec, String> {
        let (name, mut options) = Options::of(text)?;
        let spec = match name {
            "mix" => mix(&mut options)?,
            _ => simple(name, &mut options)?.ok_or_else(|| {
                let all = RULES.into_iter().chain(["mix"]);
                format!(
                    "{name} is no rule; expected one of {}, mix{}",
                    RULES.join(", "),
                    suggestion(name, all)
                )
            })?,
        };
        options.finish(name)?;
        spec.check()?;
        Ok(spec)
    }

    /// Parses a rule as [`Spec::parse`] does. Parts such as `0.4:zipf,objects=200e3` replace those of `mix`.
    ///
    /// # Errors
    /// As [`Spec::parse`] and [`Part::parse`], or there are parts and the rule is not `mix`.
    pub fn with_parts(rule: &str, parts: &[String]) -> Result<Spec, String> {
        let found = Spec::parse(rule)?;
        if parts.is_empty() {
            return Ok(found);
        }
        let Spec::Mix { burst, .. } = found else {
            return Err(format!("{rule} has no parts; mix has"));
        };
        let parts = parts.iter().map(|part| Part::parse(part));
        let found = Spec::Mix {
            parts: parts.collect::<Result<_, _>>()?,
            burst,
        };
        found.check().map(|()| found)
    }
}

fn mix(options: &mut Options) -> Result<Spec, String> {
    let objects = options.objects("objects", 2_000_000)?;
    let burst = options.number("burst", 64.0)?;
    Ok(match Spec::loop_scan_zipf(objects) {
        Spec::Mix { parts, .. } => Spec::Mix { parts, burst },
        other => other,
    })
}

/// None where no such rule is known.
fn simple(name: &str, options: &mut Options) -> Result<Option<Spec>, String> {
    Ok(Some(match name {
        "zipf" => Spec::Zipf {
            objects: options.objects("objects", 1_000_000)?,
            alpha: options.number("alpha", 1.0)?,
        },
        "self-similar" => Spec::SelfSimilar {
            objects: options.objects("objects", 1000)?,
            alpha: options.number("alpha", 0.8)?,
            beta: options.number("beta", 0.2)?,
        },
        "uniform" => Spec::Uniform {
            objects: options.objects("objects", 1_000_000)?,
        },
        "scan" => Spec::Scan {
            objects: options.objects("objects", 1_000_000)?,
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
            overlap: options.number("overlap", 0.0)?,
            mean: options.number("mean", 1e5)?,
        },
        _ => return Ok(None),
    }))
}

/// The options of a rule.
struct Options<'a> {
    /// Names and values that were given and not taken yet.
    given: Vec<(&'a str, &'a str)>,
    /// The names that the rule has.
    known: Vec<&'static str>,
}

impl<'a> Options<'a> {
    /// The name of the rule, and its options.
    fn of(text: &'a str) -> Result<(&'a str, Options<'a>), String> {
        let mut fields = text.split(',');
        let name = fields.next().unwrap_or_default();
        let mut given = Vec::new();
        for field in fields {
            let option = field.split_once('=');
            given.push(option.ok_or(format!("{field}: expected OPTION=VALUE"))?);
        }
        let known = Vec::new();
        Ok((name, Options { given, known }))
    }

    /// All options were taken by the rule.
    fn finish(&self, name: &str) -> Result<(), String> {
        match self.given.first() {
            Some((wrong, _)) => Err(format!(
                "{name} has no option {wrong:?}; its options are {}{}",
                self.known.join(", "),
                suggestion(wrong, self.known.iter().copied())
            )),
            None => Ok(()),
        }
    }

    fn take(&mut self, name: &'static str) -> Option<&'a str> {
        self.known.push(name);
        let at = self.given.iter().position(|option| option.0 == name)?;
        Some(self.given.remove(at).1)
    }

    fn number(&mut self, name: &'static str, usual: f64) -> Result<f64, String> {
        let Some(value) = self.take(name) else {
            return Ok(usual);
        };
        let counted = parse_count(value).map(|n| n as f64);
        let number = counted.or_else(|_| value.parse::<f64>());
        number.map_err(|_| format!("{name}: {value} is not a number"))
    }

    fn objects(&mut self, name: &'static str, usual: u32) -> Result<u32, String> {
        match self.take(name) {
            Some(value) => objects(value).map_err(|wrong| format!("{name}: {wrong}")),
            None => Ok(usual),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_has_its_options_and_no_others() {
        let zipf = Spec::parse("zipf,objects=1e4,alpha=0.8");
        let (objects, alpha) = (10_000, 0.8);
        assert_eq!(zipf, Ok(Spec::Zipf { objects, alpha }));
        let mix = Spec::parse("mix,objects=1000").unwrap();
        assert_eq!(mix, Spec::loop_scan_zipf(1000));
        for (text, named) in [
            ("zipff", "zipf"),
            ("zipf,object=3", "objects"),
            ("loop,objects=0", "objects: 0 is out of range"),
            ("zipf,alpha", "alpha: expected OPTION=VALUE"),
            ("markov,overlap=1", "overlap: 1 is out of range"),
            ("mix,objects=2", "out of range"),
        ] {
            let wrong = Spec::parse(text).unwrap_err();
            assert!(wrong.contains(named), "{text}: {wrong}");
        }
    }

    #[test]
    fn parts_are_those_of_a_mix() {
        let parts = ["1:loop,objects=7".to_string()];
        let looped = Part {
            weight: 1.0,
            spec: Spec::Loop { objects: 7 },
        };
        let mix = Spec::Mix {
            parts: vec![looped],
            burst: 8.0,
        };
        assert_eq!(Spec::with_parts("mix,burst=8", &parts), Ok(mix));
        let wrong = Spec::with_parts("zipf", &parts).unwrap_err();
        assert!(wrong.contains("zipf has no parts"), "{wrong}");
        let nested = ["1:mix".to_string()];
        let wrong = Spec::with_parts("mix", &nested).unwrap_err();
        assert!(wrong.contains("mix is no rule of a part"), "{wrong}");
    }
}
