//! [`Operation`]: what a step does on a connection that carries messages, as bytes.
//!
//! Journeys write every request as bytes, and only the connection reads them. The first byte says
//! what to do; it is below any byte that a method can start with.

use crate::grpc::count_frames;
use crate::raw::ReadRule;
use crate::ws::MessageKind;

const SEND_TEXT: u8 = 1;
const SEND_BINARY: u8 = 2;
const POST_TEXT: u8 = 3;
const POST_BINARY: u8 = 4;
const WAIT: u8 = 5;
const WAIT_ON: u8 = 6;
const CLOSE: u8 = 7;
const ASK: u8 = 8;
const READ: u8 = 9;
/// A connection that needs no request to be used.
const USE: u8 = 10;
const OPEN: u8 = 11;

/// What a step does on a connection that carries messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Upgrades the connection with this HTTP request, without its `Sec-WebSocket-Key`, or requests
    /// an event stream with it. On raw TCP it is empty. It is a whole gRPC call.
    Connect(&'a [u8]),
    /// Starts a gRPC call with this head of a request. It is done once it was handed to the kernel.
    Open(&'a [u8]),
    /// Sends a message and waits for the next one.
    Send(MessageKind, &'a [u8]),
    /// Sends a message. It is done once it was handed to the kernel.
    Post(MessageKind, &'a [u8]),
    /// Waits for a message.
    Wait,
    /// Goes on waiting, because the last message was not the right one.
    WaitOn,
    /// Closes with this code in decimal digits, which only a WebSocket needs. It ends our side of a
    /// gRPC call, and waits for the end of the other.
    Close(&'a [u8]),
    /// Sends bytes and waits for an answer of this extent.
    Ask(ReadRule<'a>, &'a [u8]),
    /// Waits for bytes of this extent.
    Read(ReadRule<'a>),
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
            [USE, ..] => Self::Connect(b""),
            [OPEN, request @ ..] => Self::Open(request),
            [ASK, rest @ ..] if let Some((rule, payload)) = ReadRule::parse(rest) => Self::Ask(rule, payload),
            [READ, rest @ ..] if let Some((rule, _)) = ReadRule::parse(rest) => Self::Read(rule),
            request => Self::Connect(request),
        }
    }

    /// Returns the bytes before the payload of a message or before the code of a close. They are
    /// everything if there is neither. The request of an upgrade needs none.
    pub fn prefix(self) -> Vec<u8> {
        let tag = match self {
            Self::Connect(b"") => USE,
            Self::Connect(_) => return Vec::new(),
            Self::Open(_) => OPEN,
            Self::Send(MessageKind::Text, _) => SEND_TEXT,
            Self::Send(MessageKind::Binary, _) => SEND_BINARY,
            Self::Post(MessageKind::Text, _) => POST_TEXT,
            Self::Post(MessageKind::Binary, _) => POST_BINARY,
            Self::Wait => WAIT,
            Self::WaitOn => WAIT_ON,
            Self::Close(_) => CLOSE,
            Self::Ask(..) => ASK,
            Self::Read(_) => READ,
        };
        let mut bytes = vec![tag];
        if let Self::Ask(rule, _) | Self::Read(rule) = self {
            rule.write(&mut bytes);
        }
        bytes
    }

    /// Whether it makes a connection ready for messages, or is a call.
    pub const fn opens(&self) -> bool {
        matches!(self, Self::Connect(_) | Self::Open(_))
    }

    /// Returns the number of messages that it sends, on a gRPC call if `is_call`.
    pub fn message_count(&self, is_call: bool) -> u64 {
        match self {
            Self::Send(_, frames) | Self::Post(_, frames) if is_call => count_frames(frames),
            Self::Connect(request) if is_call => {
                let end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n");
                end.map_or(0, |end| count_frames(&request[end + 4..]))
            }
            Self::Send(..) | Self::Post(..) | Self::Ask(..) => 1,
            _ => 0,
        }
    }

    /// Whether nothing answers it.
    pub const fn is_one_way(&self) -> bool {
        matches!(self, Self::Post(..) | Self::Open(_))
    }

    /// Whether it waits for a message without having sent one.
    pub const fn only_waits(&self) -> bool {
        matches!(self, Self::Wait | Self::WaitOn | Self::Read(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted() {
        let check = |operation: Operation<'_>, is_call, count| {
            assert_eq!(operation.message_count(is_call), count, "{operation:?}");
        };
        check(Operation::Send(MessageKind::Text, b"hi"), false, 1);
        check(Operation::Wait, true, 0);
        check(Operation::Connect(b"POST / HTTP/1.1\r\n\r\n"), true, 0);
        check(Operation::Connect(b"POST / HTTP/1.1\r\n\r\n\0\0\0\0\x02hi"), true, 1);
        check(Operation::Connect(b"POST / HTTP/1.1\r\n\r\n\0\0\0\0\0"), false, 0);
        check(Operation::Post(MessageKind::Binary, b"\0\0\0\0\0\0\0\0\0\x01x\0\0"), true, 2);
        check(Operation::Post(MessageKind::Binary, b"\0\xff\xff\xff\xffx"), true, 0);
    }
}
