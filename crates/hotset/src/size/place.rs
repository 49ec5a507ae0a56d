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
}
