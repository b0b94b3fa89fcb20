//! [`Letters`]: what sessions send and what is kept of their answers, by exchange.
//!
//! A run of one URL has none. The memory of an exchange's place is used again by the next one there.

use wavetank_journey::Keeps;
use wavetank_wire::h1::{Fault, LastAnswer, Progress, ResponseHead, ResponseReader, ResponseSink};

use crate::slab::Id;

/// More than this an unused place does not keep.
const IDLE_BYTES_MAX: usize = 64 << 10;

/// The letters of all exchanges under way.
#[derive(Default)]
pub(crate) struct Letters {
    places: Vec<Letter>,
}

/// What one exchange sends, and what is kept of its answer.
#[derive(Default)]
pub(crate) struct Letter {
    /// The request; empty where the step's fixed bytes are sent.
    pub(crate) request: Vec<u8>,
    /// The field lines of the answer's head.
    pub(crate) fields: Vec<u8>,
    /// The answer's body as it came.
    pub(crate) body: Vec<u8>,
    /// Whether the body is to be kept.
    pub(crate) keeps_body: bool,
}

impl Letters {
    /// The letter of `exchange`, made if there is none.
    pub(crate) fn of(&mut self, exchange: Id) -> &mut Letter {
        let place = exchange.place();
        if self.places.len() <= place {
            self.places.resize_with(place + 1, Letter::default);
        }
        &mut self.places[place]
    }

    /// Whether nobody has ever written one: then nothing is kept of answers, either.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// What `exchange` sends, if it is not the step's fixed bytes.
    #[inline]
    pub(crate) fn request(&self, exchange: Id) -> Option<&[u8]> {
        let letter = self.places.get(exchange.place())?;
        (!letter.request.is_empty()).then_some(&letter.request)
    }

    /// Read `input`, of the answer to `exchange`, keeping what is to be kept of it.
    #[inline]
    pub(crate) fn read(
        &mut self,
        exchange: Id,
        keeps: Keeps,
        reader: &mut ResponseReader,
        input: &[u8],
        last: &mut LastAnswer,
    ) -> Result<Progress, Fault> {
        if keeps.fields || keeps.body {
            reader.read(input, self.of(exchange))
        } else if keeps.cookies {
            reader.read_cookies(input, last, self.of(exchange))
        } else {
            reader.read_alike(input, last)
        }
    }

    /// `exchange` is over.
    pub(crate) fn clear(&mut self, exchange: Id) {
        if let Some(letter) = self.places.get_mut(exchange.place()) {
            for bytes in [&mut letter.request, &mut letter.fields, &mut letter.body] {
                bytes.clear();
                if bytes.capacity() > IDLE_BYTES_MAX {
                    bytes.shrink_to(IDLE_BYTES_MAX);
                }
            }
        }
    }
}

impl ResponseSink for Letter {
    fn head(&mut self, head: &ResponseHead<'_>) {
        self.fields.clear();
        self.body.clear();
        self.fields.extend_from_slice(head.fields());
    }

    fn body(&mut self, bytes: &[u8]) {
        if self.keeps_body {
            self.body.extend_from_slice(bytes);
        }
    }
}
