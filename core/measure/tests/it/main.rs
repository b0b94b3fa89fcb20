//! All integration tests of this crate in one program, so that one link serves them all.

mod common;
mod course;
mod fleet_merger;
mod histogram;
mod hosts;
mod impacts;
mod journeys;
mod judge;
mod merge;
mod plateaus;
#[path = "common/shop.rs"]
mod shop;
mod standstill;
mod stop;
mod totals;
mod validity;
