//! [`Exchanges`]: requests under way, from their intended instant to their end.
//!
//! Counts and times every request; outlives connections when a request is tried again. Knows no pacing:
//! it is told *when* and tells back when a request is resolved.

use std::collections::VecDeque;
use std::sync::Arc;

use wavetank_driver::{Driver, Errno};
use wavetank_measure::{DropReason, ErrorClass};
use wavetank_plan::constants::BEHIND_MAX;
use wavetank_plan::{Key, MaxOpenBy, Nanos, Plan};
use wavetank_wire::h1::Answer;

use crate::budget::Budget;
use crate::connections::{Connections, Outcome};
use crate::failure::Failure;
use crate::flights::Flight;
use crate::messages::Sample;
use crate::recorder::{Recorder, Times};
use crate::slab::{Id, Slab};

/// Who a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// An arrival of the open model: nobody waits for the end of it.
    Arrival,
    /// A virtual user of the closed model, who has a seat of its own.
    User(u32),
}

/// A request that was offered and not yet begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offered {
    pub(crate) key: Key,
    pub(crate) intended: Nanos,
    pub(crate) owner: Owner,
}

/// One request under way.
struct Exchange {
    offered: Offered,
    begun: Nanos,
    /// First byte handed to the kernel, once it was.
    sent: Option<Nanos>,
    /// The seat of its user; [`ANY_SEAT`]: whichever is free.
    seat: u32,
}

/// No seat in particular.
const ANY_SEAT: u32 = u32::MAX;

/// A request came to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolved {
    pub(crate) owner: Owner,
    /// When: the next one of the same user is intended now.
    pub(crate) at: Nanos,
    /// Whether it was done.
    pub(crate) done: bool,
}

/// A user whose request was dropped for want of a source address is ready again after this time: sooner,
/// nothing can have changed, and drops without end would say nothing.
const PAUSE: Nanos = Nanos::from_millis(10);

/// See the module's description.
pub(crate) struct Exchanges<D> {
    pub(crate) connections: Connections<D>,
    plan: Arc<Plan>,
    slab: Slab<Exchange>,
    /// What may be unresolved at once, per phase.
    max_open: Vec<Budget>,
    /// The first failure of each class.
    samples: Vec<Sample>,
    sampled: [bool; ErrorClass::ALL.len()],
    /// Users who pause, and until when.
    paused: VecDeque<(Nanos, Owner)>,
    /// When the last request was resolved.
    pub(crate) resolved_last: Nanos,
}

impl<D: Driver> Exchanges<D> {
    pub(crate) fn new(connections: Connections<D>, plan: Arc<Plan>, max_open: Vec<Budget>) -> Self {
        Self {
            connections,
            plan,
            slab: Slab::new(),
            max_open,
            samples: Vec::new(),
            sampled: [false; ErrorClass::ALL.len()],
            paused: VecDeque::new(),
            resolved_last: Nanos::ZERO,
        }
    }

    /// The plan wants this request. Whether there is room for it; if not, it is dropped.
    pub(crate) fn offer(&mut self, offered: Offered, rec: &mut Recorder) -> bool {
        rec.offered(offered.key);
        let phase = usize::from(offered.key.phase);
        if self.max_open[phase].take() {
            return true;
        }
        let reason = match self.plan.phases[phase].max_open_by {
            MaxOpenBy::Plan => DropReason::MaxOpen,
            MaxOpenBy::Files => DropReason::NoFiles,
            MaxOpenBy::Memory => DropReason::NoMemory,
            MaxOpenBy::Sources => DropReason::NoSourceAddress,
        };
        rec.dropped(offered.key, reason);
        false
    }

    /// Take an offered request up at `now`. Resolved at once if it is too late to begin.
    pub(crate) fn begin(
        &mut self,
        offered: Offered,
        seat: Option<u32>,
        now: Nanos,
        rec: &mut Recorder,
    ) -> Option<Resolved> {
        let Offered { key, intended, owner } = offered;
        let lag = now.since(intended);
        if lag > BEHIND_MAX.0.unsigned_abs() {
            rec.dropped(key, DropReason::Behind);
            self.max_open[usize::from(key.phase)].give_back();
            return Some(Resolved { owner, at: now, done: false });
        }
        rec.begun(key, lag);
        let exchange =
            self.slab.insert(Exchange { offered, begun: now, sent: None, seat: seat.unwrap_or(ANY_SEAT) });
        let flight = self.flight(exchange, key, now, false);
        self.connections.submit(flight, seat, key.phase, now, rec);
        None
    }

    /// Wait for sockets, from `now` until `until`. Whether anything is ready.
    #[inline]
    pub(crate) fn wait(&mut self, now: Nanos, until: Nanos, rec: &mut Recorder) -> Result<bool, Errno> {
        let ready = self.connections.wait(now, until)?;
        if D::SENDS_LATER && !self.connections.leaving.is_empty() {
            let mut left = std::mem::take(&mut self.connections.leaving);
            for leaving in left.drain(..) {
                self.sent(leaving.exchange, leaving.at, rec);
            }
            self.connections.leaving = left;
        }
        Ok(ready)
    }

    fn flight(&self, exchange: Id, key: Key, begun: Nanos, again: bool) -> Flight {
        let deadline = begun.after(self.plan.http.timeout);
        Flight { exchange, deadline, scenario: key.scenario, step: key.step, again }
    }

    /// The next request that came to its end, having taken in what the connections tell.
    #[inline]
    pub(crate) fn poll(&mut self, rec: &mut Recorder) -> Option<Resolved> {
        while let Some(outcome) = self.connections.outcomes.pop_front() {
            let resolved = match outcome {
                Outcome::Sent(exchange, at) => {
                    self.sent(exchange, at, rec);
                    None
                }
                Outcome::Answered(exchange, answer, first_byte, at) => {
                    self.answered(exchange, answer, first_byte, at, rec)
                }
                Outcome::Broken(exchange, failure, at) => self.broken(exchange, &failure, at, rec),
                Outcome::Dropped(exchange, at) => self.unsent(exchange, at, rec),
            };
            if resolved.is_some() {
                return resolved;
            }
        }
        None
    }

    #[inline]
    fn sent(&mut self, exchange: Id, at: Nanos, rec: &mut Recorder) {
        let Some(entry) = self.slab.get_mut(exchange) else { return };
        if entry.sent.is_none() {
            entry.sent = Some(at);
            rec.sent(entry.offered.key, at.since(entry.begun));
        } else {
            rec.retried(entry.offered.key);
        }
    }

    #[inline]
    fn answered(
        &mut self,
        exchange: Id,
        answer: Answer,
        first_byte: Nanos,
        at: Nanos,
        rec: &mut Recorder,
    ) -> Option<Resolved> {
        let Exchange { offered, begun, sent, .. } = self.slab.remove(exchange)?;
        let sent = sent.unwrap_or(begun);
        let times = Times {
            response: at.since(offered.intended),
            service: at.since(sent),
            lag: begun.since(offered.intended),
            ttfb: first_byte.since(sent),
            transfer: at.since(first_byte),
        };
        let done = self.plan.http.expect.contains(answer.status);
        if done {
            rec.done(offered.key, times, answer.status);
        } else {
            let class = ErrorClass::Status;
            rec.failed(offered.key, class, times.lag, times.response, Some(answer.status));
            let status = Some(answer.status);
            self.sample(Sample::new(offered.key, class, at, times.response).with_status(status));
        }
        Some(self.resolve(offered, at, done))
    }

    fn broken(&mut self, exchange: Id, failure: &Failure, at: Nanos, rec: &mut Recorder) -> Option<Resolved> {
        if failure.retry {
            let entry = self.slab.get_mut(exchange)?;
            let (key, begun) = (entry.offered.key, entry.begun);
            let seat = (entry.seat != ANY_SEAT).then_some(entry.seat);
            let flight = self.flight(exchange, key, begun, true);
            self.connections.submit(flight, seat, key.phase, at, rec);
            return None;
        }
        let Exchange { offered, begun, .. } = self.slab.remove(exchange)?;
        let lag = begun.since(offered.intended);
        let waited = at.since(offered.intended);
        rec.failed(offered.key, failure.class, lag, waited, None);
        self.sample(Sample::new(offered.key, failure.class, at, waited).with_failure(failure));
        Some(self.resolve(offered, at, false))
    }

    /// There is no source address for it. One that was sent before, on a connection since lost, has failed.
    fn unsent(&mut self, exchange: Id, at: Nanos, rec: &mut Recorder) -> Option<Resolved> {
        if self.slab.get_mut(exchange)?.sent.is_some() {
            return self.broken(exchange, &Failure::of(ErrorClass::NoSourceAddress), at, rec);
        }
        let Exchange { offered, .. } = self.slab.remove(exchange)?;
        rec.dropped(offered.key, DropReason::NoSourceAddress);
        let resolved = self.resolve(offered, at, false);
        if let Owner::User(_) = offered.owner {
            self.paused.push_back((at.after(PAUSE), offered.owner));
            return None;
        }
        Some(resolved)
    }

    /// When a user has paused long enough.
    pub(crate) fn next_pause_end(&self) -> Option<Nanos> {
        self.paused.front().map(|&(until, _)| until)
    }

    /// A user who has paused long enough at `now`.
    pub(crate) fn take_paused(&mut self, now: Nanos) -> Option<Resolved> {
        let (_, owner) = self.paused.pop_front_if(|&mut (until, _)| until <= now)?;
        Some(Resolved { owner, at: now, done: false })
    }

    #[inline]
    fn resolve(&mut self, offered: Offered, at: Nanos, done: bool) -> Resolved {
        self.max_open[usize::from(offered.key.phase)].give_back();
        self.resolved_last = at;
        Resolved { owner: offered.owner, at, done }
    }

    fn sample(&mut self, sample: Sample) {
        let seen = &mut self.sampled[sample.class as usize];
        if !*seen {
            *seen = true;
            self.samples.push(sample);
        }
    }

    /// First failures since the last call.
    pub(crate) fn take_samples(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.samples)
    }

    /// Requests under way.
    pub(crate) fn len(&self) -> usize {
        self.slab.len()
    }

    /// The end of the run at `at`: what is unanswered stays open, with the time it waited.
    pub(crate) fn cut(&mut self, at: Nanos, rec: &mut Recorder) {
        self.connections.let_all_leave();
        while let Some(outcome) = self.connections.outcomes.pop_front() {
            if let Outcome::Sent(exchange, at) = outcome {
                self.sent(exchange, at, rec);
            }
        }
        for exchange in self.slab.drain() {
            rec.cut(exchange.offered.key, at.since(exchange.offered.intended));
        }
        self.connections.tear_down(rec);
    }
}
