//! [`Server`]: the server's side of a WebSocket, after the upgrade.

use super::client::write_close;
use super::close::CloseCode;
use super::deflate::Deflater;
use super::error::Fault;
use super::frame::{MessageKind, Opcode, write_frame};
use super::message_reader::{Control, Limits, MessageReader, MessageSink};

/// Receives what a client sends.
pub trait ServerSink: MessageSink {
    /// The client sent a Close frame, which was answered if it had to be.
    fn closed(&mut self, code: CloseCode);
}

/// The server's side of a WebSocket; see the [module](super).
#[derive(Debug)]
pub struct Server {
    reader: MessageReader,
    out: Vec<u8>,
    deflates: bool,
    /// We sent a Close frame.
    has_closed: bool,
    /// The client sent one.
    is_over: bool,
    fault: Option<Fault>,
}

impl Server {
    /// Creates the machine of a connection that was just upgraded. With `deflate`, messages of both
    /// sides are compressed without a context.
    pub fn new(limits: Limits, deflate: bool) -> Self {
        let mut reader = MessageReader::new(limits, true);
        if deflate {
            reader.set_deflate(false);
        }
        Self { reader, out: Vec::new(), deflates: deflate, has_closed: false, is_over: false, fault: None }
    }

    /// The bytes to send. The caller removes what it sends.
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Whether both sides have sent a Close frame, so that the connection can be closed.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Sends a message. It is compressed if both sides agreed on that. Returns false after a Close
    /// frame, which no message follows.
    pub fn send(&mut self, kind: MessageKind, message: &[u8], deflater: &mut Option<Box<Deflater>>) -> bool {
        if self.has_closed {
            return false;
        }
        let opcode = Opcode::Data(kind);
        if self.deflates {
            let deflated = deflater.get_or_insert_default().deflate(message);
            write_frame(&mut self.out, opcode, true, deflated, None);
        } else {
            write_frame(&mut self.out, opcode, false, message, None);
        }
        true
    }

    /// Sends a Ping frame.
    pub fn ping(&mut self) {
        write_frame(&mut self.out, Opcode::Ping, false, b"", None);
    }

    /// Sends a Close frame. No message can be sent after it.
    pub fn close(&mut self, code: CloseCode) {
        if !std::mem::replace(&mut self.has_closed, true) {
            write_close(&mut self.out, code, None);
        }
    }

    /// Reads what the client sent.
    ///
    /// # Errors
    /// The fault of the client. The connection must be closed after sending [`out`](Self::out).
    pub fn read(&mut self, input: &[u8], sink: &mut impl ServerSink) -> Result<(), Fault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        self.read_all(input, sink).inspect_err(|&fault| {
            self.close(fault.close_code().unwrap_or(CloseCode::PROTOCOL_ERROR));
            self.fault = Some(fault);
        })
    }

    fn read_all(&mut self, input: &[u8], sink: &mut impl ServerSink) -> Result<(), Fault> {
        let mut rest = input;
        while !rest.is_empty() && !self.is_over {
            let (read, control) = self.reader.read(rest, sink)?;
            rest = &rest[read..];
            if let Some(control) = control {
                self.control(&control, sink)?;
            }
        }
        Ok(())
    }

    fn control(&mut self, control: &Control, sink: &mut impl ServerSink) -> Result<(), Fault> {
        match control.opcode {
            Opcode::Ping if !self.has_closed => {
                write_frame(&mut self.out, Opcode::Pong, false, control.payload(), None);
            }
            Opcode::Close => {
                let (code, _) = control.close()?;
                self.close(code);
                self.is_over = true;
                sink.closed(code);
            }
            _ => {}
        }
        Ok(())
    }
}
