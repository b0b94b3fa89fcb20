//! Requests on connections that carry messages: what they send, and messages that have arrived
//! before them.

use wavetank_driver::{ConnId, Driver, SendStatus};
use wavetank_units::Nanos;
use wavetank_wire::messages::{MessageClient, Operation, Started};

use super::Connections;
use super::events::ConnectionOutcome;
use super::message_intake::{begin_call_answer, keep_message, message_end};
use super::replies::send_out;
use crate::failure;
use crate::machine::Machine;
use crate::recorder::Recorder;
use crate::request_queue::QueuedRequest;

impl<D: Driver> Connections<D> {
    /// Hands a request to a connection that is not HTTP/1.
    #[inline(never)]
    pub(super) fn dispatch_other(
        &mut self,
        slot: u32,
        request: QueuedRequest,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        if self.uses_streams(slot) {
            return self.dispatch_stream(slot, request, at);
        }
        let at = self.fresh(at);
        let Self { slots, requests, buffers, io_pool, upgrades, .. } = self;
        let entry = &mut slots[slot as usize];
        let (Some(conn), Some(io), Some(upgrades)) = (entry.conn, &mut entry.io, upgrades) else {
            return;
        };
        let Machine::Messages(own) = &mut io.machine else { return };
        let fixed = &requests.get(request.scenario, request.step).bytes;
        let operation = Operation::parse(buffers.request(request.exchange).unwrap_or(fixed));
        if own.end.is_some() && !operation.only_waits() {
            // What is left on the connection is not read any more. The request opens another one.
            io.queue.wait(request);
            return self.end_read(slot, at, rec);
        }
        let goes_on = operation == Operation::WaitOn;
        let is_call = matches!(&own.client, MessageClient::Call(_));
        let messages = operation.message_count(is_call);
        let has_whole_answer = is_call && matches!(operation, Operation::Connect(_) | Operation::Close(_));
        let started = own.start(operation, &mut upgrades.deflater, io_pool.last_id(slot));
        if has_whole_answer && started == Started::Sends {
            begin_call_answer(buffers, request, &mut own.inbox);
        }
        match started {
            Started::NeedsNewConnection => {
                send_out(&mut self.driver, conn, &mut own.client);
                // The closed connection is replaced by another one, because a request waits.
                io.queue.wait(request);
                self.end(slot, failure::AFTER_CLOSE, false, at, rec);
                self.io_pool.forget_last_id(slot);
            }
            Started::NotOpen => {
                let failure = failure::not_open(self.protocol_of(slot));
                self.outcomes.push_back(ConnectionOutcome::Broken(request.exchange, Box::new(failure), at));
            }
            Started::Refused(fault) => {
                let failure = Box::new(failure::unsendable(fault));
                self.outcomes.push_back(ConnectionOutcome::Broken(request.exchange, failure, at));
            }
            Started::Done => self.complete_alone(request, at),
            Started::Closes => {
                self.complete_alone(request, at);
                self.end(slot, failure::AFTER_CLOSE, false, at, rec);
                self.io_pool.forget_last_id(slot);
            }
            Started::Waits => {
                if !goes_on {
                    self.outcomes.push_back(ConnectionOutcome::Sent(request.exchange, at));
                }
                self.wait_for_message(slot, conn, request, at, rec);
                self.end_read(slot, at, rec);
            }
            Started::Sends => {
                if messages > 0 {
                    let entry = &self.slots[slot as usize];
                    rec.messages(entry.phase, entry.target, (messages, 0));
                }
                self.send_message(slot, conn, request, at, rec);
            }
        }
    }

    /// Completes a request that sends nothing and awaits nothing.
    fn complete_alone(&mut self, request: QueuedRequest, at: Nanos) {
        let end = message_end(0, 0);
        self.outcomes.extend([
            ConnectionOutcome::Sent(request.exchange, at),
            ConnectionOutcome::Answered(request.exchange, end, at, at),
        ]);
    }

    /// Answers a request with a message that has arrived, or lets it wait for the next one.
    fn wait_for_message(
        &mut self,
        slot: u32,
        conn: ConnId,
        request: QueuedRequest,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        let Self { slots, buffers, outcomes, .. } = self;
        let Some(io) = &mut slots[slot as usize].io else { return };
        let Machine::Messages(own) = &mut io.machine else { return };
        let Some(message) = own.inbox.pop_recent() else {
            io.queue.push_sent(request);
            self.arm_for(slot, request.deadline);
            return self.read_early_answer(slot, conn, at, rec);
        };
        keep_message(buffers, request, &message);
        let end = message_end(0, message.body.len() as u64);
        outcomes.push_back(ConnectionOutcome::Answered(request.exchange, end, at, at));
    }

    /// Answers a request with bytes of a TCP connection that have arrived before it.
    fn read_early_answer(&mut self, slot: u32, conn: ConnId, at: Nanos, rec: &mut Recorder) {
        let io = self.slots[slot as usize].io.as_deref();
        let has_unread = io.is_some_and(|io| match &io.machine {
            Machine::Messages(own) => own.client.has_unread(),
            _ => false,
        });
        if has_unread {
            self.read_messages(slot, conn, 0..0, at, rec);
        }
    }

    /// Sends what the machine has written for `request`.
    fn send_message(
        &mut self,
        slot: u32,
        conn: ConnId,
        request: QueuedRequest,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        let Some(io) = &mut self.slots[slot as usize].io else { return };
        let Machine::Messages(own) = &mut io.machine else { return };
        let sent = self.driver.send(conn, own.client.out());
        own.client.out().clear();
        io.queue.push_sent(request);
        if !D::SENDS_LATER {
            self.worked_until = self.driver.now();
            rec.send_call(self.worked_until.since(at));
        }
        if sent.is_ok() {
            self.on_send_queued(conn, request.exchange, at);
        } else {
            // The driver reports the end after earlier messages. The end decides about this one.
            self.io_of(slot).queue.refuse();
        }
        if sent == Ok(SendStatus::All) && request.flags.is_one_way() {
            return self.hand_over(slot, request, at);
        }
        // A message of which a part is not with the kernel is done when the peer has read enough.
        self.arm_for(slot, request.deadline);
        if sent.is_ok() {
            self.read_early_answer(slot, conn, at, rec);
        }
    }

    /// Completes a message that awaits no answer, now that it was handed to the driver.
    fn hand_over(&mut self, slot: u32, request: QueuedRequest, at: Nanos) {
        if D::SENDS_LATER {
            // It is done once the kernel has it. Otherwise the session would wait for the next
            // event of another connection.
            self.flush_all();
        }
        let Some(io) = &mut self.slots[slot as usize].io else { return };
        if io.queue.is_refused() {
            return;
        }
        io.queue.pop_last_sent();
        let end = message_end(0, 0);
        self.outcomes.push_back(ConnectionOutcome::Answered(request.exchange, end, at, at));
    }
}
