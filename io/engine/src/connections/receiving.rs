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
    pub(super) fn received(&mut self, link: ConnId, len: usize, at: Nanos, rec: &mut Recorder) {
        rec.bytes_received(if D::HAS_RECORDS {
            stream_bytes(self.driver.received(len)) as usize
        } else {
            len
        });
        let seat = self.seat_of(link);
        let entry = &mut self.seats[seat as usize];
        let is_ending = self.driver.is_ending(link);
        let mut input = self.driver.received(len);
        while !input.is_empty() {
            let talk = entry.talk.get_or_insert_with(|| self.talks.take_for(seat, entry.parked));
            let Machine::Http1(reader) = &mut talk.machine else {
                return self.other_received(seat, link, len, at, rec);
            };
            let Some(flight) = talk.flights.first_sent() else {
                if talk.flights.is_refused() {
                    // The peer's last message, e.g. about its own timeout. The end of the
                    // connection follows.
                    return;
                }
                if entry.state == ConnState::Tunnelling {
                    return self.tunnel_answered(link, len, at, rec);
                }
                // These bytes were not requested, so the framing is lost.
                return self.end(seat, Failure::new(ErrorClass::Protocol), true, at, rec);
            };
            if !reader.has_begun() {
                talk.first_byte = at;
            }
            let last = &mut self.last_answer;
            let read = if self.letters.is_empty() {
                reader.read_cached(input, last)
            } else {
                self.letters.read(flight.exchange, flight.manner, reader, input, last)
            };
            let progress = match read {
                Ok(progress) => progress,
                Err(fault) => return self.end(seat, failure::protocol_failure(fault), true, at, rec),
            };
            let Some(answer) = progress.answer else { return };
            input = &input[progress.consumed..];
            talk.flights.pop_sent();
            let is_surplus = !input.is_empty() && talk.flights.sent() == 0;
            let answered = ConnectionOutcome::Answered(flight.exchange, answer, talk.first_byte, at);
            if let Some(next) = talk.flights.first_sent().filter(|_| answer.keep_alive) {
                reader.expect(next.manner.is_head());
            }
            let lasts = entry.serve();
            self.outcomes.push_back(answered);
            if !answer.keep_alive || !lasts {
                return self.end(seat, failure::AFTER_CLOSE, false, at, rec);
            }
            if is_surplus {
                // The answer is whole. What follows it would be taken for the next one.
                return self.end(seat, failure::AFTER_CLOSE, true, at, rec);
            }
        }
        // The end came with the answer: nothing more can be asked for here.
        if !is_ending {
            self.free(seat, at, rec);
        } else if self.seats[seat as usize].sent() == 0 {
            self.end(seat, failure::AFTER_CLOSE, true, at, rec);
        }
    }
}
