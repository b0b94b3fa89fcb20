//! Contract §5, clause by clause: each with a case on both sides of its boundary.

mod case;
#[path = "../../../measure/tests/common/mod.rs"]
mod common;
mod doubts;
mod drift;
mod held;
mod standstill;
mod verdict;
