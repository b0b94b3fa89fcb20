//! [`Exchanges`]: requests in flight, from their start by a load thread to their end.
//!
//! Counts and times every request, and outlives its connections when it is retried. This layer
//! knows no pacing: its caller passes *when* a request is intended, and it reports when the request
//! is resolved.

mod ending;
mod follow_ups;
mod session_requests;
mod times;

use std::collections::VecDeque;
use std::sync::Arc;

use wavetank_driver::{Driver, Errno};
use wavetank_journey::FollowUpKind;
use wavetank_measure::{DropReason, ErrorClass};
use wavetank_plan::constants::{BEHIND_MAX, LATE_TOLERANCE};
use wavetank_plan::{Key, MaxOpenLimit, Plan};
use wavetank_units::Nanos;
use wavetank_wire::h1::ResponseEnd;

use crate::budget::Budget;
use crate::completed::CompletedRequest;
use crate::connections::{ConnectionOutcome, Connections};
use crate::failure::Failure;
use crate::messages::Sample;
use crate::offered::{OfferedRequest, Owner};
use crate::recorder::Recorder;
use crate::request_flags::RequestFlags;
use crate::request_queue::QueuedRequest;
use crate::samples::Samples;
use crate::slab::{Id, Slab};
use times::length;

/// One request in flight.
struct Exchange {
    offered: OfferedRequest,
    begun: Nanos,
    /// When it was handed to the driver, the clock read just before; `None` before that.
    sent: Option<Nanos>,
    /// The time for which its responses were evaluated between two of its messages. It counts in
    /// none of its times.
    own_work: Nanos,
    /// The slot of its user; [`ANY_SLOT`]: any free slot.
    slot: u32,
    /// The target of the current message.
    target: u16,
    /// The properties of the current message.
    flags: RequestFlags,
    stage: Stage,
}

/// The current message of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The request itself.
    First,
    /// One more message, which was not sent yet.
    More(FollowUpKind),
    /// One more message, which was sent.
    MoreSent,
}

/// How the first message of a request is sent.
#[derive(Clone, Copy)]
struct SendSpec {
    /// `None`: on any shared connection.
    slot: Option<u32>,
    target: u16,
    flags: RequestFlags,
    timeout: Nanos,
}

/// No particular slot.
const ANY_SLOT: u32 = u32::MAX;

/// The pause of a user after its request was dropped because no source address was free. Nothing
/// can have changed before that, and endless drops would have no meaning.
const PAUSE: Nanos = Nanos::from_millis(10);

/// All requests in flight of one load thread; see the module documentation.
pub(crate) struct Exchanges<D> {
    pub(crate) connections: Connections<D>,
    plan: Arc<Plan>,
    slab: Slab<Exchange>,
    /// The limit on unresolved requests, per phase.
    max_open: Vec<Budget>,
    samples: Samples,
    /// Users that pause, and the end of each pause.
    paused: VecDeque<(Nanos, Owner)>,
    /// When the last completed request of a session was sent.
    sent_last: Option<Nanos>,
    /// Whether it was dropped because no source address was free.
    starved: bool,
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
            samples: Samples::default(),
            paused: VecDeque::new(),
            sent_last: None,
            starved: false,
            resolved_last: Nanos::ZERO,
        }
    }

    /// Replaces the limit on requests of a phase that has not started.
    pub(crate) fn set_max_open(&mut self, phase: u16, budget: Budget) {
        self.max_open[usize::from(phase)] = budget;
    }

    /// Counts a request as offered and takes one place of `max_open`. Returns false if there was
    /// none, and the request was dropped.
    pub(crate) fn admit(&mut self, offered: OfferedRequest, rec: &mut Recorder) -> bool {
        rec.offered(offered.key);
        let room = self.max_open[usize::from(offered.key.phase)].take();
        if !room {
            rec.dropped(offered.key, self.no_room(offered.key.phase));
        }
        room
    }

    /// Returns whether there is room for a session of `phase`, or the reason why not.
    pub(crate) fn has_room(&mut self, phase: u16) -> Result<(), DropReason> {
        if self.max_open[usize::from(phase)].take() { Ok(()) } else { Err(self.no_room(phase)) }
    }

    #[cold]
    fn no_room(&self, phase: u16) -> DropReason {
        match self.plan.phases[usize::from(phase)].max_open_by {
            MaxOpenLimit::Plan => DropReason::MaxOpen,
            MaxOpenLimit::Files => DropReason::NoFiles,
            MaxOpenLimit::Memory => DropReason::NoMemory,
            MaxOpenLimit::Sources => DropReason::NoSourceAddress,
        }
    }

    /// Starts an offered request at `now`. It is resolved immediately if it is too late to start.
    #[expect(clippy::inline_always, reason = "one caller that is not cold; a call costs more than its work")]
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        offered: OfferedRequest,
        slot: Option<u32>,
        now: Nanos,
        rec: &mut Recorder,
    ) -> Option<CompletedRequest> {
        let step = self.connections.requests.get(offered.key.scenario, offered.key.step);
        let way = SendSpec { slot, target: step.target, flags: step.flags, timeout: step.timeout };
        let exchange = match self.take_up(offered, way, now, rec) {
            Ok(exchange) => {
                rec.begun(offered.key, length(offered.intended, now));
                exchange
            }
            Err(resolved) => {
                self.give_back(offered.key.phase);
                return Some(resolved);
            }
        };
        self.submit(exchange, offered.key, way, now, rec);
        None
    }

    /// Creates the exchange of a request that starts at `now`, or drops the request if it is too
    /// far behind.
    #[expect(clippy::inline_always, reason = "two callers; a call costs more than its work")]
    #[inline(always)]
    fn take_up(
        &mut self,
        offered: OfferedRequest,
        SendSpec { slot, target, flags, .. }: SendSpec,
        now: Nanos,
        rec: &mut Recorder,
    ) -> Result<Id, CompletedRequest> {
        let OfferedRequest { key, intended, owner } = offered;
        let lag = length(intended, now);
        if lag > BEHIND_MAX.0.unsigned_abs() {
            rec.dropped(key, DropReason::Behind);
            return Err(CompletedRequest { owner, at: now, done: false, unwritten: false });
        }
        let slot = slot.unwrap_or(ANY_SLOT);
        let stage = Stage::First;
        let (sent, own_work) = (None, Nanos::ZERO);
        Ok(self.slab.insert(Exchange { offered, begun: now, sent, own_work, slot, target, flags, stage }))
    }

    #[expect(clippy::inline_always, reason = "two callers; a call costs more than its work")]
    #[inline(always)]
    fn submit(&mut self, exchange: Id, key: Key, way: SendSpec, now: Nanos, rec: &mut Recorder) {
        let SendSpec { slot, target, flags, timeout } = way;
        let (scenario, step, again, deadline) = (key.scenario, key.step, false, now.after(timeout));
        let request = QueuedRequest { exchange, deadline, scenario, step, again, target, flags };
        self.connections.submit(request, slot, key.phase, now, rec);
    }

    /// Waits for sockets, from `now` until `until`. Returns whether any is ready.
    #[inline]
    pub(crate) fn wait(&mut self, now: Nanos, until: Nanos, rec: &mut Recorder) -> Result<bool, Errno> {
        if self.connections.has_unflushed() {
            self.flush_streams(rec);
        }
        let ready = self.connections.wait(now, until)?;
        if D::SENDS_LATER && !self.connections.leaving.is_empty() {
            let mut left = std::mem::take(&mut self.connections.leaving);
            for leaving in left.drain(..) {
                // Evaluating responses may have delayed the call that sends.
                let is_delayed = now.since(leaving.at) > LATE_TOLERANCE.0.unsigned_abs();
                self.sent(leaving.exchange, if is_delayed { now } else { leaving.at }, rec);
            }
            self.connections.leaving = left;
        }
        Ok(ready)
    }

    /// Sends what has collected on connections with several streams.
    #[cold]
    fn flush_streams(&mut self, rec: &mut Recorder) {
        self.connections.flush_streams(rec);
        if !D::SENDS_LATER {
            let mut left = std::mem::take(&mut self.connections.leaving);
            for leaving in left.drain(..) {
                self.sent(leaving.exchange, leaving.at, rec);
            }
            self.connections.leaving = left;
        }
    }

    /// Returns the next completed request after handling what connections report. For runs in which
    /// no session evaluates responses.
    #[inline]
    pub(crate) fn poll(&mut self, rec: &mut Recorder) -> Option<CompletedRequest> {
        while let Some(outcome) = self.connections.outcomes.pop_front() {
            let resolved = match outcome {
                ConnectionOutcome::Answered(exchange, answer, first_byte, at) => {
                    self.answered(exchange, answer, first_byte, at, rec)
                }
                other => self.take_in(other, rec),
            };
            if resolved.is_some() {
                return resolved;
            }
        }
        None
    }

    /// Handles an event other than a response.
    #[expect(clippy::inline_always, reason = "two callers; a call costs more than its work")]
    #[inline(always)]
    fn take_in(&mut self, outcome: ConnectionOutcome, rec: &mut Recorder) -> Option<CompletedRequest> {
        match outcome {
            ConnectionOutcome::Sent(exchange, at) => {
                self.sent(exchange, at, rec);
                None
            }
            ConnectionOutcome::Answered(..) => None,
            ConnectionOutcome::Broken(exchange, failure, at) => self.broken(exchange, &failure, at, rec),
            ConnectionOutcome::Dropped(exchange, at) => self.unsent(exchange, at, rec),
        }
    }

    #[expect(clippy::inline_always, reason = "one caller for each driver; a call costs a third of its work")]
    #[inline(always)]
    fn sent(&mut self, exchange: Id, at: Nanos, rec: &mut Recorder) {
        let Some(entry) = self.slab.get_mut(exchange) else { return };
        if entry.sent.is_none() {
            entry.sent = Some(at);
            rec.sent(entry.offered.key, length(entry.begun, at));
        } else {
            self.on_more_sent(exchange, rec);
        }
    }

    #[expect(clippy::inline_always, reason = "two callers; a call costs more than its work")]
    #[inline(always)]
    fn answered(
        &mut self,
        exchange: Id,
        answer: ResponseEnd,
        first_byte: Nanos,
        at: Nanos,
        rec: &mut Recorder,
    ) -> Option<CompletedRequest> {
        let ended = self.slab.remove(exchange)?;
        let (offered, times) = (ended.offered, ended.times(first_byte, at, false));
        let done = self.plan.http.expect.contains(answer.status);
        if done {
            rec.done(offered.key, times, answer.status);
        } else {
            let class = ErrorClass::Status;
            rec.failed(offered.key, class, times.lag, times.response, Some(answer.status));
            let status = Some(answer.status);
            self.samples.add(Sample::new(offered.key, class, at, times.response).with_status(status));
        }
        Some(self.resolve(offered, at, done))
    }

    fn broken(
        &mut self,
        exchange: Id,
        failure: &Failure,
        at: Nanos,
        rec: &mut Recorder,
    ) -> Option<CompletedRequest> {
        if failure.retry {
            self.resend(exchange, true, at, rec);
            return None;
        }
        let Exchange { offered, begun, sent, stage, .. } = self.slab.remove(exchange)?;
        self.sent_last = sent;
        let lag = begun.since(offered.intended);
        let waited = at.since(offered.intended);
        rec.failed(offered.key, failure.class, lag, waited, None);
        let mut sample = Sample::new(offered.key, failure.class, at, waited).with_failure(failure);
        if stage != Stage::First {
            sample = sample.with_what(self.connections.buffers.request(exchange));
        }
        self.connections.buffers.clear(exchange);
        self.samples.add(sample);
        Some(self.resolve(offered, at, false))
    }

    /// Handles a request without a source address. One sent before on a lost connection has failed.
    fn unsent(&mut self, exchange: Id, at: Nanos, rec: &mut Recorder) -> Option<CompletedRequest> {
        if self.slab.get_mut(exchange)?.sent.is_some() {
            return self.broken(exchange, &Failure::new(ErrorClass::NoSourceAddress), at, rec);
        }
        let Exchange { offered, .. } = self.slab.remove(exchange)?;
        self.sent_last = None;
        self.connections.buffers.clear(exchange);
        rec.dropped(offered.key, DropReason::NoSourceAddress);
        let resolved = self.resolve(offered, at, false);
        match offered.owner {
            Owner::Arrival | Owner::Transient(_) => Some(resolved),
            // If its user leaves in the meantime, the session is gone; it handles its own pause.
            Owner::Session(_) => {
                self.starved = true;
                Some(resolved)
            }
            Owner::User(_) => {
                self.paused.push_back((at.after(PAUSE), offered.owner));
                None
            }
        }
    }

    /// Returns when the last completed request was sent, if it belongs to a session.
    pub(crate) const fn take_sent(&mut self) -> Option<Nanos> {
        self.sent_last.take()
    }

    /// Returns the pause of the session with the last completed request, which was dropped because
    /// no source address was free.
    pub(crate) fn take_pause(&mut self) -> Option<Nanos> {
        std::mem::take(&mut self.starved).then_some(PAUSE)
    }

    /// Returns when the next pause of a user ends.
    pub(crate) fn next_pause_end(&self) -> Option<Nanos> {
        self.paused.front().map(|&(until, _)| until)
    }

    /// Returns a user with a pause that is over at `now`.
    pub(crate) fn take_paused(&mut self, now: Nanos) -> Option<CompletedRequest> {
        let (_, owner) = self.paused.pop_front_if(|&mut (until, _)| until <= now)?;
        Some(CompletedRequest { owner, at: now, done: false, unwritten: false })
    }

    #[inline]
    fn resolve(&mut self, offered: OfferedRequest, at: Nanos, done: bool) -> CompletedRequest {
        if !matches!(offered.owner, Owner::Session(_)) {
            self.give_back(offered.key.phase);
        }
        self.resolved_last = at;
        CompletedRequest { owner: offered.owner, at, done, unwritten: false }
    }

    /// Releases the room of one request of `phase`.
    #[inline]
    pub(crate) fn give_back(&mut self, phase: u16) {
        self.max_open[usize::from(phase)].give_back();
    }

    /// Returns the first failures since the last call.
    pub(crate) fn take_samples(&mut self) -> Vec<Sample> {
        self.samples.take()
    }

    /// The number of requests in flight.
    pub(crate) fn len(&self) -> usize {
        self.slab.len()
    }
}
