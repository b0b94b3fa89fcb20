//! `wavetank observe`.

use std::cell::RefCell;
use std::io::Write as _;
use std::thread;
use std::time::Duration;

use wavetank_driver::{Clock, Signals, WallClock};
use wavetank_inventory::Host;
use wavetank_measure::HostSample;
use wavetank_observe::{RemoteSampler, ThisHostSampler, remote_sampler};
use wavetank_record::HostLine;
use wavetank_runner::host_error;
use wavetank_ssh::{HostEvent, RemoteCommand, SshOptions, run_on_hosts};
use wavetank_units::{Code, ExitCode, Nanos, UserError};

use crate::cli::ObserveArgs;

/// How often signals are looked at.
const LOOK_AROUND: Nanos = Nanos::from_millis(50);
/// Time to connect and log in.
const CONNECT_TIMEOUT: Nanos = Nanos::from_secs(10);

/// Prints samples until the time is over, an interrupt comes, or the output is closed.
pub(crate) fn observe(args: &ObserveArgs) -> Result<u8, UserError> {
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let clock = Clock::starting_now();
    let is_over = || signals.received() > 0 || args.lasts.is_some_and(|lasts| clock.now() >= lasts);
    match &args.host {
        None => observe_this(args.interval, clock, &is_over),
        Some(host) => return observe_remote(host, args, &is_over),
    }
    Ok(ExitCode::Pass as u8)
}

fn observe_this(interval: Nanos, clock: Clock, is_over: &dyn Fn() -> bool) {
    let mut sampler = ThisHostSampler::new();
    let mut due = clock.now();
    while !is_over() {
        let now = clock.now();
        if now < due {
            let left = (due - now).min(LOOK_AROUND);
            thread::park_timeout(Duration::from_nanos(left.0.unsigned_abs()));
            continue;
        }
        // After a pause of the process, missed samples are not made up for.
        due = due.after(interval).max(now);
        if !print(sampler.sample(|| Nanos(WallClock::unix_ns()))) {
            return;
        }
    }
}

fn observe_remote(host: &str, args: &ObserveArgs, is_over: &dyn Fn() -> bool) -> Result<u8, UserError> {
    let hosts = [Host::named(host)];
    let options =
        SshOptions { config: args.ssh_config.clone(), user: None, connect_timeout: CONNECT_TIMEOUT };
    let command = RemoteCommand { text: remote_sampler(args.interval), ..RemoteCommand::default() };
    let mut sampler = RemoteSampler::default();
    let (mut samples, mut failure) = (0_u64, None);
    let is_closed = RefCell::new(false);
    let mut take = |event: HostEvent<'_>| match event {
        HostEvent::Line { is_error: false, text, .. } => {
            if let Some(sample) = sampler.add(text, Nanos(WallClock::unix_ns())) {
                samples += 1;
                *is_closed.borrow_mut() |= !print(sample);
            }
        }
        HostEvent::Line { .. } => {}
        HostEvent::Ended { end, .. } => failure = end.failure(),
    };
    let is_ended = || is_over() || *is_closed.borrow();
    run_on_hosts(&hosts, (&command, &options), (1, None), &is_ended, &mut take);
    if samples > 0 {
        return Ok(ExitCode::Pass as u8);
    }
    let reason = failure.unwrap_or_else(|| "it printed no sample".to_owned());
    let message = format!("cannot observe `{host}`: {reason}");
    Err(UserError::refused(
        Code::HostUnreachable,
        message,
        format!("check that `ssh {host} true` works without a password"),
    ))
}

/// Prints a line. Returns whether the output is still open.
fn print(sample: HostSample) -> bool {
    let line = HostLine { sample, ..HostLine::default() }.encode();
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).is_ok()
}
