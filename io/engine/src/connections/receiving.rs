//! Bytes that arrive: responses, and what follows them.

use wavetank_driver::{ConnId, Driver};
use wavetank_measure::ErrorClass;
use wavetank_units::Nanos;
use wavetank_wire::h3::records::stream_bytes;

use super::Connections;
use super::events::ConnectionOutcome;
use crate::conn_slot::ConnState;
use crate::failure::{self, Failure};
use crate::machine::Machine;
use crate::recorder::Recorder;

impl<D: Driver> Connections<D> {
    #[inline]
    pub(super) fn received(&mut self, conn: ConnId, len: usize, at: Nanos, rec: &mut Recorder) {
        rec.bytes_received(if D::HAS_RECORDS {
            stream_bytes(self.driver.received(len)) as usize
        } else {
            len
        });
        let slot = self.slot_of(conn);
        let entry = &mut self.slots[slot as usize];
        let is_ending = self.driver.is_ending(conn);
        let mut input = self.driver.received(len);
        while !input.is_empty() {
            let io = entry.io.get_or_insert_with(|| self.io_pool.take_for(slot, entry.parked));
            let Machine::Http1(reader) = &mut io.machine else {
                return self.other_received(slot, conn, len, at, rec);
            };
            let Some(request) = io.queue.first_sent() else {
                if io.queue.is_refused() {
                    // The peer's last message, e.g. about its own timeout. The end of the
                    // connection follows.
                    return;
                }
                if entry.state == ConnState::Tunnelling {
                    return self.tunnel_answered(conn, len, at, rec);
                }
                // These bytes were not requested, so the framing is lost.
                return self.end(slot, Failure::new(ErrorClass::Protocol), true, at, rec);
            };
            if !reader.has_begun() {
                io.first_byte = at;
            }
            let last = &mut self.last_answer;
            let read = if self.buffers.is_empty() {
                reader.read_cached(input, last)
            } else {
                self.buffers.read(request.exchange, request.flags, reader, input, last)
            };
            let progress = match read {
                Ok(progress) => progress,
                Err(fault) => return self.end(slot, failure::protocol_failure(fault), true, at, rec),
            };
            let Some(answer) = progress.answer else { return };
            input = &input[progress.consumed..];
            io.queue.pop_sent();
            let is_surplus = !input.is_empty() && io.queue.sent() == 0;
            let answered = ConnectionOutcome::Answered(request.exchange, answer, io.first_byte, at);
            if let Some(next) = io.queue.first_sent().filter(|_| answer.keep_alive) {
                reader.expect(next.flags.is_head());
            }
            let lasts = entry.serve();
            self.outcomes.push_back(answered);
            if !answer.keep_alive || !lasts {
                return self.end(slot, failure::AFTER_CLOSE, false, at, rec);
            }
            if is_surplus {
                // The answer is whole. What follows it would be taken for the next one.
                return self.end(slot, failure::AFTER_CLOSE, true, at, rec);
            }
        }
        // The end came with the answer: nothing more can be asked for here.
        if !is_ending {
            self.free(slot, at, rec);
        } else if self.slots[slot as usize].sent() == 0 {
            self.end(slot, failure::AFTER_CLOSE, true, at, rec);
        }
    }
}
