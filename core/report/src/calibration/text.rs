//! [`calibration_text`]: a calibration for people.

use wavetank_record::{CalibrationDoc, CalibrationsDoc, LagDoc, ThroughputDoc};
use wavetank_units::quantity::{format_grouped, show_request_rate, show_share, show_size};

use super::margin::lag_text;
use crate::text_layout::{TextLayout, width};

/// Columns of the name of a figure.
const NAME: usize = 15;

/// All of `doc`, one after the other, ending in a newline.
pub fn calibration_text(doc: &CalibrationsDoc, columns: usize) -> String {
    let all: Vec<String> = doc.calibrations.iter().map(|one| calibration_lines(one, columns)).collect();
    all.join("\n")
}

/// One calibration in lines of at most `columns` columns, ending in a newline.
fn calibration_lines(doc: &CalibrationDoc, columns: usize) -> String {
    let mut page = TextLayout::with_width(columns);
    let host = &doc.host;
    let rights = [format!("{} · {} s", doc.measured_at, doc.took_s.0.round())];
    page.head("CALIBRATED", &format!("{}, {}", host.hostname, doc.engine), &rights);
    let cpus = format!("{} {}", host.cpus, if host.cpus == 1 { "CPU" } else { "CPUs" });
    page.parts("host", &[cpus, host.cpu_model.clone(), format!("Linux {}", host.kernel)]);
    page.parts("target", &target(doc));
    page.line("");
    for (at, (name, figure)) in figures(doc).into_iter().enumerate() {
        page.column_entry(if at == 0 { "measured" } else { "" }, name, NAME, &measured(figure));
    }
    page.line("");
    for (at, (name, figure)) in figures(doc).into_iter().enumerate() {
        page.column_entry(if at == 0 { "alone" } else { "" }, name, NAME, &alone(figure));
    }
    page.sentence("", "derived: all CPUs of this host, divided by the load's own CPU time for each");
    page.line("");
    lags(&mut page, &doc.lag);
    if doc.open_per_s.0 > 0.0 {
        page.parts("open loop", &[format!("at most {}", show_request_rate(doc.open_per_s.0))]);
    }
    page.parts("memory", &memory(doc));
    if doc.counted.sent > 0 {
        let (sent, target) = (format_grouped(doc.counted.sent), format_grouped(doc.counted.target));
        let same = doc.counted.sent == doc.counted.target;
        let words = if same {
            format!("{sent} requests, confirmed by the target's count")
        } else {
            format!("{sent} sent, but the target counted {target}")
        };
        page.sentence("counted", &words);
    }
    doc.notes.iter().for_each(|note| page.sentence("note", note));
    page.into_text()
}

fn figures(doc: &CalibrationDoc) -> [(&'static str, &ThroughputDoc); 4] {
    [
        ("requests", &doc.requests),
        ("connections", &doc.connections),
        ("TLS, full", &doc.handshakes_full),
        ("TLS, resumed", &doc.handshakes_resumed),
    ]
}

fn target(doc: &CalibrationDoc) -> Vec<String> {
    let target = &doc.target;
    let which = match target.kind.as_str() {
        "url" => target.url.clone(),
        _ => "wavetank's own, in its own process on this host".to_owned(),
    };
    let cpus = match target.layout.as_str() {
        "apart" => {
            format!("load on CPUs {}, target on {}", ranges(&target.load_cpus), ranges(&target.target_cpus))
        }
        "shared" => "both on the same CPUs".to_owned(),
        _ => "load on all CPUs".to_owned(),
    };
    vec![which, cpus, format!("{} users", doc.users)]
}

fn measured(figure: &ThroughputDoc) -> Vec<String> {
    let rate = |value: f64| show_request_rate(value).trim_end_matches(" req/s").to_owned();
    let range = format!("{} to {}", rate(figure.least.0), rate(figure.most.0));
    let failed =
        if figure.failed > 0 { format!("{} failed", format_grouped(figure.failed)) } else { String::new() };
    vec![show_request_rate(figure.measured.0), range, failed]
}

fn alone(figure: &ThroughputDoc) -> Vec<String> {
    vec![show_request_rate(figure.alone.0), format!("{:.1} µs of CPU each", figure.cpu_us_each.0)]
}

fn lags(page: &mut TextLayout, lags: &[LagDoc]) {
    for (at, lag) in lags.iter().enumerate() {
        let [p50, p99, p99_9] = lag_text(lag.p50_us, lag.p99_us, lag.p99_9_us);
        // If fewer requests were done than asked for, the rate says more than the lag.
        let short = lag.done_per_s.0 < 0.99 * lag.offered_per_s.0;
        let reached =
            if short { format!("only {} done", show_request_rate(lag.done_per_s.0)) } else { String::new() };
        let late = if lag.late.0 > 0.0 { format!("late {}", show_share(lag.late.0)) } else { String::new() };
        let dropped = if lag.dropped.0 > 0.0 {
            format!("dropped {}", show_share(lag.dropped.0))
        } else {
            String::new()
        };
        let name = format!("at {}", show_share(lag.share.0));
        debug_assert!(width(&name) <= NAME, "{name}");
        let label = if at == 0 { "lag" } else { "" };
        page.column_entry(
            label,
            &name,
            NAME,
            &[show_request_rate(lag.offered_per_s.0), p50, p99, p99_9, late, dropped, reached],
        );
    }
}

fn memory(doc: &CalibrationDoc) -> Vec<String> {
    let Some(memory) = &doc.memory else { return Vec::new() };
    let size = |bytes: f64| show_size(bytes.round().max(0.0) as u64);
    let kernel = memory.kernel_bytes.map(|bytes| format!("{} in the kernel", size(bytes.0)));
    let each = format!("{} in the load process", size(memory.user_bytes.0));
    let held = format!("for each of {} held connections, on this side", format_grouped(memory.connections));
    [Some(each), kernel, Some(held)].into_iter().flatten().collect()
}

/// `0-3,8`: CPUs as the kernel lists them.
fn ranges(cpus: &[u32]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for cpu in sorted {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let shown = |(first, last)| if first == last { format!("{first}") } else { format!("{first}-{last}") };
    parts.into_iter().map(shown).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn cpus_are_listed_as_the_kernel_does() {
        let check = |cpus: &[u32], text: &str| assert_eq!(ranges(cpus), text);
        check(&[], "");
        check(&[5], "5");
        check(&[3, 1, 0, 2], "0-3");
        check(&[0, 4, 1, 5, 9], "0-1,4-5,9");
    }
}
