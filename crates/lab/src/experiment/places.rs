//! The places of fields whose errors only a run shows, for messages that name their line.
use super::machine::Root;
use super::text::source::{at, Broken, Error, Step};
use protocol::spec::Worker;
use std::collections::BTreeMap;

/// The fields of an experiment that are read long after its file: each with an error without a message.
#[derive(Clone, Debug, Default)]
pub struct Places(Vec<(String, Broken)>);

/// The field of the program that an arm runs as its daemon, for [`Places`].
pub fn daemon_program(arm: &str) -> String {
    format!("arms.{arm}.daemon.program")
}

impl Places {
    /// The places of an experiment's root and programs. `place` finds one.
    pub(super) fn of(
        root: Option<&Root>,
        workers: &BTreeMap<String, Worker>,
        place: &dyn Fn(&Error) -> Broken,
    ) -> Places {
        let mut fields: Vec<Vec<Step>> = Vec::new();
        if let Some(root) = root {
            fields.extend((0..root.packages.len()).map(|i| at!["root", "packages", i]));
            fields.extend((0..root.prepare.len()).map(|i| at!["root", "prepare", i]));
        }
        for (name, worker) in workers {
            let Some(program) = worker.does.program() else {
                continue;
            };
            let here = |field: &str| at!["workers", name.as_str(), "does", "program", field];
            fields.extend(["command", "ready"].map(here));
            for metric in program.measure.keys() {
                let mut path = here("measure");
                path.push(metric.as_str().into());
                fields.push(path);
            }
        }
        let placed = { fields.into_iter() }.map(|at| place(&Error::unsaid(at)));
        Places(placed.map(|place| (place.field.clone(), place)).collect())
    }

    /// Gives a field a place in another file, where that file says what the field is.
    pub(super) fn put(&mut self, field: String, place: Broken) {
        self.0.push((field, place));
    }

    /// The place of a field, if it has one.
    pub(super) fn get(&self, field: &str) -> Option<&Broken> {
        { self.0.iter() }.find_map(|(of, place)| (of == field).then_some(place))
    }

    /// The error that a field has: `root.packages[1]` for instance.
    pub fn broken(&self, field: &str, message: impl Into<String>) -> Broken {
        let found = self.get(field).cloned();
        let mut broken = found.unwrap_or_else(|| Broken::of_field(field));
        broken.message = message.into();
        broken
    }

    /// A guest's message with the file and the line before it, if it begins with a field: "FIELD: why".
    pub fn placed(&self, message: &str) -> String {
        let field = message.split_once(": ").map(|(field, _)| field);
        match field.and_then(|field| self.get(field)) {
            Some(broken) => format!("{}:{}: {message}", broken.file, broken.line),
            None => message.into(),
        }
    }
}
