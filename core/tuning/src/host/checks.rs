//! [`check_host`]: everything about a host that matters, worst first.

use super::{HostState, Job, Row, job_checks, machine_checks, network_checks, setting_checks};
use crate::Snapshot;

/// Checks a host as it is now, and for `job`. Rows are in the order of their severity.
pub fn check_host(snapshot: &Snapshot, job: &Job) -> Vec<Row> {
    let host = HostState { snapshot };
    let mut rows = job_checks::rows(&host, job);
    for row in setting_checks::rows(&host) {
        // What the job wants says more than what the value is.
        if rows.iter().all(|own| own.what != row.what) {
            rows.push(row);
        }
    }
    rows.extend(network_checks::rows(&host, job));
    rows.extend(machine_checks::rows(&host, job));
    rows.sort_by_key(|row| row.severity);
    rows
}
