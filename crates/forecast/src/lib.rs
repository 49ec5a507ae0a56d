//! Time series in, forecasts with their uncertainty out. Pure: no I/O, no clock, and no allocation
//! after construction.
