//! What is watched: the machine, or a cgroup.
use super::group::Group;
use super::look::Look;
use super::machine::Machine;

pub enum Place {
    Machine(Box<Machine>),
    Group(Group),
}

impl Place {
    /// `None`: it is gone.
    pub fn look(&mut self) -> Option<Look> {
        match self {
            Place::Machine(machine) => Some(machine.look()),
            Place::Group(group) => group.look(),
        }
    }

    /// Threads for which pages came, and which ended before it was known whose they were.
    pub fn ended(&self) -> u64 {
        match self {
            Place::Machine(_) => 0,
            Place::Group(group) => group.ended,
        }
    }
}
