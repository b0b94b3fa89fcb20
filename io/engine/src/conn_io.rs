//! [`ConnIo`]: what goes on on a seat's connection: its requests, the answer that is being read, its timer.
//!
//! A seat has one from its first opening on. Where a million connections are held and nearly all of them are idle, those
//! have none: it is lent to them for the time of an opening or of a request.

use wavetank_pace::TimerId;
use wavetank_plan::Nanos;
use wavetank_wire::h1::{Limits, ResponseReader};

use crate::request_queue::RequestQueue;

/// See the module's description.
pub(crate) struct ConnIo {
    /// Sent and unanswered, and waiting for this seat's connection.
    pub(crate) flights: RequestQueue,
    pub(crate) reader: ResponseReader,
    /// When the first byte of the answer under way came; before there is any, when it was connected.
    pub(crate) first_byte: Nanos,
    /// When the earliest timer set for this seat goes off; [`Nanos::MAX`] if there is none.
    pub(crate) armed: Nanos,
    /// That timer.
    pub(crate) timer: Option<TimerId>,
    /// Tuples the kernel refused in the present opening.
    pub(crate) refused: u8,
}

impl ConnIo {
    /// One in which nothing has been said.
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            flights: RequestQueue::default(),
            reader: ResponseReader::new(limits),
            first_byte: Nanos::ZERO,
            armed: Nanos::MAX,
            timer: None,
            refused: 0,
        }
    }
}

/// Those that nobody has at the moment, to be had without asking for memory.
pub(crate) struct ConnIoPool {
    limits: Limits,
    #[expect(clippy::vec_box, reason = "they are handed out as they are")]
    spare: Vec<Box<ConnIo>>,
}

/// More than are handed back in a turn; after a burst the rest of the memory is given back.
const SPARE_MAX: usize = 1_024;

impl ConnIoPool {
    pub(crate) const fn new(limits: Limits) -> Self {
        Self { limits, spare: Vec::new() }
    }

    /// What an answer may be.
    pub(crate) const fn limits(&self) -> Limits {
        self.limits
    }

    /// One for a seat that has none.
    #[cold]
    pub(crate) fn take(&mut self) -> Box<ConnIo> {
        self.spare.pop().unwrap_or_else(|| Box::new(ConnIo::new(self.limits)))
    }

    /// One that has come to its end, without any request or timer.
    pub(crate) fn put(&mut self, talk: Box<ConnIo>) {
        if self.spare.len() < SPARE_MAX && talk.reader.is_idle() {
            self.spare.push(talk);
        }
    }
}
