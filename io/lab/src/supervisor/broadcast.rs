//! [`ask_all_within`]: sends a request to all hosts simultaneously, with a time limit.

use std::os::fd::AsFd;
use std::sync::MutexGuard;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use wavetank_driver::Clock;
use wavetank_units::UserError;

use super::host_channel::HostChannel;
use super::host_link::{HostLink, SILENT};
use crate::host::HostCommand;

/// Polling interval for a host that is busy with another request; its release causes no
/// notification.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A host's answer; `None` if there was none in time.
pub(super) type Answered = Option<Result<Value, UserError>>;

/// Hosts with an open request: index and channel.
type Waiting<'h> = Vec<(usize, MutexGuard<'h, HostChannel>)>;

/// Sends `action` to all hosts simultaneously and returns their answers, in the order of the hosts.
/// Waits at most `limit` for all of them together. A host that is stopped, or busy with another
/// request, does not delay the others.
pub(super) fn ask_all_within(hosts: &[HostLink], action: &HostCommand, limit: Duration) -> Vec<Answered> {
    let clock = Clock::starting_now();
    let mut answers: Vec<Answered> = hosts.iter().map(|_| None).collect();
    let mut unasked: Vec<usize> = (0..hosts.len()).collect();
    let mut refused: Vec<usize> = Vec::new();
    let mut waiting: Waiting<'_> = Vec::new();
    loop {
        unasked.retain(|&place| {
            let Some(mut talk) = hosts[place].try_lock() else { return true };
            match hosts[place].send(&mut talk, action) {
                Ok(()) => waiting.push((place, talk)),
                Err(error) => {
                    answers[place] = heard(Err(error));
                    refused.push(place);
                }
            }
            false
        });
        let left = limit.saturating_sub(Duration::from_nanos(clock.now().0.unsigned_abs()));
        if left.is_zero() || (unasked.is_empty() && waiting.is_empty()) {
            break;
        }
        let pause = if unasked.is_empty() { left } else { left.min(LOOK_AGAIN) };
        for at in ready(&waiting, pause) {
            let (place, talk) = &mut waiting[at];
            // The readable data may be answers to abandoned requests, with nothing after them yet.
            let answered = heard(hosts[*place].read(talk.receive_within(left.min(LOOK_AGAIN))));
            if answered.is_some() {
                answers[*place] = answered;
                drop(waiting.swap_remove(at));
            }
        }
    }
    for (_, talk) in &mut waiting {
        talk.give_up(action);
    }
    drop(waiting);
    if let HostCommand::FaultEnd(id) = action {
        // Hosts that could not receive the request get it later.
        unasked.extend(refused);
        for place in unasked {
            hosts[place].end_fault_async(*id);
        }
    }
    // Other threads may have had fault ends to send while we held the channel.
    hosts.iter().for_each(HostLink::end_orphaned_faults);
    answers
}

/// Returns an answer, or the error of a host that is gone; `None` for no answer yet.
fn heard(answered: Result<Value, UserError>) -> Answered {
    Some(answered).filter(|answered| !matches!(answered, Err(error) if error.code == SILENT))
}

/// Returns which of `waiting` are readable or closed within `limit`, the last ones first, so that
/// they can be removed.
fn ready(waiting: &Waiting<'_>, limit: Duration) -> Vec<usize> {
    let timeout = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    let mut handles: Vec<PollFd<'_>> =
        waiting.iter().map(|(_, talk)| PollFd::from_borrowed_fd(talk.as_fd(), PollFlags::IN)).collect();
    // A signal or an error counts as a timeout; the caller checks the time next.
    let _ = poll(&mut handles, Some(&timeout));
    (0..waiting.len()).rev().filter(|at| !handles[*at].revents().is_empty()).collect()
}
