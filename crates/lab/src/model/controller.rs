//! The controllers of free memory that the closed loop compares.
use std::fmt;
use std::str::FromStr;

/// A controller of vm.watermark_scale_factor and of reclaim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// No controller: vm.watermark_scale_factor keeps its default, 10.
    None,
    /// A fixed value of vm.watermark_scale_factor.
    Static(u32),
    /// The daemon's own policy at a level of aggressiveness, 1 to 3.
    Hotset(u8),
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Controller::None => write!(f, "none"),
            Controller::Static(wsf) => write!(f, "static:{wsf}"),
            Controller::Hotset(2) => write!(f, "hotset"),
            Controller::Hotset(level) => write!(f, "hotset:{level}"),
        }
    }
}

impl FromStr for Controller {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("expected none, static:1 to static:3000, or hotset (hotset:1 to hotset:3), not {text:?}")
        };
        match text.split_once(':') {
            None if text == "none" => Ok(Controller::None),
            None if text == "hotset" => Ok(Controller::Hotset(2)),
            Some(("static", wsf)) => match wsf.parse() {
                Ok(wsf @ 1..=3000) => Ok(Controller::Static(wsf)),
                _ => Err(wrong()),
            },
            Some(("hotset", level)) => match level.parse() {
                Ok(level @ 1..=3) => Ok(Controller::Hotset(level)),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_has_one_name() {
        for name in ["none", "static:10", "hotset", "hotset:1", "hotset:3"] {
            assert_eq!(name.parse::<Controller>().unwrap().to_string(), name);
        }
        assert_eq!("hotset:2".parse(), Ok(Controller::Hotset(2)));
        for wrong in ["static", "static:0", "static10", "hotset:4", ""] {
            assert!(wrong.parse::<Controller>().is_err(), "{wrong}");
        }
    }
}
