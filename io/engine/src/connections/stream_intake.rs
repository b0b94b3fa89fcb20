//! [`StreamIntake`]: receives the responses of one connection with streams.

use std::collections::VecDeque;

use wavetank_units::Nanos;
use wavetank_wire::h1::{ResponseEnd, ResponseHead};
use wavetank_wire::h2::{ClientSink, StreamFailure};

use super::events::ConnectionOutcome;
use crate::exchange_buffers::ExchangeBuffers;
use crate::failure;
use crate::machine::{StreamRequest, ping_time};

/// Receives the responses of one connection.
pub(super) struct StreamIntake<'a> {
    pub(super) buffers: &'a mut ExchangeBuffers,
    pub(super) outcomes: &'a mut VecDeque<ConnectionOutcome>,
    pub(super) at: Nanos,
    pub(super) has_served: bool,
    pub(super) answered: u32,
    /// The peer refused a stream, so this connection should get no more.
    pub(super) is_refused: bool,
    /// When the ping was sent that was answered last.
    pub(super) pong: Option<Nanos>,
}

impl ClientSink<StreamRequest> for StreamIntake<'_> {
    #[inline]
    fn began(&mut self, stream: &mut StreamRequest) -> bool {
        if stream.first_byte == Nanos::MAX {
            stream.first_byte = self.at;
        }
        let flags = stream.request.flags;
        !self.buffers.is_empty() && (flags.keeps_answer() || flags.keeps_cookies())
    }

    fn head(&mut self, stream: &mut StreamRequest, head: &ResponseHead<'_>) {
        self.buffers.stream_head(stream.request.exchange, stream.request.flags, head);
    }

    fn trailers(&mut self, stream: &mut StreamRequest, lines: &[u8]) {
        self.buffers.stream_trailers(stream.request.exchange, lines);
    }

    #[inline]
    fn body(&mut self, stream: &mut StreamRequest, bytes: &[u8]) {
        if stream.request.flags.keeps_answer() && !self.buffers.is_empty() {
            self.buffers.stream_body(stream.request.exchange, bytes);
        }
    }

    fn pong(&mut self, payload: &[u8]) {
        self.pong = ping_time(payload).or(self.pong);
    }

    #[inline]
    fn answered(&mut self, stream: StreamRequest, end: ResponseEnd) {
        self.answered += 1;
        let exchange = stream.request.exchange;
        self.outcomes.push_back(ConnectionOutcome::Answered(exchange, end, stream.first_byte, self.at));
    }

    #[cold]
    fn failed(&mut self, stream: StreamRequest, failure: StreamFailure) {
        self.is_refused |= failure == StreamFailure::Refused;
        let request = stream.request;
        // A server that never does anything is not asked again and again.
        let retry =
            failure.is_untouched() && (self.has_served || !request.again) && request.deadline > self.at;
        let failure = failure::stream_failure(failure, retry).past(request.deadline, self.at);
        self.outcomes.push_back(ConnectionOutcome::Broken(request.exchange, Box::new(failure), self.at));
    }
}
