//! All integration tests of this crate in one program, so that only one program is linked.

mod poisson;
mod schedule;
mod shapes;
mod starts;
