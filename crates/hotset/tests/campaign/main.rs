//! `hotset sim campaign` as a user runs it, with tasks as processes of this machine.
mod bed;
mod engines;
mod goes_on;
mod results;
