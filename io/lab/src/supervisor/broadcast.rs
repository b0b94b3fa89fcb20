//! [`ask_all_within`]: all hosts asked at once, by somebody who does not wait for ever.

use std::os::fd::AsFd;
use std::sync::MutexGuard;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use wavetank_driver::Clock;
use wavetank_plan::UserError;

use super::host_channel::HostChannel;
use super::host_link::{HostLink, SILENT};
use crate::host::HostCommand;

/// Time between two looks at a host that somebody else is talking to: who is done tells nobody.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// What a host answered; `None`: nothing in time.
pub(super) type Answered = Option<Result<Value, UserError>>;

/// Hosts that have been asked, by their places, and the talk with each.
type Waiting<'h> = Vec<(usize, MutexGuard<'h, HostChannel>)>;

/// Has all hosts do `deed` at once, waiting no longer than `limit` for all together, and tells what each answered, in their
/// order. One that stands still, or does something else for somebody else, holds up no other.
pub(super) fn ask_all_within(hosts: &[HostLink], deed: &HostCommand, limit: Duration) -> Vec<Answered> {
    let clock = Clock::starting_now();
    let mut answers: Vec<Answered> = hosts.iter().map(|_| None).collect();
    let mut unasked: Vec<usize> = (0..hosts.len()).collect();
    let mut refused: Vec<usize> = Vec::new();
    let mut waiting: Waiting<'_> = Vec::new();
    loop {
        unasked.retain(|&place| {
            let Some(mut talk) = hosts[place].try_lock() else { return true };
            match hosts[place].send(&mut talk, deed) {
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
            // What is there may be answers to others who gave up, with nothing behind them yet.
            let answered = heard(hosts[*place].read(talk.receive_within(left.min(LOOK_AGAIN))));
            if answered.is_some() {
                answers[*place] = answered;
                drop(waiting.swap_remove(at));
            }
        }
    }
    for (_, talk) in &mut waiting {
        talk.give_up(deed);
    }
    drop(waiting);
    if let HostCommand::FaultEnd(id) = deed {
        // Who could not be asked ends it all the same.
        unasked.extend(refused);
        for place in unasked {
            hosts[place].end_fault_async(*id);
        }
    }
    // Others may have had ends to tell while the talk was ours.
    hosts.iter().for_each(HostLink::end_orphaned_faults);
    answers
}

/// An answer, or that the host is gone; no answer yet is `None`.
fn heard(answered: Result<Value, UserError>) -> Answered {
    Some(answered).filter(|answered| !matches!(answered, Err(error) if error.code == SILENT))
}

/// Which of `waiting` say something, or are gone, within `limit`; the last ones first, so that they can be taken out.
fn ready(waiting: &Waiting<'_>, limit: Duration) -> Vec<usize> {
    let timeout = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    let mut handles: Vec<PollFd<'_>> =
        waiting.iter().map(|(_, talk)| PollFd::from_borrowed_fd(talk.as_fd(), PollFlags::IN)).collect();
    // A signal, or an error, is as good as the end of the time: who waits looks at that next.
    let _ = poll(&mut handles, Some(&timeout));
    (0..waiting.len()).rev().filter(|at| !handles[*at].revents().is_empty()).collect()
}
