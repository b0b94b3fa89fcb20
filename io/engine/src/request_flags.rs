//! [`RequestFlags`]: the properties of a message to a target that connections must know, in
//! addition to its bytes.

use wavetank_journey::{CompiledStep, FollowUp, Retain};

/// The properties of a message; see the module documentation. It is one byte, because every
/// connection stores one for its request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestFlags(u8);

impl RequestFlags {
    const HEAD: u8 = 1;
    const IDEMPOTENT: u8 = 2;
    const FIELDS: u8 = 4;
    const BODY: u8 = 8;
    const PAGE: u8 = 16;
    const COOKIES: u8 = 32;
    const ONE_WAY: u8 = 64;
    const WAITS: u8 = 128;

    /// Returns the properties of a step's request.
    pub(crate) fn from_step(step: &CompiledStep) -> Self {
        let Self(bits) = Self::new(step.head, step.idempotent, step.retention());
        let one_way = if step.is_one_way() { Self::ONE_WAY } else { 0 };
        Self(bits | one_way | if step.only_waits() { Self::WAITS } else { 0 })
    }

    /// Returns the properties of a follow-up message.
    pub(crate) fn from_leg(leg: &FollowUp) -> Self {
        Self::new(leg.head, leg.idempotent, leg.keeps)
    }

    fn new(head: bool, idempotent: bool, keeps: Retain) -> Self {
        let all = [
            (head, Self::HEAD),
            (idempotent, Self::IDEMPOTENT),
            (keeps.fields, Self::FIELDS),
            (keeps.body, Self::BODY),
            (keeps.page, Self::PAGE),
            (keeps.cookies, Self::COOKIES),
        ];
        Self(all.into_iter().filter(|&(is, _)| is).fold(0, |bits, (_, bit)| bits | bit))
    }

    /// Those of a message that awaits no answer.
    #[cfg(test)]
    pub(crate) const fn one_way() -> Self {
        Self(Self::ONE_WAY)
    }

    /// The response has no body.
    #[inline]
    pub(crate) const fn is_head(self) -> bool {
        self.0 & Self::HEAD != 0
    }

    /// The message may be sent again on another connection (RFC 9110 §9.2.2).
    pub(crate) const fn is_idempotent(self) -> bool {
        self.0 & Self::IDEMPOTENT != 0
    }

    /// The message awaits no answer.
    pub(crate) const fn is_one_way(self) -> bool {
        self.0 & Self::ONE_WAY != 0
    }

    /// It sends nothing and awaits messages.
    pub(crate) const fn only_waits(self) -> bool {
        self.0 & Self::WAITS != 0
    }

    /// A part of every response is kept.
    #[inline]
    pub(crate) const fn keeps_answer(self) -> bool {
        self.0 & (Self::FIELDS | Self::BODY | Self::PAGE) != 0
    }

    /// A part of responses that set cookies is kept.
    #[inline]
    pub(crate) const fn keeps_cookies(self) -> bool {
        self.0 & Self::COOKIES != 0
    }

    /// The fields of the head or of a message are kept.
    pub(crate) const fn keeps_fields(self) -> bool {
        self.0 & Self::FIELDS != 0
    }

    /// The body is kept.
    pub(crate) const fn keeps_body(self) -> bool {
        self.0 & Self::BODY != 0
    }

    /// The body is kept if it is an HTML page.
    pub(crate) const fn keeps_page(self) -> bool {
        self.0 & Self::PAGE != 0
    }
}
