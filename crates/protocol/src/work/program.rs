//! Orders for workers that are programs of the experiment's root.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Run a program of the root that `[root]` describes. Output and errors are kept as events
/// `program-output`, 500 lines of each worker. Each line that an expression of `measure` matches gives
/// a sample `<worker>.<name>`. A program that ends well gives `<worker>.done_ms`, the time of the
/// whole run. A program that ends badly fails the trial, unless a signal killed it: that is a death.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The program, a path in the root or a name in `PATH`, and its arguments.
    pub command: Vec<String>,
    /// Variables besides `PATH`, `HOME`, `USER` and `LC_ALL`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The folder that the program starts in.
    #[serde(default = "top")]
    pub cwd: String,
    /// The user of the root's /etc/passwd whose rights the program has.
    #[serde(default = "superuser")]
    pub user: String,
    /// The program is a service: a scene's clock starts once a line of each process has matched this
    /// expression. A service that ends by itself fails the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<String>,
    /// Seconds that a service may take until it is ready.
    #[serde(default = "patience")]
    pub ready_s: u64,
    /// Metric to expression. The expression has one group, which matches a number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measure: BTreeMap<String, String>,
    /// An exit status other than 0 is a result too: `<worker>.failed` observes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_fail: bool,
}

impl Program {
    /// The orders to run a command with the superuser's rights, and to measure nothing.
    pub fn of(command: Vec<String>) -> Program {
        Program {
            command,
            env: BTreeMap::new(),
            cwd: top(),
            user: superuser(),
            ready: None,
            ready_s: patience(),
            measure: BTreeMap::new(),
            may_fail: false,
        }
    }
}

fn top() -> String {
    "/".into()
}

fn superuser() -> String {
    "root".into()
}

fn patience() -> u64 {
    60
}
