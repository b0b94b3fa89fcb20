//! The link over a real broker.
#![cfg(target_os = "linux")]

mod broker;
#[path = "../../../link/tests/it/carried_run.rs"]
mod carried_run;
mod outage;
mod refused;
mod stolen_key;
mod whole_run;

use std::time::Duration;

/// Long enough for any machine: a test that waits this long has failed.
const LONG: Duration = Duration::from_mins(5);
