//! Parts of a mix, as `--part` takes them.
use names::suggestion;
use trace::generate::{Part, Spec};
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

/// Parses a part of a mix, such as `0.4:zipf,objects=200e3,alpha=0.8`.
///
/// # Errors
/// The rule or an option is unknown, or a value is no number in its range.
pub fn part(text: &str) -> Result<Part, String> {
    let (weight, rule) = text
        .split_once(':')
        .ok_or("expected WEIGHT:RULE[,OPTION=VALUE...]")?;
    let weight: f64 = weight
        .parse()
        .map_err(|_| format!("a weight is a number, and {weight} is none"))?;
    let mut fields = rule.split(',');
    let name = fields.next().unwrap_or_default();
    let mut options = Options::default();
    for field in fields {
        let option = field.split_once('=');
        let option = option.ok_or(format!("{field}: expected OPTION=VALUE"))?;
        options.given.push(option);
    }
    let spec = spec(name, &mut options)?;
    match options.given.first() {
        Some((wrong, _)) => Err(format!(
            "{wrong} is no option of {name}, which has {}{}",
            options.known.join(", "),
            suggestion(wrong, options.known.iter().copied())
        )),
        None => Ok(Part { weight, spec }),
    }
}

fn spec(name: &str, options: &mut Options) -> Result<Spec, String> {
    Ok(match name {
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
        _ => {
            return Err(format!(
                "{name} is no rule of a part; expected one of {}{}",
                RULES.join(", "),
                suggestion(name, RULES)
            ))
        }
    })
}

/// The options of a part.
#[derive(Default)]
struct Options<'a> {
    /// Names and values that were given and not taken yet.
    given: Vec<(&'a str, &'a str)>,
    /// The names that the rule has.
    known: Vec<&'static str>,
}

impl<'a> Options<'a> {
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
