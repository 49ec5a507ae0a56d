//! What is watched: the machine, or a cgroup.
use super::group::Group;
use super::look::Look;
use super::machine::Machine;
use std::cell::RefCell;

pub enum Place {
    Machine(Box<Machine>),
    /// Asked from where events are read, too.
    Group(RefCell<Group>),
}

impl Place {
    pub fn look(&mut self) -> Look {
        match self {
            Place::Machine(machine) => machine.look(),
            Place::Group(group) => group.get_mut().look(),
        }
    }

    pub fn page_size(&self) -> u64 {
        match self {
            Place::Machine(machine) => machine.page_size,
            Place::Group(group) => group.borrow().page_size,
        }
    }
}
