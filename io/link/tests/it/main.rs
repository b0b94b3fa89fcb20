//! Links between hosts, over real sockets and processes.
#![cfg(target_os = "linux")]

mod bridge_process;
mod carried_run;
mod listener;
mod stream;
mod whole_run;

use std::time::Duration;

/// Long enough for any machine: a test that waits this long has failed.
const LONG: Duration = Duration::from_mins(5);
