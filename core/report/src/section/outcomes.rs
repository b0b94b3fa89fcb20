//! Outcomes of requests and of sessions: how many had each, and their share.

use wavetank_record::{Requests, RunRecord};
use wavetank_units::quantity::{format_grouped, show_request_rate, show_share};

use super::model::Section;
use super::page_text::PageText::{self, Absent, Own, Shared};
use super::table::{Column, Table};
use super::value::Value;
use crate::counts::named;
use crate::format::count_with_share;
use crate::threshold_state::was_killed;

/// The name of the first row, in which all are counted.
const ALL: &str = "offered";

/// One outcome.
struct Outcome {
    name: &'static str,
    on_page: PageText,
    count: u64,
    /// All requests or sessions.
    of: u64,
    rate: Option<String>,
    meaning: PageText,
}

impl Outcome {
    const fn new(name: &'static str, on_page: PageText, count: u64, of: u64) -> Self {
        Self { name, on_page, count, of, rate: None, meaning: Absent }
    }
}

/// The outcomes of requests.
pub(crate) fn requests(record: &RunRecord) -> Section {
    let Requests { offered, sent, done, failed, late, dropped, open } = record.requests;
    let open_means = if was_killed(record) {
        Own(["unanswered at the end of this record", "本记录结束时仍未得到应答"])
    } else {
        Own(["unanswered when the run ended", "运行结束时仍未得到应答"])
    };
    let row =
        |name, on_page, count, meaning| Outcome { meaning, ..Outcome::new(name, on_page, count, offered) };
    let mut rows = [
        row(ALL, Shared(|w| w.counts.offered), offered, Own(["scheduled by the plan", "计划要求的请求"])),
        row(
            "sent",
            Shared(|w| w.counts.sent),
            sent,
            Own(["the first byte was handed to the kernel", "第一个字节已交给内核"]),
        ),
        row(
            "done",
            Shared(|w| w.counts.done),
            done,
            Own(["received the full, expected answer", "收到完整且符合预期的应答"]),
        ),
        row(
            "failed",
            Shared(|w| w.counts.failed),
            failed,
            Own(["an error of any kind, listed below", "各类错误，明细见下"]),
        ),
        row(
            "late",
            Shared(|w| w.counts.late),
            late,
            Own([
                "started late by the generator; also counted as done or failed",
                "发压端着手过晚；同时也计入成功或失败",
            ]),
        ),
        row(
            "dropped",
            Shared(|w| w.counts.dropped),
            dropped,
            Own(["never sent, for a reason listed below", "从未发出，原因见下"]),
        ),
        row("open at the end", Shared(|w| w.counts.open), open, open_means),
    ];
    rows[0].rate = Some(show_request_rate(record.rate.offered_per_s.0));
    rows[2].rate = Some(show_request_rate(record.rate.done_per_s.0));
    Section::of_table("Requests", Table::new("", &columns("requests"), &rows))
}

/// Whether sessions differ from requests, so that they are worth showing.
pub(crate) fn has_sessions(record: &RunRecord) -> bool {
    let (sessions, requests) = (record.sessions, record.requests);
    let alike =
        (sessions.offered, sessions.done, sessions.open) == (requests.offered, requests.done, requests.open);
    sessions.offered > 0 && !alike
}

/// The outcomes of sessions, unless they are the same as those of requests.
pub(crate) fn sessions(record: &RunRecord) -> Section {
    let own = record.sessions;
    let row = |name, on_page, count| Outcome::new(name, on_page, count, own.offered);
    let rows = [
        row(ALL, Shared(|w| w.counts.offered), own.offered),
        row("started", Own(["Started", "已开始"]), own.started),
        row("done", Shared(|w| w.counts.done), own.done),
        row("failed", Shared(|w| w.counts.failed), own.failed),
        row("dropped", Shared(|w| w.counts.dropped), own.dropped),
        row("open at the end", Shared(|w| w.counts.open), own.open),
    ];
    let is_shown = has_sessions(record);
    let table = Table::new("", &columns("sessions"), &rows).if_any(is_shown);
    let terminal_notes = if is_shown { vec![("sessions", session_parts(record))] } else { Vec::new() };
    Section { terminal_notes, ..Section::of_table("Sessions", table) }
}

type Col = Column<Outcome>;

fn columns(names: &'static str) -> [Col; 6] {
    [
        Col::text(names, Own([""; 2]), |outcome| Value::Term(outcome.name, outcome.on_page)),
        Col::number("count", Absent, |outcome| {
            let (count, of) = (outcome.count, outcome.of);
            Value::Number(if outcome.name == ALL {
                format_grouped(count)
            } else {
                count_with_share(count, of)
            })
        }),
        Col::number("", Shared(|w| w.columns.count), |outcome| Value::Count(outcome.count)),
        Col::number("", Shared(|w| w.columns.share), |outcome| {
            Value::Number(show_share(outcome.count as f64 / outcome.of.max(1) as f64))
        }),
        Col::number("rate", Absent, |outcome| Value::number(outcome.rate.clone())),
        Col::text("", Own(["Meaning", "含义"]), |outcome| Value::Term("", outcome.meaning)),
    ]
}

fn session_parts(record: &RunRecord) -> Vec<String> {
    let sessions = record.sessions;
    let of = |name: &str, n: u64| {
        if n > 0 { format!("{name} {}", count_with_share(n, sessions.offered)) } else { String::new() }
    };
    // Runs of earlier versions have no reasons.
    let reasons = named(&record.sessions_dropped_by).join(", ");
    let colon = if reasons.is_empty() { "" } else { ": " };
    let dropped = format!("{}{colon}{reasons}", of("dropped", sessions.dropped));
    vec![
        format!("{} done of {}", format_grouped(sessions.done), format_grouped(sessions.offered)),
        of("failed", sessions.failed),
        dropped,
        of("not ended", sessions.open),
    ]
}
