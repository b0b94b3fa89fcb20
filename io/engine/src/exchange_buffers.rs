//! [`ExchangeBuffers`]: what sessions send and what is kept of their answers, by exchange.
//!
//! A run of one URL has none. The memory of an exchange's place is used again by the next one there.

use wavetank_journey::is_html_media_type;
use wavetank_plan::Nanos;
use wavetank_wire::h1::{HeadCache, ParseError, Progress, ResponseHead, ResponseReader, ResponseSink};

use crate::request_flags::RequestFlags;
use crate::slab::Id;

/// More than this an unused place does not keep.
const IDLE_BYTES_MAX: usize = 64 << 10;
/// A body that is looked into has so many bytes at most, whatever `body_max` allows.
pub(crate) const BODY_BYTES_MAX: usize = 16 << 20;
/// All bodies that are kept at a time on one load thread.
const BODIES_BYTES_MAX: usize = 1 << 30;

/// The letters of all exchanges under way.
#[derive(Default)]
pub(crate) struct ExchangeBuffers {
    places: Vec<ExchangeBuffer>,
    /// Bytes of all bodies.
    bodies: usize,
}

/// What one exchange sends, and what is kept of its answer.
#[derive(Default)]
pub(crate) struct ExchangeBuffer {
    /// The request; empty where the step's fixed bytes are sent.
    pub(crate) request: Vec<u8>,
    /// The field lines of the answer's head.
    pub(crate) fields: Vec<u8>,
    /// The answer's body as it came.
    pub(crate) body: Vec<u8>,
    /// The body was too long to be kept.
    pub(crate) overflowed: bool,
    /// When the first byte of the page came that waits for what it embeds.
    pub(crate) page_began: Option<Nanos>,
    /// Whether the body of the answer under way is kept.
    keeps_body: bool,
    /// How much of it may be.
    room: usize,
    /// Of what was sent.
    manner: RequestFlags,
}

impl ExchangeBuffers {
    /// The letter of `exchange`, made if there is none.
    pub(crate) fn entry(&mut self, exchange: Id) -> &mut ExchangeBuffer {
        let place = exchange.place();
        if self.places.len() <= place {
            self.places.resize_with(place + 1, ExchangeBuffer::default);
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
        manner: RequestFlags,
        reader: &mut ResponseReader,
        input: &[u8],
        last: &mut HeadCache,
    ) -> Result<Progress, ParseError> {
        if manner.keeps_answer() {
            let elsewhere = self.bodies - self.entry(exchange).body.len();
            let letter = self.entry(exchange);
            letter.manner = manner;
            letter.room = BODY_BYTES_MAX.min(BODIES_BYTES_MAX.saturating_sub(elsewhere));
            let read = reader.read(input, letter);
            self.bodies = elsewhere + letter.body.len();
            read
        } else if manner.keeps_cookies() {
            let letter = self.entry(exchange);
            letter.manner = manner;
            reader.read_cookies(input, last, letter)
        } else {
            reader.read_cached(input, last)
        }
    }

    /// Something more goes out for `exchange`: nothing is kept of its last answer.
    pub(crate) fn reset_response(&mut self, exchange: Id) {
        if let Some(letter) = self.places.get_mut(exchange.place()) {
            self.bodies -= letter.body.len();
            letter.fields.clear();
            letter.body.clear();
        }
    }

    /// `exchange` is over.
    pub(crate) fn clear(&mut self, exchange: Id) {
        if let Some(letter) = self.places.get_mut(exchange.place()) {
            self.bodies -= letter.body.len();
            for bytes in [&mut letter.request, &mut letter.fields, &mut letter.body] {
                bytes.clear();
                if bytes.capacity() > IDLE_BYTES_MAX {
                    bytes.shrink_to(IDLE_BYTES_MAX);
                }
            }
            (letter.overflowed, letter.page_began) = (false, None);
        }
    }
}

impl ResponseSink for ExchangeBuffer {
    fn head(&mut self, head: &ResponseHead<'_>) {
        self.fields.clear();
        self.body.clear();
        self.overflowed = false;
        self.fields.extend_from_slice(head.fields());
        let is_page = || head.header("content-type").is_some_and(is_html_media_type);
        self.keeps_body = self.manner.keeps_body() || (self.manner.keeps_page() && is_page());
    }

    fn body(&mut self, bytes: &[u8]) {
        if self.keeps_body && !self.overflowed {
            if self.body.len() + bytes.len() > self.room {
                self.overflowed = true;
                self.body = Vec::new();
            } else {
                self.body.extend_from_slice(bytes);
            }
        }
    }
}
