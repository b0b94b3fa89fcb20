//! [`table`]: what `fleet top` shows of all hosts.

use std::fmt::Write as _;

use wavetank_observe::HostActivity;
use wavetank_ssh::HostEnd;
use wavetank_units::quantity::{format_grouped, show_size};
use wavetank_units::sanitize;

/// Heights of a bar, from idle to busy.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Bars of one host in a row; a host with more cores shows its busiest ones.
const BARS_MAX: usize = 64;
/// Columns of everything but the name and the bars.
const NUMBERS_WIDTH: usize = 64;

/// A host in the table.
#[derive(Clone, Debug)]
pub(super) struct HostRow {
    pub(super) name: String,
    /// What it did in the last second; `None`: not seen yet.
    pub(super) activity: Option<HostActivity>,
    /// How watching ended, if it did.
    pub(super) ended: Option<HostEnd>,
}

impl HostRow {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), activity: None, ended: None }
    }
}

/// Returns the table, at most `width` columns wide where names and cores allow it.
pub(super) fn table(rows: &[HostRow], width: usize) -> String {
    let name_width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max("host".len());
    let cores_max = rows.iter().filter_map(|row| row.activity.as_ref()).map(|one| one.cores.len()).max();
    let room = width.saturating_sub(name_width + NUMBERS_WIDTH).clamp(4, BARS_MAX);
    let bars = cores_max.unwrap_or(0).min(room).max("cores".len());
    let mut out = format!(
        "{:name_width$}  {:bars$}  {:>5} {:>7} {:>6} {:>9} {:>9} {:>7} {:>9} {:>6}\n",
        "host", "cores", "cpu", "softirq", "steal", "in bit/s", "out bit/s", "drops/s", "tcp", "memory"
    );
    for row in rows {
        let _ = write!(out, "{:name_width$}  ", row.name);
        match (&row.activity, &row.ended) {
            (_, Some(end)) => {
                let why = end.failure().unwrap_or_else(|| "ended".to_owned());
                let _ = writeln!(out, "{}", sanitize(&why));
            }
            (None, None) => out.push_str("waiting for the first sample\n"),
            (Some(activity), None) => {
                let _ = writeln!(out, "{}", numbers(activity, bars));
            }
        }
    }
    out
}

fn numbers(activity: &HostActivity, width: usize) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let memory = if activity.memory_total_bytes == 0 {
        "–".to_owned()
    } else {
        percent(activity.memory_used_bytes as f64 / activity.memory_total_bytes as f64)
    };
    format!(
        "{:width$}  {:>5} {:>7} {:>6} {:>9} {:>9} {:>7.0} {:>9} {:>6}",
        bars(&activity.cores, width),
        percent(activity.busy()),
        percent(activity.softirq),
        percent(activity.steal),
        bits(activity.received_per_s),
        bits(activity.sent_per_s),
        activity.dropped_per_s,
        format_grouped(activity.tcp_in_use),
        memory
    )
}

/// Returns a bar for each core, in their order. If there are more cores than columns, the busiest
/// core of each group of neighbours is shown.
fn bars(cores: &[f64], width: usize) -> String {
    let group = cores.len().div_ceil(width.max(1)).max(1);
    let bar = |cores: &[f64]| {
        let busiest = cores.iter().copied().fold(0.0, f64::max);
        BARS[((busiest * BARS.len() as f64) as usize).min(BARS.len() - 1)]
    };
    cores.chunks(group).map(bar).collect()
}

/// Returns a data rate in bits per second: `940 M`.
fn bits(bytes_per_s: f64) -> String {
    let text = show_size((bytes_per_s * 8.0) as u64);
    text.trim_end_matches('B').trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_rows() {
        let activity = HostActivity {
            cores: vec![0.0, 0.5, 1.0, 0.13],
            softirq: 0.04,
            memory_used_bytes: 1 << 30,
            memory_total_bytes: 4 << 30,
            received_per_s: 125e6,
            sent_per_s: 1_000.0,
            tcp_in_use: 12_345,
            ..HostActivity::default()
        };
        let seen = HostRow { activity: Some(activity), ..HostRow::new("load01") };
        let lost = HostRow {
            ended: Some(HostEnd::Unreachable("Connection refused".to_owned())),
            ..HostRow::new("lb1")
        };
        let text = table(&[seen, lost, HostRow::new("web1")], 100);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("host    cores"), "{text}");
        assert!(lines[1].starts_with("load01  ▁▅█▂ ") && lines[1].contains(" 41 % "), "{text}");
        assert!(
            lines[1].contains(" 1.0 G ") && lines[1].contains(" 12,345 ") && lines[1].ends_with("25 %"),
            "{text}"
        );
        assert_eq!(lines[2], "lb1     unreachable: Connection refused");
        assert_eq!(lines[3], "web1    waiting for the first sample");
    }

    #[test]
    fn many_cores_share_bars() {
        assert_eq!(bars(&[0.0, 1.0, 0.2, 0.0], 2), "█▂");
        assert_eq!(bars(&[], 5), "");
    }
}
