//! How sessions write requests and evaluate responses.

use wavetank_journey::extract::ResponseView;
use wavetank_journey::{FollowUp, FollowUpSink, NextMessage, Observation};
use wavetank_plan::Key;
use wavetank_units::Nanos;

use super::Sessions;
use crate::completed::PendingVerdict;
use crate::exchange_buffers::ExchangeBuffer;
use crate::failure::{self, Failure};
use crate::recorder::Recorder;
use crate::slab::Id;

impl Sessions {
    /// Writes the next request of session `id` at `now`.
    pub(crate) fn write(&mut self, id: Id, now: Nanos, buffer: &mut ExchangeBuffer) -> Result<(), Failure> {
        let Some(live) = self.slab.get_mut(id) else { return Ok(()) };
        let journey = &self.journeys.scenarios[usize::from(live.key.scenario)];
        let step = journey.step(live.step, &live.session.identity, self.plan.seed);
        let mut scene = self.stage.scene(now);
        let written = step.render(&mut scene, &mut live.session, &mut buffer.request);
        if written == Ok(false)
            && !journey.is_session_independent(live.step)
            && let Some(fixed) = step.as_fixed()
        {
            // The fixed bytes of a step that connections know are those for the first of its
            // targets.
            buffer.request.extend_from_slice(fixed);
        }
        written.map(drop).map_err(|lacking| {
            Failure::from_missing(lacking, &self.plan, &self.plan.scenarios[usize::from(live.key.scenario)])
        })
    }

    /// Evaluates a response for its session. Either one more message follows for the same request,
    /// which is then in `buffer`, or the request is over.
    pub(crate) fn evaluate(
        &mut self,
        answered: &PendingVerdict,
        buffer: &mut ExchangeBuffer,
        rec: &mut Recorder,
    ) -> Verdict {
        let status = answered.answer.status;
        let over = |judged| Verdict::Over(status, judged);
        let Some(id) = self.slab.at(answered.session) else { return over(Ok(())) };
        let Some(live) = self.slab.get_mut(id) else { return over(Ok(())) };
        if buffer.overflowed {
            return over(Err(failure::TOO_LONG_TO_LOOK));
        }
        let journey = &self.journeys.scenarios[usize::from(live.key.scenario)];
        let step = journey.step(live.step, &live.session.identity, self.plan.seed);
        let fixed = step.as_fixed().map_or(&b""[..], |bytes| bytes);
        let sent = if buffer.request.is_empty() { fixed } else { &buffer.request };
        let answer = ResponseView {
            status,
            time: answered.response,
            size: answered.answer.body_bytes,
            fields: &buffer.fields,
            body: &buffer.body,
            jar: None,
        };
        self.counted.clear();
        self.broken.clear();
        self.next.clear();
        let broken = &mut self.broken;
        let mut out = FollowUpSink {
            request: &mut self.next,
            counted: &mut self.counted,
            events: &mut self.said,
            watch: &mut |look| {
                if let Observation::Check(place, Some(_)) = look {
                    broken.push(place);
                }
            },
        };
        let mut scene = self.stage.scene(answered.at);
        let (status, judged) = match step.on_answer(&mut scene, &mut live.session, sent, &answer, &mut out) {
            NextMessage::Over { status, judged } => (status, judged),
            NextMessage::Await => return Verdict::Await,
            NextMessage::Leg(leg) => {
                std::mem::swap(&mut buffer.request, &mut self.next);
                return Verdict::Leg(leg);
            }
        };
        let key = Key { step: live.step, ..live.key };
        rec.checks_done(key, &self.broken, &self.counted);
        let planned = &self.plan.scenarios[usize::from(key.scenario)].steps[usize::from(key.step)];
        let judged = judged.map_err(|unwanted| Failure::from_rejected(unwanted, status, step, planned));
        Verdict::Over(status, judged)
    }
}

/// A session's decision about a response.
pub(crate) enum Verdict {
    /// One more message follows for the same request.
    Leg(FollowUp),
    /// The message was not the awaited one, so the request goes on.
    Await,
    /// The request is over, with this status. The response is acceptable or not.
    Over(u16, Result<(), Failure>),
}
