//! [`Outbox`]: messages to the one who runs the load threads.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, TrySendError};

use crate::messages::Message;

/// Messages kept back while their reader is busy: ten minutes of intervals. Later intervals are lost, and that
/// is told.
const UNSENT_MAX: usize = 600;

/// Sends without waiting: a reader that is slow or gone must never hold up the load.
pub(crate) struct Outbox {
    messages: SyncSender<Message>,
    /// What the reader had no room for.
    unsent: VecDeque<Message>,
    lost: u64,
}

impl Outbox {
    pub(crate) const fn new(messages: SyncSender<Message>) -> Self {
        Self { messages, unsent: VecDeque::new(), lost: 0 }
    }

    pub(crate) fn send(&mut self, message: Message) {
        // Only intervals come without end; what is said once must arrive.
        if self.unsent.len() >= UNSENT_MAX && matches!(message, Message::Sealed(_)) {
            self.lost += 1;
        } else {
            self.unsent.push_back(message);
        }
        self.flush();
    }

    /// Send what was kept back, as far as there is room.
    #[inline]
    pub(crate) fn flush(&mut self) {
        while let Some(message) = self.unsent.pop_front() {
            if let Err(TrySendError::Full(message)) = self.messages.try_send(message) {
                self.unsent.push_front(message);
                return;
            }
        }
    }

    /// How many intervals were lost since the last call.
    pub(crate) fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Send everything and wait for it: at the end there is no load to hold up.
    pub(crate) fn close(self, last: impl IntoIterator<Item = Message>) {
        for message in self.unsent.into_iter().chain(last) {
            if self.messages.send(message).is_err() {
                return;
            }
        }
    }
}
