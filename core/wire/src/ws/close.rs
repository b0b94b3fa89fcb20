//! [`CloseCode`]: why a WebSocket was closed.

use std::fmt;

/// The code in a Close frame (RFC 6455 §7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// Reads a code in decimal digits, which a plan has checked.
    pub fn from_digits(digits: &[u8]) -> Self {
        str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).map_or(Self::NORMAL, Self)
    }

    /// The purpose is fulfilled.
    pub const NORMAL: Self = Self(1000);
    /// A Close frame without a code. It is never sent.
    pub const NONE: Self = Self(1005);
    pub(crate) const PROTOCOL_ERROR: Self = Self(1002);
    pub(crate) const INVALID_DATA: Self = Self(1007);
    pub(crate) const TOO_BIG: Self = Self(1009);

    /// Whether the code may be in a Close frame.
    pub const fn may_be_sent(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }

    /// Returns the meaning of a registered code.
    pub const fn meaning(self) -> Option<&'static str> {
        Some(match self.0 {
            1000 => "normal closure",
            1001 => "going away",
            1002 => "protocol error",
            1003 => "unsupported data",
            1005 => "no code",
            1007 => "invalid data",
            1008 => "policy violation",
            1009 => "message too big",
            1010 => "extension missing",
            1011 => "internal error",
            1012 => "service restart",
            1013 => "try again later",
            1014 => "bad gateway",
            _ => return None,
        })
    }
}

impl fmt::Display for CloseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.meaning() {
            Some(meaning) => write!(f, "{} {meaning}", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}
