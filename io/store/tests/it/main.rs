//! All integration tests of this crate in one program, so that one link serves them all.

mod archive;
mod calibration;
mod disk_full;
mod fleet;
mod hostile;
mod kill;
mod ledger;
mod over_time;
mod pack;
mod prune;
mod runs;
mod settle;
mod spool;
mod stretches;
mod support;
