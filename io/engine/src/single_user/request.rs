//! One request of a single user, from writing it to the session's evaluation of the response.

use std::sync::Arc;

use wavetank_driver::Driver;
use wavetank_journey::extract::ResponseView;
use wavetank_journey::{
    CompiledStep, FollowUp, FollowUpKind, FollowUpSink, GrpcCodec, NextMessage, Observation, Rejection,
    Retain, is_html_media_type,
};
use wavetank_measure::ErrorClass;
use wavetank_plan::{ConnectionOwner, Step};
use wavetank_units::Nanos;
use wavetank_wire::h1::{ResponseHead, ResponseSink};
use wavetank_wire::messages::Operation;

use super::connection::{RequestError, ResponseTimes, SingleConnection};
use super::trace_event::{EarlyEnd, FullResponse, RequestCause, RequestFailure, SentRequest, TraceEvent};
use super::walk::SingleUserRun;
use crate::exchange_buffers::BODY_BYTES_MAX;
use crate::failure::{self, Failure};

/// The number of body bytes that are kept to be shown, if the step does not evaluate the body.
const BODY_SHOWN_BYTES: usize = 1 << 20;

/// One message to be sent.
struct Message<'a> {
    why: RequestCause,
    target: u16,
    bytes: Arc<[u8]>,
    /// The response has no body.
    head: bool,
    idempotent: bool,
    /// Reads its messages, if it is a gRPC call.
    call: Option<&'a GrpcCodec>,
}

impl<D: Driver> SingleUserRun<'_, '_, D> {
    /// Runs the request of step `number`, with all its follow-ups. Returns what it ends, if
    /// anything.
    pub(super) fn request(&mut self, number: u16) -> Option<EarlyEnd> {
        let step = &self.context.journey.steps[usize::from(number)];
        (self.watch)(TraceEvent::Step(number));
        let begun = self.now();
        let result = match self.written(step, begun) {
            Ok(bytes) => self.asked(number, step, bytes, begun),
            Err(trouble) => Err(trouble),
        };
        self.skip_reported_variables();
        match result {
            Ok(()) => {
                self.walked.done += 1;
                (self.watch)(TraceEvent::Over(None));
                None
            }
            Err(Wrong { trouble, by_check }) => {
                (self.watch)(TraceEvent::Over(Some(&trouble)));
                let unwritten = trouble.class == ErrorClass::Data;
                self.failed(&step.name, trouble, by_check);
                self.on_failure(number, unwritten)
            }
        }
    }

    /// Returns the first message of `step`.
    fn written(&mut self, step: &CompiledStep, now: Nanos) -> Result<Arc<[u8]>, Wrong> {
        let plan = self.plan();
        let mut out = Vec::new();
        let mut scene = self.memory.scene(plan, &self.context, now);
        match step.render(&mut scene, &mut self.session, &mut out) {
            Ok(true) => Ok(out.into()),
            Ok(false) => Ok(Arc::clone(step.as_fixed().expect("a request that is not written is fixed"))),
            Err(lacking) => {
                Err(RequestFailure::from(Failure::from_missing(lacking, plan, self.context.scenario)).into())
            }
        }
    }

    /// Sends `bytes` and all follow-ups, until the last response was evaluated.
    fn asked(
        &mut self,
        number: u16,
        step: &CompiledStep,
        bytes: Arc<[u8]>,
        begun: Nanos,
    ) -> Result<(), Wrong> {
        let deadline = begun.after(step.timeout);
        let (why, target) = (RequestCause::Step, step.target);
        let (head, idempotent, call) = (step.head, step.idempotent, step.call());
        let mut message = Message { why, target, bytes, head, idempotent, call };
        let mut keeps = step.retention();
        loop {
            let (heard, kept) = self.exchange(&message, deadline, keeps)?;
            if kept.inside && heard.answer.body_bytes > kept.body.len() as u64 {
                return Err(RequestFailure::from(failure::TOO_LONG_TO_LOOK).into());
            }
            let mut next = Vec::new();
            match self.answered(number, step, &message.bytes, (&heard, &kept), (begun, &mut next)) {
                NextMessage::Leg(leg) => {
                    let FollowUp { kind, target, head, idempotent, .. } = leg;
                    message =
                        Message { why: kind.into(), target, bytes: next.into(), head, idempotent, call };
                    keeps = leg.keeps;
                }
                NextMessage::Await => {
                    let bytes = Operation::WaitOn.prefix().into();
                    message = Message { why: RequestCause::Step, bytes, ..message };
                }
                NextMessage::Over { status, judged } => {
                    let own = &self.context.scenario.steps[usize::from(number)];
                    return judged.map_err(|unwanted| Wrong::of(unwanted, step, own, status));
                }
            }
        }
    }

    /// Returns the session's decision about a response to `sent`. A follow-up is written into
    /// `next`.
    fn answered(
        &mut self,
        number: u16,
        step: &CompiledStep,
        sent: &[u8],
        (heard, kept): (&ResponseTimes, &Keep),
        (begun, next): (Nanos, &mut Vec<u8>),
    ) -> NextMessage {
        let (plan, scenario) = (self.plan(), self.context.scenario);
        let own = &scenario.steps[usize::from(number)];
        let answer = ResponseView {
            status: heard.answer.status,
            time: heard.complete - begun,
            size: heard.answer.body_bytes,
            fields: kept.fields(),
            body: &kept.body,
            jar: None,
        };
        let (mut counted, mut reported) = (Vec::new(), Vec::new());
        let (watch, walked) = (&mut *self.watch, &mut self.walked);
        let mut report = |look: Observation<'_>| match look {
            Observation::Cookie(header, fate) => watch(TraceEvent::Cookie(header, fate)),
            Observation::Extract(place, found) => {
                let extract = &own.extract[usize::from(place)];
                let name = scenario.variables.get(usize::from(extract.variable));
                watch(TraceEvent::Extracted(name.map_or("?", String::as_str), &extract.from, found));
            }
            Observation::Check(place, instead) => {
                let check = &own.checks[usize::from(place)].text;
                Self::checked(walked, &own.name, check, instead);
                watch(TraceEvent::Checked(check, instead));
            }
            Observation::Count(count, holds) => {
                let name = plan.shared.counts.get(usize::from(count));
                watch(TraceEvent::Counted(name.map_or("?", String::as_str), holds));
            }
        };
        let mut out =
            FollowUpSink { request: next, counted: &mut counted, events: &mut reported, watch: &mut report };
        let mut scene = self.memory.scene(plan, &self.context, heard.complete);
        let onward = step.on_answer(&mut scene, &mut self.session, sent, &answer, &mut out);
        for count in counted.into_iter().map(usize::from) {
            if self.walked.counts.len() <= count {
                self.walked.counts.resize(count + 1, 0);
            }
            self.walked.counts[count] += 1;
        }
        self.record_events(reported);
        onward
    }

    /// Sends one message and reads its response. It retries on a new connection if
    /// `docs/measuring.md` §1 (§1) allows it.
    fn exchange(
        &mut self,
        message: &Message<'_>,
        deadline: Nanos,
        keeps: Retain,
    ) -> Result<(ResponseTimes, Keep), RequestFailure> {
        let mut why = message.why;
        if Operation::parse(&message.bytes) == Operation::WaitOn && !self.is_readable(message.target) {
            // The answer cannot come on another connection.
            let failure = failure::AFTER_CLOSE;
            return Err(self.unanswered(RequestError::new(failure, None)));
        }
        loop {
            // A later hop has the same time to connect as the first, within the time of the whole
            // request.
            let open_until = self.now().after(self.plan().http.connect_timeout).min(deadline);
            let mut connection =
                self.connection(message, open_until).map_err(|broken| self.unanswered(broken))?;
            let mut keep = Keep::new(keeps);
            if connection.must_be_new(&message.bytes) {
                connection.close(self.plan().http.close);
                connection = self
                    .context
                    .caller
                    .open(message.target, open_until)
                    .map_err(|broken| self.unanswered(broken))?;
                (self.watch)(TraceEvent::Opened(&connection.opened));
            }
            let (address, reused) = (connection.opened.address, connection.served > 0);
            let sent = self.now();
            let heard =
                self.context.caller.ask(&mut connection, (&message.bytes, message.head), deadline, &mut keep);
            let left = heard.as_ref().map_or_else(|broken| broken.sent, |_| true);
            if left {
                self.walked.sent += 1;
                let (target, bytes, call) = (message.target, &*message.bytes, message.call);
                let request = SentRequest { why, target, address, bytes, sent, reused, call };
                (self.watch)(TraceEvent::Sent(&request));
            }
            match heard {
                Ok(heard) => {
                    if !connection.is_one_way(&message.bytes) {
                        self.reported(&heard, &keep, message.call);
                    }
                    self.put_back(message.target, connection, &heard);
                    return Ok((heard, keep));
                }
                Err(broken)
                    if broken.failure.class == ErrorClass::RequestTimeout
                        && connection.waited(&message.bytes) =>
                {
                    self.connections.insert(message.target, connection);
                    return Err(self.unanswered(broken));
                }
                Err(broken) => {
                    connection.close(self.plan().http.close);
                    let again = broken.failure.peer_closed && broken.untouched && reused;
                    if !(again && message.idempotent && why != RequestCause::Retry) {
                        let failure = broken.failure.past(deadline, self.now());
                        return Err(self.unanswered(RequestError { failure, ..broken }));
                    }
                    why = RequestCause::Retry;
                }
            }
        }
    }

    fn reported(&mut self, heard: &ResponseTimes, keep: &Keep, call: Option<&GrpcCodec>) {
        (self.watch)(TraceEvent::Answered(&FullResponse {
            status: heard.answer.status,
            head: &keep.head[..keep.trailers_at],
            trailers: &keep.head[keep.trailers_at..],
            body: &keep.body,
            body_bytes: heard.answer.body_bytes,
            sent: heard.sent,
            first_byte: heard.first_byte,
            complete: heard.complete,
            call,
        }));
    }

    fn unanswered(&mut self, broken: RequestError) -> RequestFailure {
        let (address, seen) = (broken.address, broken.seen);
        let trouble = broken.failure.into();
        (self.watch)(TraceEvent::Unanswered { trouble: &trouble, address, seen: &seen });
        trouble
    }

    /// Whether the last connection to `target` is open, or has messages that no step has read.
    fn is_readable(&mut self, target: u16) -> bool {
        self.connections
            .get_mut(&target)
            .is_some_and(|connection| !connection.has_ended() || connection.has_unread())
    }

    /// Returns a connection for a message: the last one if it is still open, or if the message
    /// reads what has arrived there before. Otherwise it opens a new one.
    fn connection(
        &mut self,
        message: &Message<'_>,
        until: Nanos,
    ) -> Result<SingleConnection<D>, RequestError> {
        let target = message.target;
        let only_waits = Operation::parse(&message.bytes).only_waits();
        let mut last_id = Vec::new();
        if let Some(mut connection) = self.connections.remove(&target) {
            if !connection.has_ended() || (only_waits && connection.has_unread()) {
                return Ok(connection);
            }
            last_id = connection.last_event_id();
            connection.close(self.plan().http.close);
        }
        let mut connection = self.context.caller.open(target, until)?;
        connection.continue_events(last_id);
        (self.watch)(TraceEvent::Opened(&connection.opened));
        Ok(connection)
    }

    /// Keeps a connection for the next request, if it may carry one.
    fn put_back(&mut self, target: u16, connection: SingleConnection<D>, heard: &ResponseTimes) {
        let http = &self.plan().http;
        let worn = http.requests_per_connection.is_some_and(|most| connection.served >= most);
        let single = self.context.scenario.connection == ConnectionOwner::Request;
        if !heard.answer.keep_alive || heard.surplus || !http.keepalive || worn || single {
            connection.close(http.close);
        } else {
            self.connections.insert(target, connection);
        }
    }
}

impl From<Failure> for RequestFailure {
    fn from(failure: Failure) -> Self {
        Self { class: failure.class, detail: failure.message() }
    }
}

/// Why a request has failed.
struct Wrong {
    trouble: RequestFailure,
    by_check: bool,
}

impl Wrong {
    /// Returns the failure for the last response, which has this status and is not acceptable.
    fn of(unwanted: Rejection, step: &CompiledStep, own: &Step, status: u16) -> Self {
        let by_check = matches!(unwanted, Rejection::Check(..));
        let mut trouble = RequestFailure::from(Failure::from_rejected(unwanted, status, step, own));
        if trouble.class == ErrorClass::Status && trouble.detail == "status" {
            trouble.detail = format!("status {status}");
        }
        Self { trouble, by_check }
    }
}

impl From<FollowUpKind> for RequestCause {
    fn from(kind: FollowUpKind) -> Self {
        match kind {
            FollowUpKind::Challenge => Self::Challenge,
            FollowUpKind::Redirect => Self::Redirect,
            FollowUpKind::Resource => Self::Resource,
        }
    }
}

impl From<RequestFailure> for Wrong {
    fn from(trouble: RequestFailure) -> Self {
        Self { trouble, by_check: false }
    }
}

/// Keeps a response.
struct Keep {
    /// The whole head as received, with the trailers.
    head: Vec<u8>,
    fields_at: usize,
    trailers_at: usize,
    body: Vec<u8>,
    keeps: Retain,
    /// Whether the step evaluates the body, as on the load threads.
    inside: bool,
}

impl Keep {
    const fn new(keeps: Retain) -> Self {
        Self { head: Vec::new(), fields_at: 0, trailers_at: 0, body: Vec::new(), keeps, inside: false }
    }

    fn fields(&self) -> &[u8] {
        &self.head[self.fields_at..]
    }
}

impl ResponseSink for Keep {
    fn head(&mut self, head: &ResponseHead<'_>) {
        self.head = head.raw.to_vec();
        self.fields_at = head.raw.len() - head.fields().len();
        self.trailers_at = head.raw.len();
        let is_page = || head.header("content-type").is_some_and(is_html_media_type);
        self.inside = self.keeps.body || (self.keeps.page && is_page());
    }

    fn trailers(&mut self, lines: &[u8]) {
        let end = self.head.strip_suffix(b"\r\n").map_or(self.head.len(), <[u8]>::len);
        self.head.truncate(end);
        self.trailers_at = end;
        self.head.extend_from_slice(lines);
    }

    fn call_fields(&mut self, lines: &[u8], trailers_at: usize) {
        self.trailers(lines);
        self.trailers_at += trailers_at;
    }

    fn body(&mut self, bytes: &[u8]) {
        let most = if self.inside { BODY_BYTES_MAX } else { BODY_SHOWN_BYTES };
        let room = most.saturating_sub(self.body.len());
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}
