//! Raw results in, reports out.
