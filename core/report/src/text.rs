//! The report as text, for a person to read when a run is over.
//!
//! Verdict, then the numbers, then the bottleneck, then the next steps. Without thresholds and
//! failures there is no verdict, and the numbers come alone. Zeros are hidden only here. There is
//! no colour, so nothing depends on it.

use wavetank_record::{Blame, Probe, Requests, RunRecord, Status};
use wavetank_units::quantity::{format_grouped, show_request_rate, show_share, show_size};
use wavetank_units::status_text;

use crate::counts::named;
use crate::cut_short::cut_short_text;
use crate::examples_text::add_examples;
use crate::findings_text::{add_findings, add_probe_hint, is_covered_by_findings};
use crate::format::{self, count_with_share};
use crate::lag_part::lag_part;
use crate::limits::add_nearest;
use crate::section::{
    add_section, checks, connections, counts, fleet, handshakes, held, hooks, hosts, impacts, phases,
    rendezvous, scenarios, servers, sessions, steps, thresholds, times, traffic,
};
use crate::text_layout::TextLayout;
use crate::threshold_state::{is_running, was_killed};

/// The run as text of at most 100 columns, ending in a newline.
pub fn text(record: &RunRecord) -> String {
    let mut page = TextLayout::default();
    // This line comes first: the numbers of a rehearsal must never be taken for those of the real
    // run.
    if let Some(rehearsal) = &record.rehearsal {
        page.sentence("rehearsal", rehearsal);
    }
    let judged = is_judged(record);
    if judged {
        add_verdict(&mut page, record);
    }
    if let Some(probe) = record.probe.as_ref().filter(|_| is_probe_unanswered(record)) {
        page.parts("probe", &probe_parts(probe));
        add_probe_hint(&mut page, record);
        return page.into_text();
    }
    add_section(&mut page, &held(record));
    if let Some(probe) = &record.probe {
        page.parts("probe", &probe_parts(probe));
    }
    let defaults = if record.load.defaults { " (defaults; -c, -d, -r change them)" } else { "" };
    if !record.load.text.is_empty() {
        page.sentence("load", &format!("{}{defaults}", record.load.text));
    }
    if let Some(ended) = cut_short_text(record) {
        page.sentence("ended", &ended);
    }
    page.parts("measured", &measured(record));
    add_section(&mut page, &sessions(record));
    add_section(&mut page, &times(record));
    for section in [phases(record), scenarios(record), steps(record)] {
        add_section(&mut page, &section);
    }
    if judged {
        add_section(&mut page, &thresholds(record));
    }
    for section in [checks(record), counts(record), rendezvous(record)].iter().chain(&hooks(record)) {
        add_section(&mut page, section);
    }
    add_section(&mut page, &impacts(record));
    add_counts(&mut page, record);
    add_section(&mut page, &hosts(record, false));
    add_section(&mut page, &servers(record));
    add_nearest(&mut page, record);
    if let Some(agents) = &record.fleet {
        add_section(&mut page, &fleet(agents));
    }
    add_findings(&mut page, record);
    add_examples(&mut page, record);
    if record.requests.offered > 0 && (judged || record.requests.late > 0) {
        page.parts("generator", &generator(record));
    }
    if let Some(memory) = record.generator.connection_memory {
        let each = show_size(memory.bytes_per_connection);
        let (grown, count) = (show_size(memory.grown_bytes), format_grouped(memory.connections));
        let said = format!("{each} per connection: wavetank grew by {grown} while it opened {count}");
        page.sentence("memory", &said);
    }
    let reported = record.rehearsal.as_ref();
    let notes =
        record.notes.iter().filter(|note| reported != Some(note) && !is_covered_by_findings(record, note));
    notes.for_each(|note| page.sentence("note", note));
    record.next.iter().for_each(|next| page.sentence("next", next));
    page.into_text()
}

/// Whether the run ended because its probe got no answer. Nothing was sent then, and the rest of
/// the report would only repeat it.
fn is_probe_unanswered(record: &RunRecord) -> bool {
    let unanswered = record.probe.as_ref().is_some_and(|probe| probe.status == 0);
    unanswered && record.requests.offered == 0 && record.verdict.reasons == ["probe"]
}

/// Whether the verdict is worth a line: there are thresholds, or something failed.
fn is_judged(record: &RunRecord) -> bool {
    let asked = record.thresholds.iter().any(|threshold| !threshold.implicit);
    asked || record.verdict.status != Status::Pass || !record.verdict.headline.is_empty()
}

fn add_verdict(page: &mut TextLayout, record: &RunRecord) {
    let short = format!("run {} · {}", record.id, format::seconds(record.duration_s));
    let long = format!("{} · {short}", format::cut(&record.name));
    let word = format::verdict_name(record);
    page.head(&word, &format::headline(record), &[long, short]);
    add_blame(page, record);
}

/// The bottleneck, and the reasons by their names. Empty if no limit was reached, or if it is
/// unknown.
fn add_blame(page: &mut TextLayout, record: &RunRecord) {
    let verdict = &record.verdict;
    if matches!(verdict.blame, Blame::None | Blame::Unknown) {
        return;
    }
    let mut parts = vec![verdict.blame.name().to_owned()];
    parts.extend(verdict.reasons.iter().cloned());
    page.parts("blame", &parts);
}

fn probe_parts(probe: &Probe) -> Vec<String> {
    let request = format!("{} {}", probe.method, probe.path);
    if probe.status == 0 {
        return vec![format!("{request} → no answer"), probe.address.clone()];
    }
    let subtype = probe.content_type.rsplit('/').next().unwrap_or_default();
    vec![
        format!("{request} → {}", probe.status),
        format!("{} {subtype}", show_size(probe.body_bytes)).trim_end().to_owned(),
        probe.version.clone(),
        probe.address.clone(),
        format::time(probe.time_us),
    ]
}

/// Three numbers first: rate, time, failures.
pub(crate) fn measured(record: &RunRecord) -> Vec<String> {
    let Requests { offered, done, failed, late, dropped, open, .. } = record.requests;
    if offered == 0 {
        let lost = was_killed(record) || is_running(record);
        let nothing = if lost { "nothing: no request is on record" } else { "nothing: no request was sent" };
        return vec![nothing.to_owned()];
    }
    let done_rate = show_request_rate(record.rate.done_per_s.0);
    let rate = match record.load.model.as_str() {
        _ if done == 0 => "nothing done".to_owned(),
        _ if record.rate.done_per_s.0 == 0.0 => {
            format!("{} done, all after the load ended", format_grouped(done))
        }
        "open" => format!("done {done_rate} of {} offered", show_request_rate(record.rate.offered_per_s.0)),
        _ => done_rate,
    };
    let mut parts = vec![rate];
    if done > 0 {
        parts.extend(percentiles(record, &["p50", "p99"]));
    }
    parts.push(if failed == 0 {
        format!("failed 0 of {}", format_grouped(offered))
    } else {
        format!("failed {} of {}", count_with_share(failed, offered), format_grouped(offered))
    });
    let troubles = [("late", late), ("dropped", dropped), ("open at the end", open)];
    parts.extend(
        troubles
            .iter()
            .filter(|(_, n)| *n > 0)
            .map(|&(name, n)| format!("{name} {}", count_with_share(n, offered))),
    );
    parts
}

/// Percentiles of the response time, with the part of them that is the generator's own.
fn percentiles(record: &RunRecord, shown: &[&str]) -> Vec<String> {
    let Some(spread) = &record.response_us.spread else { return Vec::new() };
    let one = |field: &&str| {
        let lag = lag_part(record, field)
            .map(|lag| format!(" ({} of it is the load generator's)", format::time(lag)));
        format!("{field} {}{}", format::percentile(spread, field), lag.unwrap_or_default())
    };
    shown.iter().map(one).collect()
}

fn add_counts(page: &mut TextLayout, record: &RunRecord) {
    page.parts("errors", &named(&record.errors));
    page.parts("dropped", &named(&record.dropped_by));
    if record.status.keys().any(|status| !matches!(status, 0 | 200)) {
        let answers = record
            .status
            .iter()
            .map(|(status, &n)| format!("{}: {}", status_text(*status), format_grouped(n)));
        page.parts("answers", &answers.collect::<Vec<_>>());
    }
    add_section(page, &traffic(record));
    if let Some(tls) = &record.tls {
        add_section(page, &handshakes(tls));
    }
    add_section(page, &connections(record));
    if let Some(requests) = record.warmup.requests {
        let troubles = [("failed", requests.failed), ("dropped", requests.dropped), ("open", requests.open)];
        let mut parts = vec![format!("{} done", format_grouped(requests.done))];
        parts.extend(occurred(&troubles));
        page.sentence("warm-up", &format!("{}, not counted above", parts.join(" · ")));
    }
}

fn occurred(counts: &[(&str, u64)]) -> Vec<String> {
    counts.iter().filter(|(_, n)| *n > 0).map(|&(name, n)| format!("{name} {}", format_grouped(n))).collect()
}

/// Whether the generator's numbers can be trusted.
fn generator(record: &RunRecord) -> Vec<String> {
    let generator = &record.generator;
    let blamed = record.findings.iter().any(|finding| finding.blame == Blame::Generator);
    let mut parts = Vec::new();
    if let Some(lag) = &record.lag_us.spread {
        let fine = if blamed { "" } else { "fine: " };
        parts.push(format!("{fine}lag p99 {}", format::percentile(lag, "p99")));
    }
    if generator.busiest_thread.0 > 0.0 {
        parts.push(format!("busiest thread {}", show_share(generator.busiest_thread.0)));
    }
    let cpu = generator.cpu_user_s.0 + generator.cpu_system_s.0;
    let over_s = format::cpu_over_s(record);
    if cpu > 0.0 && over_s > 0.0 {
        parts.push(format!("{:.2} CPUs", cpu / over_s));
    }
    if generator.peak_rss_bytes > 0 {
        parts.push(format!("memory {}", show_size(generator.peak_rss_bytes)));
    }
    parts
}
