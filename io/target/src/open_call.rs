//! [`OpenCall`]: a gRPC call of the echo service that answers each message when it arrives.

use std::collections::VecDeque;

use wavetank_units::Nanos;

use crate::grpc::{GrpcReply, Rpc};
use crate::truth::Counts;

/// The bytes before each message.
const PREFIX_BYTES: usize = 5;
/// The most bytes of one message.
const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// A client that reads nothing gets at most this much.
const OUT_BYTES_MAX: usize = 16 << 20;
const RESOURCE_EXHAUSTED: u16 = 8;

/// See the module's description.
#[derive(Debug, Default)]
pub(crate) struct OpenCall {
    /// What has arrived of the next message.
    arrived: Vec<u8>,
    /// The answers that are due later, in order.
    answers: VecDeque<(Nanos, GrpcReply)>,
    /// The memory for them, approximately.
    answer_bytes: usize,
    /// The client has ended its side.
    is_complete: bool,
}

impl OpenCall {
    /// Reads bytes of the client.
    pub(crate) fn read(&mut self, bytes: &[u8], now: Nanos, counts: &Counts) {
        if self.has_failed() {
            return;
        }
        self.arrived.extend_from_slice(bytes);
        let mut at = 0;
        while let Some([_, length @ ..]) = self.arrived[at..].first_chunk::<PREFIX_BYTES>() {
            let length = u32::from_be_bytes(*length) as usize;
            if length > MESSAGE_BYTES_MAX {
                self.fail("a message has more than 1 MiB", now);
                break;
            }
            let Some(frame) = self.arrived.get(at..at + PREFIX_BYTES + length) else { break };
            at += frame.len();
            let (reply, delay) = Rpc::Chat.answer(frame, counts);
            self.answer_bytes += bytes_of(&reply);
            self.answers.push_back((now.after(delay), reply));
            if self.answer_bytes > OUT_BYTES_MAX && !self.has_failed() {
                self.fail("too many answers are due later", now);
            }
            if self.has_failed() {
                break;
            }
        }
        self.arrived.drain(..at);
    }

    /// Notes that the client has ended its side.
    pub(crate) const fn complete(&mut self) {
        self.is_complete = true;
    }

    /// Whether the last answer ends the call.
    fn has_failed(&self) -> bool {
        self.answers.back().is_some_and(|(_, reply)| reply.status != 0)
    }

    fn fail(&mut self, message: &str, now: Nanos) {
        self.answers.push_back((now, GrpcReply::failed(RESOURCE_EXHAUSTED, message.to_owned())));
    }

    /// Writes the messages that are due. `unsent`: the bytes that wait for the client. Returns the
    /// trailers if the call is over, and otherwise when the next message is due.
    pub(crate) fn write(
        &mut self,
        now: Nanos,
        unsent: usize,
        out: &mut Vec<u8>,
        counts: &Counts,
    ) -> Result<Option<Nanos>, GrpcReply> {
        while let Some((_, reply)) = self.answers.pop_front_if(|(at, _)| *at <= now) {
            self.answer_bytes = self.answer_bytes.saturating_sub(bytes_of(&reply));
            if unsent + out.len() > OUT_BYTES_MAX {
                let message = "the client does not read".to_owned();
                return Err(GrpcReply::failed(RESOURCE_EXHAUSTED, message));
            }
            if reply.status != 0 {
                return Err(reply);
            }
            counts.messages_sent.add(reply.messages);
            out.extend_from_slice(&reply.body);
        }
        match self.answers.front() {
            Some((at, _)) => Ok(Some(*at)),
            None if self.is_complete => Err(GrpcReply::default()),
            None => Ok(None),
        }
    }
}

const fn bytes_of(reply: &GrpcReply) -> usize {
    size_of::<(Nanos, GrpcReply)>() + reply.body.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_answers_are_bounded() {
        let counts = Counts::new(std::sync::Arc::default());
        let mut call = OpenCall::default();
        // delay_ms = 10,000, and a text of 100 bytes.
        let body = [&[0x18, 0x90, 0x4e, 0x0a, 100][..], &[b'x'; 100]].concat();
        let late = [&[0, 0, 0, 0, body.len() as u8][..], &body].concat();
        let mut sent = 0;
        while !call.has_failed() {
            call.read(&late, Nanos::ZERO, &counts);
            sent += late.len();
            assert!(sent <= 2 * OUT_BYTES_MAX, "{sent} bytes were kept");
        }
        let (at, failed) = call.answers.back().expect("an answer");
        assert_eq!((*at, failed.status), (Nanos::ZERO, RESOURCE_EXHAUSTED));
        assert_eq!(call.answers.front().map(|(at, _)| *at), Some(Nanos::from_secs(10)));
    }
}
