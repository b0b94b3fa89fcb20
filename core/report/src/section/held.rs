//! Connections that were held: the counts of the run, the kernel and the target in the lowest
//! second of each plateau.

use wavetank_record::{HoldDoc, KernelCount, Number, RunRecord, TargetDoc};
use wavetank_units::quantity::format_grouped;

use super::model::Section;
use super::page_text::PageText::{Own, Shared};
use super::table::{Column, Table};
use super::value::Value;
use crate::counts::count_with_classes;
use crate::format::{seconds, time};

/// Most plateaus with a line of their own.
const PLATEAUS_SHOWN: usize = 4;

/// Whether the run had phases that hold connections.
pub(crate) fn is_holding(record: &RunRecord) -> bool {
    record.phases.iter().any(|phase| phase.connections.is_some())
}

type Col = Column<HoldDoc>;

/// Place of the column that only a page has, and explains.
const KERNEL: usize = 6;
const COLUMNS: [Col; 8] = [
    Col::text("plateau", Shared(|w| w.columns.phase), |held| Value::Name(held.phase.clone())),
    Col::number("planned", Own(["Planned", "计划"]), |held| Value::Count(held.planned)),
    Col::number("lowest second", Own(["Lowest", "最低"]), |held| Value::Count(held.lowest)),
    Col::number("at", Shared(|w| w.columns.at), |held| {
        // If every second had all of them, no second is the lowest.
        let at = (held.lowest < held.planned).then(|| seconds(held.lowest_at_s));
        Value::Number(at.unwrap_or_else(|| "–".to_owned()))
    }),
    Col::number("lost", Shared(|w| w.connections.lost), |held| Value::Count(held.lost)),
    Col::number("re-opened", Shared(|w| w.connections.reopened), |held| Value::Count(held.reopened)),
    Col::number("", Own(["Kernel's count", "内核计数"]), |held| Value::number(held.kernel.map(kernel))),
    Col::number("counted by the target", Own(["Target's count", "被测目标自报"]), |held| {
        Value::count(held.target.map(|target| target.open.saturating_sub(target.open_before)))
    }),
];

/// Increase of the kernel's count without the connections that sample the target. If the target is
/// on this host, the kernel counts both ends of a connection.
fn kernel(count: KernelCount) -> String {
    let more = count.tcp_inuse.saturating_sub(count.tcp_inuse_before).saturating_sub(count.tcp_asking);
    format!("+{}", format_grouped(more))
}

/// The plateaus.
pub(crate) fn held(record: &RunRecord) -> Section {
    let terminal_notes = if is_holding(record) { notes(record) } else { Vec::new() };
    Section { terminal_notes, ..Section::of_table("Held connections", held_table(record, false)) }
}

/// The plateaus; `with_kernel`, the count of the kernel is among the columns.
pub(crate) fn held_table(record: &RunRecord, with_kernel: bool) -> Table {
    let table = Table::new("", &COLUMNS, &record.held);
    if with_kernel { table } else { table.without(KERNEL) }
}

/// The `held` lines, with which the text of a run with hold phases starts.
fn notes(record: &RunRecord) -> Vec<(&'static str, Vec<String>)> {
    let connections = &record.connections;
    let named = record.held.len() > 1;
    let shown = record.held.iter().take(PLATEAUS_SHOWN).map(|held| plateau_parts(held, named));
    let mut lines: Vec<Vec<String>> = shown.collect();
    if record.held.len() > PLATEAUS_SHOWN {
        let more = record.held.len() - PLATEAUS_SHOWN;
        lines.push(vec![format!("{more} more plateaus in `held` of --format json")]);
    }
    if record.held.is_empty() {
        let most = format!(
            "peak {} of {} planned",
            format_grouped(connections.peak),
            format_grouped(connections.planned)
        );
        lines.push(vec![most, "no phase held a constant number".to_owned()]);
    }
    let lost = count_with_classes(connections.lost, &record.connections_lost_by);
    let mut parts = vec![
        format!("opened {}", format_grouped(connections.opened)),
        format!("lost {lost}"),
        format!("re-opened {}", format_grouped(connections.reopened)),
    ];
    if connections.failed > 0 {
        let failed = count_with_classes(connections.failed, &record.connections_failed_by);
        parts.push(format!("failed {failed}"));
    }
    let troubles = [
        ("opened late", connections.late),
        ("never opened", connections.opening),
        ("open at the end", connections.open),
    ];
    parts.extend(
        troubles.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {}", format_grouped(*n))),
    );
    lines.push(parts);
    let labels = std::iter::once("held").chain(std::iter::repeat(""));
    labels.zip(lines).collect()
}

fn plateau_parts(held: &HoldDoc, named: bool) -> Vec<String> {
    let phase = if named { format!("{}: ", held.phase) } else { String::new() };
    let (lowest, planned) = (format_grouped(held.lowest), format_grouped(held.planned));
    let mut parts = vec![format!(
        "{phase}lowest second {lowest} of {planned} planned (at {})",
        seconds(held.lowest_at_s)
    )];
    parts.extend(held.target.map(target_part));
    parts.extend(held.kernel.map(kernel_part));
    parts.extend(held.kernel.map(queues_part));
    parts
}

/// `target counted 1,000,000 (12 ms after)`.
fn target_part(target: TargetDoc) -> String {
    let own = target.open.saturating_sub(target.open_before);
    let others = match target.open_before {
        0 => String::new(),
        n => format!(", plus {} from before", format_grouped(n)),
    };
    let off =
        if target.error_ms.0 > 0.0 { format!(" ± {}", millis(target.error_ms)) } else { String::new() };
    format!("target counted {}{others} ({}{off})", format_grouped(own), distance(target.after_ms))
}

/// `kernel 2,000,006 TCP sockets in use, 2,000,000 more than before (1 ms after)`.
fn kernel_part(kernel: KernelCount) -> String {
    let more = kernel.tcp_inuse.saturating_sub(kernel.tcp_inuse_before);
    let asking = match kernel.tcp_asking {
        0 => String::new(),
        n => format!(", {n} of them for queries to the target"),
    };
    format!(
        "kernel {} TCP sockets in use, {} more than before{asking} ({})",
        format_grouped(kernel.tcp_inuse),
        format_grouped(more),
        distance(kernel.after_ms)
    )
}

/// Queues in the kernel, in addition to sockets in use; empty ones are left out.
fn queues_part(kernel: KernelCount) -> String {
    let reported = [
        ("allocated on the host", kernel.tcp_alloc),
        ("TIME_WAIT", kernel.tcp_tw),
        ("orphaned", kernel.tcp_orphan),
        ("pages queued", kernel.tcp_mem_pages),
    ];
    let reported =
        reported.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {}", format_grouped(*n)));
    reported.collect::<Vec<_>>().join(", ")
}

/// How far an instant is from the second's end: `1.2 ms after`, `3 ms before`.
fn distance(after_ms: Number) -> String {
    let word = if after_ms.0 < 0.0 { "before" } else { "after" };
    format!("{} {word}", millis(Number(after_ms.0.abs())))
}

fn millis(ms: Number) -> String {
    time(Number(ms.0 * 1e3))
}
