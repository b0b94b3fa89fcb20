//! The sampled hosts, and the counts of servers of a lab, in lines of text.

use wavetank_plan::THIS_HOST;
use wavetank_record::{HostUseDoc, RunRecord, ServerCountDoc};
use wavetank_units::quantity::{format_grouped, show_link, show_share, show_size};

use crate::text_layout::{COLUMNS_MAX, TextLayout, pad, pad_left, width};

/// Titles of the columns after the host's name, with their widths.
const COLUMNS: [(&str, usize); 6] =
    [("cpu", 9), ("cpu peak", 10), ("memory", 11), ("established", 13), ("in peak", 14), ("out peak", 14)];
/// Most hosts with a line of their own.
const HOSTS_SHOWN: usize = 40;

/// Adds a line for each host, and further facts about them; nothing if only the host that sent the
/// load was sampled.
pub(crate) fn add_hosts(page: &mut TextLayout, record: &RunRecord) {
    if record.hosts.iter().any(|host| host.name != THIS_HOST) {
        let cells = |texts: [String; 6]| {
            let all = texts.iter().zip(COLUMNS);
            all.map(|(text, (_, columns))| pad_left(text, columns)).collect::<String>()
        };
        let titles = cells(COLUMNS.map(|(title, _)| title.to_owned()));
        let names = COLUMNS_MAX - width(&titles);
        page.line(&(pad("hosts", names) + &titles));
        for host in record.hosts.iter().take(HOSTS_SHOWN) {
            page.line(&(pad(&name(host, names), names) + &cells(row(host))));
        }
        if record.hosts.len() > HOSTS_SHOWN {
            let more = record.hosts.len() - HOSTS_SHOWN;
            page.sentence("", &format!("{more} more hosts in `hosts` of --format json"));
        }
        add_load(page, record);
        add_costs(page, record);
        add_queues(page, record);
    }
    for (number, server) in record.servers.iter().enumerate() {
        let label = if number == 0 { "servers" } else { "" };
        page.parts(label, &counted(server));
    }
}

/// `  lb1 (balancer)`, cut where it is too long.
fn name(host: &HostUseDoc, columns: usize) -> String {
    let role = if host.role.is_empty() { String::new() } else { format!(" ({})", host.role) };
    let name = format!("  {}{role}", host.name);
    if width(&name) < columns {
        return name;
    }
    name.chars().take(columns.saturating_sub(2)).chain(['…']).collect()
}

fn row(host: &HostUseDoc) -> [String; 6] {
    let share =
        |share: Option<wavetank_record::Number>| share.map(|share| show_share(share.0)).unwrap_or_default();
    [
        share(host.cpu),
        share(host.cpu_max),
        show_size(host.memory_max_bytes),
        format_grouped(host.established_max),
        show_link(host.in_bits_per_s_max.0),
        show_link(host.out_bits_per_s_max.0),
    ]
}

/// Share of a load host's CPU time that the load threads of wavetank used. These threads are not
/// processes of the host.
fn add_load(page: &mut TextLayout, record: &RunRecord) {
    let part = |host: &HostUseDoc| {
        let own = host.cpu_load_s?;
        Some(format!(
            "{} {} of {}",
            host.name,
            crate::format::seconds(own),
            crate::format::seconds(host.cpu_s)
        ))
    };
    let parts: Vec<String> = record.hosts.iter().filter_map(part).take(HOSTS_SHOWN).collect();
    if !parts.is_empty() {
        page.parts("load CPU", &[format!("of wavetank's load threads: {}", parts.join(", "))]);
    }
}

/// Cost of a request on the hosts that receive it. The cost on the hosts that send it is shown with
/// the generator.
fn add_costs(page: &mut TextLayout, record: &RunRecord) {
    let taking = record.hosts.iter().filter(|host| host.role != "load");
    let cost = |host: &HostUseDoc| {
        let us = host.cpu_us_per_request.filter(|us| us.0 > 0.0)?;
        Some(format!("{} {}", host.name, crate::format::time(us)))
    };
    let parts: Vec<String> = taking.filter_map(cost).take(HOSTS_SHOWN).collect();
    if !parts.is_empty() {
        page.parts("CPU each", &[format!("per request: {}", parts.join(", "))]);
    }
}

fn add_queues(page: &mut TextLayout, record: &RunRecord) {
    for host in record.hosts.iter().filter(|host| host.listen_overflows > 0) {
        let sentence = format!(
            "{} rejected {} connections because an accept queue was full (peak length {})",
            host.name,
            format_grouped(host.listen_overflows),
            format_grouped(host.accept_queue_max)
        );
        page.sentence("queue", &sentence);
    }
}

/// `lb1/haproxy counted 50 connections, 12,400 requests`, and the count of the run if that is
/// another number.
fn counted(server: &ServerCountDoc) -> Vec<String> {
    let alongside = |own: u64, run: Option<u64>| match run.filter(|run| *run != own) {
        Some(run) => format!(" (run: {})", format_grouped(run)),
        None => String::new(),
    };
    let connections = format!(
        "{} counted {} connections{}",
        server.server,
        format_grouped(server.connections),
        alongside(server.connections, server.run_connections)
    );
    let requests = server
        .requests
        .map(|own| format!("{} requests{}", format_grouped(own), alongside(own, server.run_requests)));
    let word = server.agrees().map(|agrees| if agrees { "matches the run" } else { "differs from the run" });
    [Some(connections), requests, word.map(str::to_owned)].into_iter().flatten().collect()
}
