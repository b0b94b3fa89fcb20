//! Counts of the servers of a lab themselves, next to the count of the run where the two must be
//! equal.

use wavetank_record::{RunRecord, ServerCountDoc};
use wavetank_units::quantity::format_grouped;

use super::model::Section;
use super::page_text::PageText::{self, Own};
use super::table::{Column, Table};
use super::value::Value;

const TITLE: PageText = Own(["Server counts", "服务器自身计数"]);

type Col = Column<ServerCountDoc>;

const COLUMNS: [Col; 6] = [
    Col::text("server", Own(["Server", "服务器"]), |count| Value::WholeName(count.server.clone())),
    Col::text("matches the run", Own(["Match", "一致"]), |count| match count.agrees() {
        Some(true) => Value::Term("yes", Own(["yes", "是"])),
        Some(false) => Value::Alert("no", Own(["no", "否"])),
        None => Value::Nothing,
    }),
    Col::number("connections", Own(["Connections", "连接数"]), |count| Value::Count(count.connections)),
    Col::number(
        "by the run",
        Own(["Connections by the run, with warm‑up", "运行的连接（含预热）"]),
        |count| Value::count(count.run_connections),
    ),
    Col::number("requests", Own(["Requests", "请求数"]), |count| Value::count(count.requests)),
    Col::number(
        "by the run",
        Own(["Requests by the run, with warm‑up", "运行的请求（含预热）"]),
        |count| Value::count(count.run_requests.filter(|_| count.requests.is_some())),
    ),
];

/// Empty if no server counted.
pub(crate) fn servers(record: &RunRecord) -> Section {
    let label = |number: usize| if number == 0 { "servers" } else { "" };
    let counted = record.servers.iter().enumerate();
    let table = Table::new("", &COLUMNS, &record.servers);
    let terminal_notes = counted.map(|(number, count)| (label(number), note(count))).collect();
    Section { title: TITLE, terminal_notes, ..Section::of_table("Server counts", table) }
}

/// `lb1/haproxy counted 50 connections, 12,400 requests`, and the count of the run if that is
/// another number.
fn note(server: &ServerCountDoc) -> Vec<String> {
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
