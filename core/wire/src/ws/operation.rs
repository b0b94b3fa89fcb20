//! [`Operation`]: what a step does on a WebSocket, as bytes.
//!
//! Journeys write every request as bytes, and only the connection reads them. The first byte says
//! what to do; it is below any byte that a method can start with.

use super::frame::MessageKind;

const SEND_TEXT: u8 = 1;
const SEND_BINARY: u8 = 2;
const POST_TEXT: u8 = 3;
const POST_BINARY: u8 = 4;
const WAIT: u8 = 5;
const WAIT_ON: u8 = 6;
const CLOSE: u8 = 7;

/// What a step does on a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Upgrades the connection with this HTTP request, without its `Sec-WebSocket-Key`.
    Connect(&'a [u8]),
    /// Sends a message and waits for the next one.
    Send(MessageKind, &'a [u8]),
    /// Sends a message. It is done once it was handed to the kernel.
    Post(MessageKind, &'a [u8]),
    /// Waits for a message.
    Wait,
    /// Goes on waiting, because the last message was not the right one.
    WaitOn,
    /// Closes with this code in decimal digits.
    Close(&'a [u8]),
}

impl<'a> Operation<'a> {
    /// Reads an operation. Anything unknown is the request of an upgrade.
    pub fn parse(bytes: &'a [u8]) -> Self {
        match bytes {
            [SEND_TEXT, payload @ ..] => Self::Send(MessageKind::Text, payload),
            [SEND_BINARY, payload @ ..] => Self::Send(MessageKind::Binary, payload),
            [POST_TEXT, payload @ ..] => Self::Post(MessageKind::Text, payload),
            [POST_BINARY, payload @ ..] => Self::Post(MessageKind::Binary, payload),
            [WAIT, ..] => Self::Wait,
            [WAIT_ON, ..] => Self::WaitOn,
            [CLOSE, code @ ..] => Self::Close(code),
            request => Self::Connect(request),
        }
    }

    /// The byte before the payload of a message, before the code of a close, or for a wait alone.
    pub const fn prefix(self) -> Option<u8> {
        match self {
            Self::Connect(_) => None,
            Self::Send(MessageKind::Text, _) => Some(SEND_TEXT),
            Self::Send(MessageKind::Binary, _) => Some(SEND_BINARY),
            Self::Post(MessageKind::Text, _) => Some(POST_TEXT),
            Self::Post(MessageKind::Binary, _) => Some(POST_BINARY),
            Self::Wait => Some(WAIT),
            Self::WaitOn => Some(WAIT_ON),
            Self::Close(_) => Some(CLOSE),
        }
    }
}
