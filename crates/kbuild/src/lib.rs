//! Kernel source in, bootable kernel out.
