//! The timing of the closed loop, and the kernel's default.

/// The model's step in seconds.
pub const STEP_S: f64 = 0.01;
/// The model's steps in a row of a trace, which holds [`super::demand::ROW_S`].
pub const STEPS: usize = 10;
/// The value of vm.watermark_scale_factor with which kernels start.
pub const DEFAULT_WSF: u32 = 10;
/// The stall in seconds that wakes the policy at once, as a PSI trigger would
/// (Documentation/accounting/psi.rst).
pub const TRIGGER_S: f64 = 0.05;
/// The window of that trigger in seconds: it wakes the policy once in a window at most.
pub const WINDOW_S: f64 = 0.5;
