//! Gets kernel trees and kernels, from Debian's archive with its signatures checked or from a
//! directory.
pub mod apt;
pub mod debian;
pub mod mirrors;
pub mod source;
pub mod unpack;
