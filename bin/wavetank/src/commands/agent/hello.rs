//! `wavetank agent hello`.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use wavetank_driver::Clock;
use wavetank_fleet::AgentMessage;
use wavetank_fleet::wire::encode_agent;
use wavetank_link::read_hello;
use wavetank_units::{Nanos, UserError};

use super::agent_error::unreachable_agent;
use crate::cli::AgentHelloArgs;
use crate::output;

/// Time between two attempts.
const RETRY: Nanos = Nanos::from_millis(50);

/// Prints the agent's greeting, as it would send it to a controller.
pub(super) fn hello(args: &AgentHelloArgs) -> Result<(), UserError> {
    let message = wait_for_hello(args).map_err(|error| unreachable_agent(&args.dir, &error))?;
    let line = encode_agent(&message, None).expect("nothing is attached");
    output::print(&format!("{line}\n"))
}

fn wait_for_hello(args: &AgentHelloArgs) -> std::io::Result<AgentMessage> {
    let clock = Clock::starting_now();
    let until = args.wait.unwrap_or_default();
    // A kernel without such handles only waits longer.
    let process = args.pid.and_then(Pid::from_raw).map(|pid| pidfd_open(pid, PidfdFlags::empty()));
    let mut has_ended = matches!(process, Some(Err(rustix::io::Errno::SRCH)));
    let process = process.and_then(Result::ok);
    loop {
        match read_hello(&args.dir) {
            Err(_) if !has_ended && clock.now() < until => has_ended = ends_within(process.as_ref(), RETRY),
            result => return result,
        }
    }
}

/// Waits until a process ends, at most this long. Returns whether it ended.
fn ends_within(process: Option<&OwnedFd>, wait: Nanos) -> bool {
    let mut handles: Vec<PollFd<'_>> =
        process.into_iter().map(|process| PollFd::new(process, PollFlags::IN)).collect();
    let limit = Timespec { tv_sec: wait.0 / 1_000_000_000, tv_nsec: wait.0 % 1_000_000_000 };
    matches!(poll(&mut handles, Some(&limit)), Ok(count) if count > 0)
}
