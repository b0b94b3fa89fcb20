//! Requests that a session writes, with responses that the session evaluates.

use wavetank_driver::Driver;
use wavetank_units::Nanos;
use wavetank_wire::h1::ResponseEnd;

use super::{Exchanges, SendSpec};
use crate::completed::{CompletedRequest, ExchangeEvent, PendingVerdict};
use crate::connections::ConnectionOutcome;
use crate::exchange_buffers::ExchangeBuffer;
use crate::failure::Failure;
use crate::messages::Sample;
use crate::offered::{OfferedRequest, Owner};
use crate::recorder::Recorder;
use crate::slab::Id;

impl<D: Driver> Exchanges<D> {
    /// Starts an offered request of a session, which writes it. If the session lacks data for it,
    /// the request has failed and was never sent.
    pub(crate) fn begin_rendered(
        &mut self,
        offered: OfferedRequest,
        (slot, target): (Option<u32>, u16),
        now: Nanos,
        rec: &mut Recorder,
        write: impl FnOnce(&mut ExchangeBuffer) -> Result<(), Failure>,
    ) -> Option<CompletedRequest> {
        let step = self.connections.requests.get(offered.key.scenario, offered.key.step);
        let way = SendSpec { slot, target, flags: step.flags, timeout: step.timeout };
        let exchange = match self.take_up(offered, way, now, rec) {
            Ok(exchange) => exchange,
            Err(resolved) => return Some(resolved),
        };
        let buffer = self.connections.buffers.entry(exchange);
        let written = write(buffer);
        // Writing is this program's work, so it is lag.
        let now = if buffer.request.is_empty() { now } else { self.connections.end_work() };
        rec.begun(offered.key, now.since(offered.intended));
        if let Some(entry) = self.slab.get_mut(exchange) {
            entry.begun = now;
        }
        if let Err(failure) = written {
            let resolved = self.broken(exchange, &failure, now, rec)?;
            return Some(CompletedRequest { unwritten: true, ..resolved });
        }
        self.submit(exchange, offered.key, way, now, rec);
        None
    }

    /// Returns completed requests, like [`poll`](Self::poll), and responses that sessions must
    /// evaluate.
    pub(crate) fn poll_event(&mut self, rec: &mut Recorder) -> Option<ExchangeEvent> {
        while let Some(outcome) = self.connections.outcomes.pop_front() {
            let resolved = match outcome {
                ConnectionOutcome::Answered(exchange, answer, first_byte, at) => {
                    if let Some(answered) = self.of_session(exchange, answer, first_byte, at) {
                        return Some(ExchangeEvent::Answered(answered));
                    }
                    self.answered(exchange, answer, first_byte, at, rec)
                }
                other => self.take_in(other, rec),
            };
            if let Some(resolved) = resolved {
                return Some(ExchangeEvent::Resolved(resolved));
            }
        }
        None
    }

    /// Returns the response, if its request belongs to a session.
    #[inline]
    fn of_session(
        &mut self,
        exchange: Id,
        answer: ResponseEnd,
        first_byte: Nanos,
        at: Nanos,
    ) -> Option<PendingVerdict> {
        let OfferedRequest { key, intended, owner } = self.slab.get_mut(exchange)?.offered;
        let Owner::Session(session) = owner else { return None };
        Some(PendingVerdict { exchange, session, key, answer, response: at - intended, first_byte, at })
    }

    /// Attributes the evaluation of a response, which took `work`, to this program: the request
    /// goes on with another message.
    pub(crate) fn add_own_work(&mut self, exchange: Id, work: Nanos) {
        if let Some(entry) = self.slab.get_mut(exchange) {
            entry.own_work = entry.own_work.after(work);
        }
    }

    /// Completes a request after its session has evaluated the last response: with the status, and
    /// whether the response is acceptable.
    pub(crate) fn conclude(
        &mut self,
        answered: &PendingVerdict,
        (status, judged): (u16, Result<(), Failure>),
        rec: &mut Recorder,
    ) -> Option<CompletedRequest> {
        let PendingVerdict { exchange, first_byte, at, .. } = *answered;
        let page_began = self.connections.buffers.entry(exchange).page_began;
        self.connections.buffers.clear(exchange);
        let ended = self.slab.remove(exchange)?;
        let times = ended.times(page_began.unwrap_or(first_byte), at, page_began.is_some());
        let offered = ended.offered;
        self.sent_last = ended.sent;
        let done = judged.is_ok();
        match judged {
            Ok(()) if ended.flags.is_one_way() => rec.handed_over(offered.key, times.lag),
            Ok(()) => rec.done(offered.key, times, status),
            Err(failure) => {
                let status = Some(status);
                rec.failed(offered.key, failure.class, times.lag, times.response, status);
                let sample = Sample::new(offered.key, failure.class, at, times.response);
                self.samples.add(sample.with_failure(&failure).with_status(status));
            }
        }
        Some(self.resolve(offered, at, done))
    }
}
