//! MGLRU's generations of one lruvec: struct lru_gen_folio and the functions that move its pages.
mod aging;
mod eviction;
mod lruvec;
mod page_state;
#[cfg(test)]
mod tests;

pub use aging::{should_run_aging, Age};
pub use lruvec::{Generations, MIN_GENS};
pub use page_state::{Page, Shadow};
