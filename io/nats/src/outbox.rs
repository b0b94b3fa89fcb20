//! [`Outbox`]: messages that wait for one connection to the broker.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::{Receiver, Sender, channel, error::TrySendError};
use wavetank_link::Closed;

use crate::packet::{Packet, PlanName};

/// Messages with this many bytes together wait for one connection; further ones are lost.
const BYTES_MAX: usize = 64 << 20;
/// Bytes of a message without data, roughly.
const MESSAGE_BYTES: usize = 512;

/// A message for the broker.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) subject: String,
    pub(crate) content: Content,
    pub(crate) data: Vec<u8>,
}

/// What a message is. A line is split into parts when it is sent.
#[derive(Debug)]
pub(crate) enum Content {
    Line(Option<PlanName>),
    Packet(Packet),
}

/// The sending end.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    sender: Sender<Outgoing>,
    bytes: Arc<AtomicUsize>,
}

/// The end that the connection reads.
#[derive(Debug)]
pub(crate) struct Waiting {
    receiver: Receiver<Outgoing>,
    bytes: Arc<AtomicUsize>,
}

impl Outgoing {
    /// A message without data.
    pub(crate) const fn empty(subject: String, packet: Packet) -> Self {
        Self { subject, content: Content::Packet(packet), data: Vec::new() }
    }

    const fn bytes(&self) -> usize {
        MESSAGE_BYTES + self.data.len()
    }
}

impl Outbox {
    /// An outbox for this many messages.
    pub(crate) fn new(messages_max: usize) -> (Self, Waiting) {
        let (sender, receiver) = channel(messages_max);
        let bytes = Arc::new(AtomicUsize::new(0));
        (Self { sender, bytes: Arc::clone(&bytes) }, Waiting { receiver, bytes })
    }

    /// Appends a message without waiting. Returns false if the outbox is full.
    ///
    /// # Errors
    /// If the connection has ended.
    pub(crate) fn send(&self, outgoing: Outgoing) -> Result<bool, Closed> {
        let bytes = outgoing.bytes();
        if self.bytes.load(Ordering::Relaxed) >= BYTES_MAX {
            return Ok(false);
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let sent = self.sender.try_send(outgoing);
        if sent.is_err() {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        match sent {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => Ok(false),
            Err(TrySendError::Closed(_)) => Err(Closed),
        }
    }
}

impl Waiting {
    /// Waits for the next message. `None`: no sender is left.
    pub(crate) async fn next(&mut self) -> Option<Outgoing> {
        let outgoing = self.receiver.recv().await?;
        self.bytes.fetch_sub(outgoing.bytes(), Ordering::Relaxed);
        Some(outgoing)
    }
}

/// The outbox of the current connection, if there is one.
#[derive(Debug, Default)]
pub(crate) struct ActiveOutbox(Mutex<Option<Outbox>>);

impl ActiveOutbox {
    pub(crate) fn set(&self, outbox: Option<Outbox>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = outbox;
    }

    pub(crate) fn get(&self) -> Option<Outbox> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
