//! [`run_on_hosts`]: one command on many hosts, a limited number at a time.

use std::collections::VecDeque;
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wavetank_driver::Clock;
use wavetank_inventory::Host;
use wavetank_units::Nanos;

use crate::host_process::HostProcess;
use crate::{HostEnd, RemoteCommand, SshOptions};

/// Longest wait for output. An ended process is noticed after it at the latest.
const TURN: Nanos = Nanos::from_millis(50);

/// What happened on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostEvent<'a> {
    /// It wrote a line, to standard error if the flag is set.
    Line {
        /// Index of the host.
        host: usize,
        /// Whether the line is of standard error.
        is_error: bool,
        /// The line without its end.
        text: &'a str,
    },
    /// Its command ended.
    Ended {
        /// Index of the host.
        host: usize,
        /// How it ended.
        end: &'a HostEnd,
    },
}

/// The result of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRun {
    /// How the command ended.
    pub end: HostEnd,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error, without ssh's own message about a host that was not
    /// reached.
    pub stderr: String,
    /// From the start of ssh to its end.
    pub took: Nanos,
}

/// Runs `command` on all `hosts`, at most `fan_out` at a time, and returns their results in order.
///
/// `time_limit` is of one host, from the start of its ssh. As soon as `interrupted` returns true,
/// running commands are ended and no more are started. `event` gets what happens, when it happens.
pub fn run_on_hosts(
    hosts: &[Host],
    (command, options): (&RemoteCommand, &SshOptions),
    limits: (usize, Option<Nanos>),
    interrupted: &dyn Fn() -> bool,
    event: &mut dyn FnMut(HostEvent<'_>),
) -> Vec<HostRun> {
    let process = |host: usize| options.process(&hosts[host], command);
    run_processes((hosts.len(), &process), limits, interrupted, event)
}

/// Runs a command of its own on each host, else like [`run_on_hosts`].
pub fn run_host_commands(
    commands: &[(Host, RemoteCommand)],
    options: &SshOptions,
    limits: (usize, Option<Nanos>),
    interrupted: &dyn Fn() -> bool,
    event: &mut dyn FnMut(HostEvent<'_>),
) -> Vec<HostRun> {
    let process = |host: usize| options.process(&commands[host].0, &commands[host].1);
    run_processes((commands.len(), &process), limits, interrupted, event)
}

fn run_processes(
    (count, process): (usize, &dyn Fn(usize) -> std::io::Result<Command>),
    (fan_out, time_limit): (usize, Option<Nanos>),
    interrupted: &dyn Fn() -> bool,
    event: &mut dyn FnMut(HostEvent<'_>),
) -> Vec<HostRun> {
    let clock = Clock::starting_now();
    let mut waiting: VecDeque<usize> = (0..count).collect();
    let mut running: Vec<HostProcess> = Vec::new();
    let mut results: Vec<Option<HostRun>> = (0..count).map(|_| None).collect();
    while !waiting.is_empty() || !running.is_empty() {
        let now = clock.now();
        if interrupted() {
            for host in waiting.drain(..) {
                finish(host, HostRun::not_started(HostEnd::Interrupted), &mut results, event);
            }
            for process in &mut running {
                process.end(HostEnd::Interrupted, now);
            }
        }
        while running.len() < fan_out.max(1)
            && let Some(host) = waiting.pop_front()
        {
            match process(host).and_then(|process| HostProcess::start(host, process, now)) {
                Ok(process) => running.push(process),
                Err(error) => {
                    let end = HostEnd::SshFailed(error.to_string());
                    finish(host, HostRun::not_started(end), &mut results, event);
                }
            }
        }
        wait(&running);
        let now = clock.now();
        running.retain_mut(|process| {
            let host = process.host;
            let mut line = |is_error: bool, text: &str| event(HostEvent::Line { host, is_error, text });
            process.read(&mut line);
            if time_limit.is_some_and(|limit| now.since(process.started) >= limit.0.unsigned_abs()) {
                process.end(HostEnd::TimedOut, now);
            }
            process.kill_if_due(now);
            let Some(end) = process.ended(&mut line) else { return true };
            let (stdout, stderr) = process.texts(&mut line);
            let stderr = if matches!(end, HostEnd::Unreachable(_)) { String::new() } else { stderr };
            let took = Nanos(i64::try_from(now.since(process.started)).unwrap_or(i64::MAX));
            finish(host, HostRun { end, stdout, stderr, took }, &mut results, event);
            false
        });
    }
    results.into_iter().map(|run| run.expect("every host ended")).collect()
}

impl HostRun {
    fn not_started(end: HostEnd) -> Self {
        Self { end, stdout: String::new(), stderr: String::new(), took: Nanos::ZERO }
    }
}

fn finish(host: usize, run: HostRun, results: &mut [Option<HostRun>], event: &mut dyn FnMut(HostEvent<'_>)) {
    event(HostEvent::Ended { host, end: &run.end });
    results[host] = Some(run);
}

/// Waits until a pipe has something, or a turn is over. Without pipes it only waits.
fn wait(running: &[HostProcess]) {
    let mut handles: Vec<PollFd<'_>> = running
        .iter()
        .flat_map(HostProcess::pipes)
        .map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::IN))
        .collect();
    let turn = Duration::from_nanos(TURN.0.unsigned_abs());
    let limit = Timespec { tv_sec: 0, tv_nsec: turn.subsec_nanos().into() };
    // A signal ends the wait early, and the caller looks for an interrupt.
    let _ = poll(&mut handles, Some(&limit));
}
