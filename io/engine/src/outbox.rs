//! [`Outbox`]: messages to the thread that controls the load threads.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, TrySendError};

use crate::messages::Message;

/// The number of messages kept while their reader is busy: ten minutes of intervals. Later
/// intervals are lost, and the loss is reported.
const UNSENT_MAX: usize = 600;

/// Sends without waiting, because a reader that is slow or gone must never delay the load.
pub(crate) struct Outbox {
    messages: SyncSender<Message>,
    /// Messages for which the reader had no room.
    unsent: VecDeque<Message>,
    lost: u64,
}

impl Outbox {
    pub(crate) const fn new(messages: SyncSender<Message>) -> Self {
        Self { messages, unsent: VecDeque::new(), lost: 0 }
    }

    pub(crate) fn send(&mut self, message: Message) {
        // Only intervals are sent without end. Messages that are sent once must arrive.
        if self.unsent.len() >= UNSENT_MAX && matches!(message, Message::Sealed(_)) {
            self.lost += 1;
        } else {
            self.unsent.push_back(message);
        }
        self.flush();
    }

    /// Sends kept messages until the reader has no more room.
    #[inline]
    pub(crate) fn flush(&mut self) {
        while let Some(message) = self.unsent.pop_front() {
            if let Err(TrySendError::Full(message)) = self.messages.try_send(message) {
                self.unsent.push_front(message);
                return;
            }
        }
    }

    /// Returns how many intervals were lost since the last call.
    pub(crate) fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Sends all messages and waits for room, since at the end there is no load to delay.
    pub(crate) fn close(self, last: impl IntoIterator<Item = Message>) {
        for message in self.unsent.into_iter().chain(last) {
            if self.messages.send(message).is_err() {
                return;
            }
        }
    }
}
