//! Connections that carry messages: WebSocket, event streams, gRPC calls, raw TCP and UDP behind
//! one interface.
//!
//! A step is an [`Operation`]. It sends a message, waits for one, or both; a message that no step
//! awaits is reported as any other.

mod operation;

pub use operation::Operation;

use crate::h1::OpenBody;
use crate::ws::{self, ClientSink, CloseCode, Deflater};
use crate::{datagram, grpc, raw, sse};

/// The client's side of a connection that carries messages.
#[derive(Debug)]
pub enum MessageClient {
    /// WebSocket.
    WebSocket(ws::Client),
    /// Server-sent events.
    Events(sse::Client),
    /// Raw TCP.
    Raw(raw::Client),
    /// UDP.
    Datagrams(datagram::Client),
    /// A gRPC call, on a stream of HTTP/2.
    Call(grpc::Client),
}

/// What an operation has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// Nothing: it needs a new connection, after the bytes to send on this one.
    NeedsNewConnection,
    /// Nothing: the connection is not open for messages.
    NotOpen,
    /// There are bytes to send.
    Sends,
    /// It waits.
    Waits,
    /// It is done without an answer.
    Done,
    /// It is done without an answer, and the connection is to be closed.
    Closes,
    /// Nothing: the datagram cannot be sent.
    Refused(datagram::SendFault),
}

/// How an idle connection continues after its machine was discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleState {
    /// WebSocket.
    WebSocket,
    /// An event stream with this framing.
    Events(OpenBody),
    /// Raw TCP.
    Raw,
    /// UDP.
    Datagrams,
}

/// A fault of the server, which ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageFault {
    /// On a WebSocket.
    WebSocket(ws::Fault),
    /// On an event stream.
    Events(sse::Fault),
    /// On raw TCP.
    Raw(raw::Fault),
    /// In a gRPC call.
    Call(grpc::Fault),
}

impl MessageFault {
    /// Describes the fault.
    pub const fn text(self) -> &'static str {
        match self {
            Self::WebSocket(fault) => fault.text(),
            Self::Events(fault) => fault.text(),
            Self::Raw(fault) => fault.text(),
            Self::Call(fault) => fault.text(),
        }
    }

    /// Whether a message exceeds its limit.
    pub const fn is_limit(self) -> bool {
        matches!(
            self,
            Self::WebSocket(ws::Fault::MessageTooLarge)
                | Self::Events(sse::Fault::EventTooLarge)
                | Self::Raw(_)
                | Self::Call(grpc::Fault::MessageTooLarge)
        )
    }
}

impl MessageClient {
    /// The bytes to send. The caller removes what it sends.
    pub const fn out(&mut self) -> &mut Vec<u8> {
        match self {
            Self::WebSocket(client) => client.out(),
            Self::Events(client) => client.out(),
            Self::Raw(client) => client.out(),
            Self::Datagrams(client) => client.out(),
            Self::Call(client) => client.out(),
        }
    }

    /// Whether messages can be exchanged.
    pub const fn is_open(&self) -> bool {
        match self {
            Self::WebSocket(client) => client.is_open(),
            Self::Events(client) => client.is_open(),
            Self::Raw(client) => client.is_open(),
            Self::Datagrams(client) => client.is_open(),
            Self::Call(client) => client.is_open(),
        }
    }

    /// Whether something other than a message has arrived that the next step reads.
    pub const fn has_unread(&self) -> bool {
        match self {
            Self::Raw(client) => client.has_unread(),
            Self::Call(client) => client.has_unread(),
            Self::WebSocket(_) | Self::Events(_) | Self::Datagrams(_) => false,
        }
    }

    /// Whether we are closing the connection and wait for the server to agree.
    pub const fn is_closing(&self) -> bool {
        matches!(self, Self::WebSocket(client) if client.is_closing())
    }

    /// Whether a step that opens it needs a new connection.
    pub const fn is_used(&self) -> bool {
        match self {
            Self::WebSocket(client) => client.is_websocket(),
            Self::Events(client) => client.is_used(),
            Self::Raw(client) => client.is_open(),
            Self::Datagrams(client) => client.is_open(),
            Self::Call(client) => client.is_used(),
        }
    }

    /// Returns how the connection continues without this machine, if it has no other state than
    /// [`last_id`](Self::last_id).
    pub fn idle_state(&self) -> Option<IdleState> {
        match self {
            Self::WebSocket(client) => client.is_idle().then_some(IdleState::WebSocket),
            Self::Events(client) => client.idle_body().map(IdleState::Events),
            Self::Raw(client) => client.is_idle().then_some(IdleState::Raw),
            Self::Datagrams(client) => client.is_idle().then_some(IdleState::Datagrams),
            Self::Call(_) => None,
        }
    }

    /// The last id of an event stream; empty: there is none.
    pub fn last_id(&self) -> &[u8] {
        match self {
            Self::Events(client) => client.last_id(),
            Self::WebSocket(_) | Self::Raw(_) | Self::Datagrams(_) | Self::Call(_) => b"",
        }
    }

    /// Starts an operation. Its bytes go to [`out`](Self::out). `last_id` is that of the event
    /// stream that this one continues. The caller then [reads](Self::read) without bytes, because
    /// an answer may have arrived before.
    pub fn start(
        &mut self,
        operation: Operation<'_>,
        deflater: &mut Option<Box<Deflater>>,
        last_id: &[u8],
    ) -> Started {
        if let Operation::Connect(request) | Operation::Open(request) = operation {
            if self.is_used() {
                self.leave();
                return Started::NeedsNewConnection;
            }
            match self {
                Self::Call(client) if matches!(operation, Operation::Open(_)) => client.open(request),
                Self::Call(client) => client.call(request),
                Self::WebSocket(client) => client.connect(request),
                Self::Events(client) => client.connect(request, last_id),
                Self::Raw(client) => {
                    client.connect();
                    return Started::Done;
                }
                Self::Datagrams(client) => {
                    client.connect();
                    return Started::Done;
                }
            }
            return Started::Sends;
        }
        if !self.is_open() {
            return Started::NotOpen;
        }
        match (self, operation) {
            (_, Operation::Wait | Operation::WaitOn) => return Started::Waits,
            (Self::WebSocket(client), Operation::Send(kind, message) | Operation::Post(kind, message)) => {
                client.send(kind, message, deflater);
            }
            (Self::WebSocket(client), Operation::Close(code)) => client.close(CloseCode::from_digits(code)),
            (Self::Raw(client), Operation::Send(_, bytes) | Operation::Post(_, bytes)) => client.send(bytes),
            (Self::Raw(client), Operation::Ask(rule, bytes)) => {
                client.send(bytes);
                client.wait(rule);
            }
            (Self::Raw(client), Operation::Read(rule)) => {
                client.wait(rule);
                return Started::Waits;
            }
            (Self::Datagrams(client), operation) => return start_datagram(client, operation),
            (Self::Call(client), Operation::Post(..)) if !client.takes_messages() => return Started::NotOpen,
            (Self::Call(client), Operation::Send(_, frames) | Operation::Post(_, frames)) => {
                client.send(frames);
            }
            (Self::Call(client), Operation::Close(_)) => client.end(),
            (Self::Events(_) | Self::Raw(_), Operation::Close(_)) => return Started::Closes,
            // The plan has checked that a step fits the protocol of its target.
            _ => return Started::NotOpen,
        }
        Started::Sends
    }

    /// Writes what a client sends before it closes the connection by itself.
    pub fn leave(&mut self) {
        if let Self::WebSocket(client) = self {
            client.close(CloseCode::NORMAL);
        }
    }

    /// Sends a ping with this content, if the protocol has any. Returns whether it did.
    pub fn ping(&mut self, payload: &[u8; 8]) -> bool {
        match self {
            Self::WebSocket(client) => client.ping(payload),
            Self::Events(_) | Self::Raw(_) | Self::Datagrams(_) | Self::Call(_) => false,
        }
    }

    /// Whether the peer does not read what was sent before. Then only its last ping is answered,
    /// once it reads again.
    pub fn hold_pongs(&mut self, holds: bool) {
        if let Self::WebSocket(client) = self {
            client.hold_pongs(holds);
        }
    }

    /// Stops waiting for an answer.
    pub fn stop_waiting(&mut self) {
        match self {
            Self::Raw(client) => client.stop_waiting(),
            Self::Datagrams(client) => client.stop_waiting(),
            Self::WebSocket(_) | Self::Events(_) | Self::Call(_) => {}
        }
    }

    /// Reads what the server sent, of UDP one datagram.
    ///
    /// # Errors
    /// The fault of the server. The connection must be closed after sending [`out`](Self::out).
    pub fn read(&mut self, input: &[u8], sink: &mut impl ClientSink) -> Result<(), MessageFault> {
        match self {
            Self::WebSocket(client) => client.read(input, sink).map_err(MessageFault::WebSocket),
            Self::Events(client) => client.read(input, sink).map_err(MessageFault::Events),
            Self::Raw(client) => client.read(input, sink).map_err(MessageFault::Raw),
            Self::Datagrams(client) => {
                client.read(input, sink);
                Ok(())
            }
            Self::Call(client) => client.read(input, sink).map_err(MessageFault::Call),
        }
    }

    /// Handles the end of what the server sends. Returns whether it completes a message.
    pub fn end(&mut self, sink: &mut impl ClientSink) -> bool {
        match self {
            Self::Raw(client) => client.end(sink),
            Self::WebSocket(_) | Self::Events(_) | Self::Datagrams(_) | Self::Call(_) => false,
        }
    }
}

/// Starts an operation on a UDP socket.
fn start_datagram(client: &mut datagram::Client, operation: Operation<'_>) -> Started {
    let sent = match operation {
        Operation::Send(_, datagram) | Operation::Post(_, datagram) => client.send(datagram),
        Operation::Ask(raw::ReadRule::Datagram(matched), datagram) => client.ask(matched, datagram),
        // Where a step reads, every datagram is passed on.
        Operation::Read(_) => return Started::Waits,
        // The plan has checked that a step fits the protocol of its target.
        _ => return Started::NotOpen,
    };
    sent.map_or_else(Started::Refused, |()| Started::Sends)
}
