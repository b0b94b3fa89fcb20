//! `wavetank fleet exec`.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

use serde_json::json;
use wavetank_driver::Signals;
use wavetank_inventory::{Host, HostOutput, fold_hosts, fold_outputs};
use wavetank_runner::host_error;
use wavetank_ssh::{HostEnd, HostEvent, HostRun, RemoteCommand, run_on_hosts};
use wavetank_units::{ExitCode, UserError, sanitize, sanitize_lines};

use super::selection::Selection;
use crate::cli::{FileFormat, FleetExecArgs};
use crate::output;

/// Exit code after an interrupt (128 + SIGINT).
const INTERRUPTED: u8 = 130;

/// Runs the command on all selected hosts. Exit 0 if it ended with 0 on each of them, else 1.
pub(super) fn exec(args: &FleetExecArgs) -> Result<u8, UserError> {
    let selection = Selection::read(&args.hosts)?;
    let (options, sudo) = selection.ssh_options(&args.ssh);
    let command =
        RemoteCommand { text: args.command.join(" "), sudo: sudo && !args.raw, raw: args.raw, input: None };
    let signals = Signals::listen().map_err(|errno| host_error("handle signals", errno))?;
    let hosts = &selection.hosts;
    let mut progress = Progress::new(args, hosts);
    let runs = run_on_hosts(
        hosts,
        (&command, &options),
        (selection.fan_out(&args.ssh), args.timeout),
        &|| signals.received() > 0,
        &mut |event| progress.show(event),
    );
    progress.clear();
    let text = match args.format {
        FileFormat::Json => format!("{}\n", document(&args.command, hosts, &runs)),
        FileFormat::Text if args.stream => String::new(),
        FileFormat::Text => folded(hosts, &runs),
    };
    output::print(&text)?;
    if args.format == FileFormat::Text {
        // Without stderr the exit code is left.
        let _ = writeln!(std::io::stderr(), "{}", summary(&runs));
    }
    let failed = runs.iter().any(|run| !run.end.is_success());
    Ok(match signals.received() {
        0 => (if failed { ExitCode::Fail } else { ExitCode::Pass }) as u8,
        _ => INTERRUPTED,
    })
}

/// Shows lines as they come, or how many hosts have ended.
struct Progress<'a> {
    hosts: &'a [Host],
    stream: bool,
    /// Whether a line on the terminal is written over.
    counts: bool,
    ended: usize,
    width: usize,
}

impl<'a> Progress<'a> {
    fn new(args: &FleetExecArgs, hosts: &'a [Host]) -> Self {
        let width = hosts.iter().map(|host| host.name.chars().count()).max().unwrap_or(0);
        let counts = !args.stream && std::io::stderr().is_terminal();
        Self { hosts, stream: args.stream, counts, ended: 0, width }
    }

    fn show(&mut self, event: HostEvent<'_>) {
        match event {
            HostEvent::Line { host, is_error, text } if self.stream => {
                let line =
                    format!("{:width$}  {}\n", self.hosts[host].name, sanitize(text), width = self.width);
                // Output to a closed pipe is lost, and the hosts go on.
                let _ = if is_error {
                    std::io::stderr().write_all(line.as_bytes())
                } else {
                    std::io::stdout().write_all(line.as_bytes())
                };
            }
            HostEvent::Line { .. } => {}
            HostEvent::Ended { host, end } => {
                self.ended += 1;
                if let Some(failure) = end.failure().filter(|_| self.stream) {
                    let name = &self.hosts[host].name;
                    let _ = writeln!(std::io::stderr(), "{name:width$}  {failure}", width = self.width);
                }
                if self.counts {
                    let _ = write!(std::io::stderr(), "\r{} of {} hosts", self.ended, self.hosts.len());
                }
            }
        }
    }

    fn clear(&self) {
        if self.counts {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// Returns the output, equal output once, under the hosts that wrote it.
fn folded(hosts: &[Host], runs: &[HostRun]) -> String {
    let outputs: Vec<HostOutput> = hosts
        .iter()
        .zip(runs)
        .map(|(host, run)| HostOutput {
            host: host.name.clone(),
            text: format!("{}{}", run.stdout, run.stderr),
            failure: run.end.failure(),
        })
        .collect();
    let mut out = String::new();
    for group in fold_outputs(&outputs) {
        let count =
            if group.hosts.len() > 1 { format!(" ({} hosts)", group.hosts.len()) } else { String::new() };
        let failure = group.failure.map(|failure| format!(" · {}", sanitize(&failure))).unwrap_or_default();
        let _ = writeln!(out, "{}{count}{failure}", fold_hosts(&group.hosts));
        for line in group.text.lines() {
            let _ = writeln!(out, "    {}", sanitize_lines(line));
        }
    }
    out
}

/// Returns how many hosts ended how, in one line.
fn summary(runs: &[HostRun]) -> String {
    let count = |is: fn(&HostEnd) -> bool| runs.iter().filter(|run| is(&run.end)).count();
    let parts = [
        (count(|end| matches!(end, HostEnd::Exit(code) if *code != 0)), "failed"),
        (count(|end| matches!(end, HostEnd::Unreachable(_) | HostEnd::SshFailed(_))), "unreachable"),
        (count(|end| *end == HostEnd::TimedOut), "timed out"),
        (count(|end| *end == HostEnd::Interrupted), "interrupted"),
    ];
    let mut text = format!("{} of {} hosts ok", count(HostEnd::is_success), runs.len());
    for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, " · {count} {what}");
    }
    text
}

fn document(command: &[String], hosts: &[Host], runs: &[HostRun]) -> serde_json::Value {
    let host = |(host, run): (&Host, &HostRun)| {
        let (state, exit) = match &run.end {
            HostEnd::Exit(code) => ("ended", Some(*code)),
            HostEnd::Unreachable(_) => ("unreachable", None),
            HostEnd::SshFailed(_) => ("ssh_failed", None),
            HostEnd::TimedOut => ("timed_out", None),
            HostEnd::Interrupted => ("interrupted", None),
        };
        json!({
            "host": host.name, "state": state, "exit": exit, "reason": run.end.failure(),
            "stdout": run.stdout, "stderr": run.stderr, "took_s": run.took.as_secs_f64(),
        })
    };
    json!({
        "schema": "wavetank.fleet_exec/1",
        "command": command,
        "ok": runs.iter().all(|run| run.end.is_success()),
        "hosts": hosts.iter().zip(runs).map(host).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavetank_units::Nanos;

    #[test]
    fn equal_output_is_shown_once() {
        let hosts = ["a1", "a2", "a3", "b"].map(Host::named);
        let run = |end, stdout: &str, stderr: &str| HostRun {
            end,
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            took: Nanos::from_millis(5),
        };
        let runs = [
            run(HostEnd::Exit(0), "6.1\n", ""),
            run(HostEnd::Exit(0), "6.1\n", ""),
            run(HostEnd::Exit(2), "", "no\x1b[31m file\n"),
            run(HostEnd::Unreachable("Connection refused".to_owned()), "", ""),
        ];
        let expected = "a[1-2] (2 hosts)\n    6.1\na3 · exit 2\n    no\\u{1b}[31m file\n\
            b · unreachable: Connection refused\n";
        assert_eq!(folded(&hosts, &runs), expected);
        assert_eq!(summary(&runs), "2 of 4 hosts ok · 1 failed · 1 unreachable");
        let json = document(&["x".to_owned()], &hosts, &runs);
        assert_eq!((json["ok"].as_bool(), json["hosts"][2]["exit"].as_i64()), (Some(false), Some(2)));
    }
}
