//! The hosts of a lab, and the counts of its servers, as Markdown tables.

use wavetank_plan::THIS_HOST;
use wavetank_record::{HostUseDoc, Number, RunRecord, ServerCountDoc};
use wavetank_units::quantity::{format_grouped, show_link, show_share, show_size};

use super::markdown::{ROWS_MAX, cut, name};
use super::markdown_text::table;
use crate::format::{seconds, time};

/// Number of text columns at the start of the table of hosts.
const TEXTS: usize = 2;
/// The columns of the table of hosts.
const HOST_COLUMNS: [&str; 13] = [
    "host",
    "role",
    "CPU",
    "CPU peak",
    "busiest core",
    "CPU of load threads",
    "CPU per request",
    "memory peak",
    "established peak",
    "accept queue peak",
    "rejected",
    "in peak",
    "out peak",
];

/// Table of what each host used and carried; empty columns are left out. Empty if only the host
/// that sent the load was sampled.
pub(super) fn hosts(record: &RunRecord) -> String {
    if record.hosts.iter().all(|host| host.name == THIS_HOST) {
        return String::new();
    }
    let rows: Vec<_> = record.hosts.iter().take(ROWS_MAX).map(host).collect();
    let is_reported = |column: &usize| rows.iter().any(|row| !row[*column].is_empty());
    let reported: Vec<usize> = (0..HOST_COLUMNS.len()).filter(is_reported).collect();
    let headings: Vec<_> = reported.iter().map(|column| HOST_COLUMNS[*column]).collect();
    let numbers = reported.iter().filter(|column| **column >= TEXTS).count();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| reported.iter().map(|column| row[*column].clone()).collect()).collect();
    cut(table(&headings, numbers, &rows), record.hosts.len())
}

fn host(host: &HostUseDoc) -> [String; HOST_COLUMNS.len()] {
    let share = |share: Option<Number>| share.map(|share| show_share(share.0)).unwrap_or_default();
    let some = |count: u64| if count == 0 { String::new() } else { format_grouped(count) };
    // The cost of a request on the hosts that send it is shown with the generator.
    let cost = host.cpu_us_per_request.filter(|us| us.0 > 0.0 && host.role != "load");
    [
        name(&host.name),
        host_role(&host.role).to_owned(),
        share(host.cpu),
        share(host.cpu_max),
        share(host.hottest_core_max),
        host.cpu_load_s.map(seconds).unwrap_or_default(),
        cost.map(time).unwrap_or_default(),
        show_size(host.memory_max_bytes),
        format_grouped(host.established_max),
        some(host.accept_queue_max),
        some(host.listen_overflows),
        show_link(host.in_bits_per_s_max.0),
        show_link(host.out_bits_per_s_max.0),
    ]
}

/// A known role; any other role of a record is left out.
fn host_role(role: &str) -> &str {
    if ["load", "balancer", "server", "other"].contains(&role) { role } else { "" }
}

/// Counts of the servers themselves, next to the count of the run where the two must be equal.
pub(super) fn servers(record: &RunRecord) -> String {
    let whole = |count: Option<u64>| count.map(format_grouped).unwrap_or_default();
    let row = |server: &ServerCountDoc| {
        let agrees = server.agrees().map(|agrees| if agrees { "yes" } else { "**no**" });
        vec![
            name(&server.server),
            agrees.unwrap_or_default().to_owned(),
            format_grouped(server.connections),
            whole(server.run_connections),
            whole(server.requests),
            whole(server.run_requests.filter(|_| server.requests.is_some())),
        ]
    };
    let rows: Vec<_> = record.servers.iter().take(ROWS_MAX).map(row).collect();
    let headings = ["server", "matches the run", "connections", "by the run", "requests", "by the run"];
    cut(table(&headings, 4, &rows), record.servers.len())
}
