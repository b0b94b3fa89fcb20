//! [`HandshakeQueue`]: the order in which handshakes do their expensive steps.

use std::collections::VecDeque;

use super::machine::TlsState;
use super::stream::TlsStage;
use super::{Stream, Tls};
use crate::driver::{ConnId, Driver};

/// Steps between two waits; a step is up to 150 µs of public-key cryptography.
const STEPS_MAX: u32 = 4;
/// While steps wait, this many events of the inner driver go ahead of each step.
const EVENTS_PER_STEP: u32 = 16;

/// The queue of handshakes that can continue, in the order in which they became ready. Each
/// connection is in it at most once.
#[derive(Default)]
pub(super) struct HandshakeQueue {
    queue: VecDeque<ConnId>,
    /// Steps left in this turn.
    left: u32,
    /// Events of the inner driver since the last step.
    passed: u32,
}

impl HandshakeQueue {
    pub(super) fn begin_turn(&mut self) {
        self.left = STEPS_MAX;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Counts one more event that has gone ahead.
    pub(super) fn note_other_event(&mut self) {
        self.passed += 1;
    }

    /// Returns whether enough events have gone ahead.
    pub(super) fn is_due(&self) -> bool {
        self.passed >= EVENTS_PER_STEP && self.has_work_left()
    }

    pub(super) fn has_work_left(&self) -> bool {
        self.left > 0 && !self.queue.is_empty()
    }

    pub(super) fn push(&mut self, stream: &mut Stream) {
        if !std::mem::replace(&mut stream.queued, true) {
            self.queue.push_back(stream.id);
        }
    }

    fn pop(&mut self) -> Option<ConnId> {
        self.passed = 0;
        self.queue.pop_front()
    }
}

impl<D: Driver> Tls<D> {
    /// Does one step of the first handshake in the queue.
    pub(super) fn step_next(&mut self) {
        let Some(conn) = self.handshakes.pop() else { return };
        let Some(stream) = self.streams.get(conn) else { return };
        stream.queued = false;
        self.handshakes.left -= 1;
        self.step(conn);
    }

    /// Does one step of this connection's handshake, even if others are ahead of it.
    pub(super) fn step(&mut self, conn: ConnId) {
        let Some(stream) = self.streams.get(conn) else { return };
        // It may have failed since it was queued.
        if stream.stage != TlsStage::Over {
            if stream.machine.is_none() {
                let Some((client, dial)) = self.client.as_ref().zip(stream.dial) else { return };
                match client.begin(dial) {
                    Ok(machine) => stream.machine = Some(TlsState::Client(Box::new(machine))),
                    Err(error) => return self.fail(conn, &error),
                }
            }
            self.incoming.clear();
            self.incoming.append(&mut stream.rest);
            self.advance(conn);
        }
        // The inner connection may have ended while this one was in the queue.
        let ended = self.streams.get(conn).and_then(|stream| stream.extra.as_mut()?.ended.take());
        if let Some(how) = ended {
            self.ended(conn, how);
        }
    }

    /// Returns whether the handshake of this connection has just become complete.
    pub(super) fn opened(stream: &mut Stream) -> bool {
        let shaking = stream.stage == TlsStage::Shaking;
        let open = stream.machine.as_ref().is_some_and(|machine| !machine.state().is_handshaking());
        if shaking && open {
            stream.stage = TlsStage::Open;
        }
        shaking && open
    }
}
