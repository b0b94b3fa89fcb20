//! [`WebSocket`]: a connection that sends every message back.

use wavetank_wire::ws::{CloseCode, Deflater, Limits, MessageKind, MessageSink, Server, ServerSink};

use crate::truth::Counts;

/// A client that reads nothing gets at most this much.
pub(crate) const OUT_BYTES_MAX: usize = 64 << 20;

/// See the module's description.
#[derive(Debug)]
pub(crate) struct WebSocket {
    pub(crate) server: Server,
    message: Vec<u8>,
    kind: MessageKind,
}

/// The state of a WebSocket after reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterMessages {
    /// It stays open.
    Open,
    /// Both sides have closed it.
    Over,
    /// The client broke the protocol, or reads nothing.
    Broken,
}

impl WebSocket {
    pub(crate) fn new(deflate: bool) -> Self {
        let server = Server::new(Limits::default(), deflate);
        Self { server, message: Vec::new(), kind: MessageKind::Text }
    }

    /// Whether there are bytes to send.
    pub(crate) fn has_out(&mut self) -> bool {
        !self.server.out().is_empty()
    }

    /// Reads received bytes and writes the answers.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        deflater: &mut Option<Box<Deflater>>,
        counts: &Counts,
    ) -> AfterMessages {
        let Self { server, message, kind } = self;
        let mut intake = Intake { message, kind, whole: Vec::new() };
        let read = server.read(bytes, &mut intake);
        for (kind, message) in intake.whole {
            counts.messages_received.add(1);
            if server.send(kind, &message, deflater) {
                counts.messages_sent.add(1);
            }
        }
        match read {
            Err(_) => {
                counts.bad_requests.add(1);
                AfterMessages::Broken
            }
            Ok(()) if server.out().len() > OUT_BYTES_MAX => AfterMessages::Broken,
            Ok(()) if server.is_over() => AfterMessages::Over,
            Ok(()) => AfterMessages::Open,
        }
    }
}

/// Collects the messages of one receive.
struct Intake<'a> {
    message: &'a mut Vec<u8>,
    kind: &'a mut MessageKind,
    whole: Vec<(MessageKind, Vec<u8>)>,
}

impl MessageSink for Intake<'_> {
    fn begin(&mut self, kind: MessageKind) {
        *self.kind = kind;
        self.message.clear();
    }

    fn piece(&mut self, bytes: &[u8]) {
        self.message.extend_from_slice(bytes);
    }

    fn end(&mut self, _: u64) {
        self.whole.push((*self.kind, std::mem::take(self.message)));
    }
}

impl ServerSink for Intake<'_> {
    fn closed(&mut self, _: CloseCode) {}
}
