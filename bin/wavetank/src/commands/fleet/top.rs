//! `wavetank fleet top`.

use std::cell::RefCell;
use std::io::{IsTerminal as _, Write as _};

use serde_json::json;
use wavetank_driver::{Clock, Signals};
use wavetank_observe::{HostActivity, SAMPLE_END, SHELL_SAMPLER, ShellSample};
use wavetank_runner::host_error;
use wavetank_ssh::{HostEvent, RemoteCommand, run_on_hosts};
use wavetank_units::{ExitCode, Nanos, UserError};

use super::selection::Selection;
use super::top_table::{HostRow, table};
use crate::cli::{FileFormat, FleetTopArgs};
use crate::commands::terminal_width::terminal_width;
use crate::output;

/// Time between two tables on a terminal.
const REFRESH: Nanos = Nanos::from_secs(1);
/// Latest time of the first table.
const FIRST_TABLE_MAX: Nanos = Nanos::from_secs(4);
/// Time between two tables elsewhere.
const REFRESH_PLAIN: Nanos = Nanos::from_secs(10);

/// Watches the selected hosts. Exit 0 if each of them was seen, else 1.
pub(super) fn top(args: &FleetTopArgs) -> Result<u8, UserError> {
    let selection = Selection::read(&args.hosts)?;
    let (options, sudo) = selection.ssh_options(&args.ssh);
    let command = RemoteCommand { text: SHELL_SAMPLER.to_owned(), sudo, ..RemoteCommand::default() };
    let signals = Signals::listen().map_err(|errno| host_error("handle signals", errno))?;
    let clock = Clock::starting_now();
    let view = RefCell::new(View::new(args.format, &selection));
    let is_over = || {
        let now = clock.now();
        view.borrow_mut().refresh(now);
        let ended = args.duration.is_some_and(|duration| now >= duration);
        ended || signals.received() > 0 || view.borrow().is_closed
    };
    run_on_hosts(
        &selection.hosts,
        (&command, &options),
        // Every host is watched at the same time.
        (selection.hosts.len(), None),
        &is_over,
        &mut |event| view.borrow_mut().take(event),
    );
    let view = view.into_inner();
    view.finish()
}

/// The samples of all hosts, and what is shown of them.
struct View {
    format: FileFormat,
    rows: Vec<HostRow>,
    /// Lines of the sample that is not complete, by host.
    lines: Vec<Vec<String>>,
    before: Vec<Option<ShellSample>>,
    /// Whether the table is written over the last one.
    is_terminal: bool,
    shown_at: Option<Nanos>,
    /// Whether stdout is closed, as by `| head`.
    is_closed: bool,
}

impl View {
    fn new(format: FileFormat, selection: &Selection) -> Self {
        let rows: Vec<HostRow> = selection.hosts.iter().map(|host| HostRow::new(&host.name)).collect();
        let is_terminal = format == FileFormat::Text && std::io::stdout().is_terminal();
        let (lines, before) = (vec![Vec::new(); rows.len()], vec![None; rows.len()]);
        Self { format, rows, lines, before, is_terminal, shown_at: None, is_closed: false }
    }

    fn take(&mut self, event: HostEvent<'_>) {
        match event {
            HostEvent::Line { host, is_error: false, text } if text == SAMPLE_END => self.sample(host),
            HostEvent::Line { host, is_error: false, text } => self.lines[host].push(text.to_owned()),
            HostEvent::Line { .. } => {}
            HostEvent::Ended { host, end } => self.rows[host].ended = Some(end.clone()),
        }
    }

    /// Takes a complete sample of a host.
    fn sample(&mut self, host: usize) {
        let lines = std::mem::take(&mut self.lines[host]);
        let Some(sample) = ShellSample::parse(lines.iter().map(String::as_str)) else { return };
        let activity = self.before[host].as_ref().and_then(|before| sample.activity_since(before));
        self.before[host] = Some(sample);
        let Some(activity) = activity else { return };
        if self.format == FileFormat::Json {
            self.print(&format!("{}\n", line_of(&self.rows[host].name, &activity)));
        }
        self.rows[host].activity = Some(activity);
    }

    /// Shows the table if it is time.
    fn refresh(&mut self, now: Nanos) {
        if self.format == FileFormat::Json {
            return;
        }
        let each = if self.is_terminal { REFRESH } else { REFRESH_PLAIN };
        let is_due = self.shown_at.is_none_or(|at| now >= at.after(each));
        // The first table waits for the first samples, but not for a host that is slow.
        let is_complete = self.rows.iter().all(|row| row.activity.is_some() || row.ended.is_some());
        if is_due && (is_complete || now >= FIRST_TABLE_MAX) {
            self.shown_at = Some(now);
            let width = terminal_width();
            let text = table(&self.rows, width);
            // Home, each line to its end, and what is left of the screen below.
            let text = if self.is_terminal {
                format!("\x1b[H{}\x1b[J", text.replace('\n', "\x1b[K\n"))
            } else {
                format!("{text}\n")
            };
            self.print(&text);
        }
    }

    fn print(&mut self, text: &str) {
        let mut stdout = std::io::stdout();
        self.is_closed |= stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err();
    }

    /// Shows the last table, or hosts that were not seen. Returns the exit code.
    fn finish(self) -> Result<u8, UserError> {
        let unseen: Vec<&HostRow> = self.rows.iter().filter(|row| row.activity.is_none()).collect();
        if self.format == FileFormat::Json {
            let line = |row: &&HostRow| {
                let reason = row.ended.as_ref().and_then(wavetank_ssh::HostEnd::failure);
                format!("{}\n", json!({"host": row.name, "reason": reason}))
            };
            output::print(&unseen.iter().map(line).collect::<String>())?;
        } else if !self.is_terminal || self.shown_at.is_none() {
            output::print(&table(&self.rows, terminal_width()))?;
        }
        Ok((if unseen.is_empty() { ExitCode::Pass } else { ExitCode::Fail }) as u8)
    }
}

/// Returns one line of JSON: a host in one second.
fn line_of(host: &str, activity: &HostActivity) -> serde_json::Value {
    let round = |value: f64| (value * 1e4).round() / 1e4;
    json!({
        "host": host,
        "busy": round(activity.busy()),
        "cores": activity.cores.iter().map(|share| round(*share)).collect::<Vec<_>>(),
        "softirq": round(activity.softirq),
        "steal": round(activity.steal),
        "load_average": activity.load_average,
        "memory_used_bytes": activity.memory_used_bytes,
        "memory_total_bytes": activity.memory_total_bytes,
        "received_bytes_per_s": activity.received_per_s.round(),
        "sent_bytes_per_s": activity.sent_per_s.round(),
        "dropped_per_s": round(activity.dropped_per_s),
        "tcp_in_use": activity.tcp_in_use,
        "tcp_time_wait": activity.tcp_time_wait,
    })
}
