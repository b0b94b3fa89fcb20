//! [`Client`]: the client's side of a WebSocket.

use super::close::CloseCode;
use super::deflate::Deflater;
use super::error::Fault;
use super::frame::{MessageKind, Opcode, write_frame};
use super::handshake::{Offer, head_length, parse_head, unfold};
use super::message_reader::{Control, Limits, MessageReader, MessageSink};
use crate::grpc::CallEnd;
use crate::h1::ResponseHead;

/// Receives what a server sends.
pub trait ClientSink: MessageSink {
    /// The connection is a WebSocket now.
    fn upgraded(&mut self, head: &ResponseHead<'_>);

    /// The server answered the upgrade with another status. What follows on the connection is not
    /// read.
    fn refused(&mut self, head: &ResponseHead<'_>);

    /// The server sent a Close frame, which was answered if it had to be.
    fn closed(&mut self, code: CloseCode, reason: &[u8]) {
        let _ = (code, reason);
    }

    /// The server ended an event stream.
    fn ended(&mut self) {}

    /// A Pong frame with this content arrived.
    fn pong(&mut self, payload: &[u8]) {
        let _ = payload;
    }

    /// A message that is a part of an answer has ended.
    fn answer_part(&mut self) {}

    /// The first bytes of an answer of several messages, which ends with a call.
    fn answer_begins(&mut self) {}

    /// The server ended a call. Returns whether a request takes that; otherwise it is reported
    /// again.
    fn call_ended(&mut self, end: &CallEnd<'_>) -> bool {
        let _ = end;
        true
    }
}

/// The most interim responses to an upgrade.
const INTERIMS_MAX: u8 = 16;

/// The state of a connection.
#[derive(Debug)]
enum State {
    /// It is not a WebSocket.
    Plain,
    /// The upgrade was sent.
    Upgrading(Box<Offer>),
    /// It is a WebSocket.
    Open,
    /// We sent a Close frame first.
    Closing,
    /// Both sides sent a Close frame, or the server refused the upgrade.
    Over,
    /// The server broke the protocol.
    Broken(Fault),
}

/// The client's side of a WebSocket; see the [module](super).
#[derive(Debug)]
pub struct Client {
    state: State,
    reader: MessageReader,
    limits: Limits,
    /// The response to the upgrade, as far as it has arrived.
    head: Vec<u8>,
    /// The number of bytes in `head` that were searched for its end.
    searched: usize,
    /// Interim responses to the upgrade.
    interims: u8,
    /// Pings are not answered now.
    holds_pongs: bool,
    /// The last of those pings.
    unanswered: Option<Box<Control>>,
    out: Vec<u8>,
    /// Whether our messages may be compressed.
    deflates: bool,
    /// The state of the generator of masks (`SplitMix64`).
    masks: u64,
}

impl Client {
    /// Creates the machine of a new connection. `seed` determines keys and masks.
    pub const fn new(limits: Limits, seed: u64) -> Self {
        Self {
            state: State::Plain,
            reader: MessageReader::new(limits, false),
            limits,
            head: Vec::new(),
            searched: 0,
            interims: 0,
            holds_pongs: false,
            unanswered: None,
            out: Vec::new(),
            deflates: false,
            masks: seed,
        }
    }

    /// Creates the machine of an open WebSocket that was [idle](Self::is_idle).
    pub fn resume(limits: Limits, seed: u64) -> Self {
        Self { state: State::Open, ..Self::new(limits, seed) }
    }

    /// The bytes to send. The caller removes what it sends.
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Whether messages can be sent.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Whether we sent a Close frame first and that of the server has not arrived.
    pub const fn is_closing(&self) -> bool {
        matches!(self.state, State::Closing)
    }

    /// Whether it is open, or was.
    pub const fn is_websocket(&self) -> bool {
        matches!(self.state, State::Open | State::Closing | State::Over)
    }

    /// Whether the connection is an open WebSocket without any other state, so that
    /// [`resume`](Self::resume) is equivalent.
    pub fn is_idle(&self) -> bool {
        self.is_open() && self.reader.is_idle() && self.out.is_empty() && !self.holds_pongs
    }

    /// Upgrades the connection. `request` is a whole HTTP request without `Sec-WebSocket-Key`.
    pub fn connect(&mut self, request: &[u8]) {
        let mut key = [0; 16];
        for half in key.as_chunks_mut::<8>().0 {
            *half = self.draw().to_be_bytes();
        }
        self.state = State::Upgrading(Box::new(Offer::write(request, key, &mut self.out)));
    }

    /// Sends a message. It is compressed if both sides agreed on that.
    pub fn send(&mut self, kind: MessageKind, message: &[u8], deflater: &mut Option<Box<Deflater>>) {
        let mask = Some(self.draw_mask());
        let opcode = Opcode::Data(kind);
        if self.deflates {
            let deflated = deflater.get_or_insert_default().deflate(message);
            write_frame(&mut self.out, opcode, true, deflated, mask);
        } else {
            write_frame(&mut self.out, opcode, false, message, mask);
        }
    }

    /// Sends a Close frame. No message can be sent after it.
    pub fn close(&mut self, code: CloseCode) {
        if self.is_open() {
            let mask = Some(self.draw_mask());
            write_close(&mut self.out, code, mask);
            self.state = State::Closing;
        }
    }

    /// Reads what the server sent.
    ///
    /// # Errors
    /// The fault of the server. The connection must be closed after sending [`out`](Self::out).
    pub fn read(&mut self, input: &[u8], sink: &mut impl ClientSink) -> Result<(), Fault> {
        if let State::Broken(fault) = self.state {
            return Err(fault);
        }
        self.read_all(input, sink).inspect_err(|&fault| {
            if let Some(code) = fault.close_code()
                && self.is_open()
            {
                let mask = Some(self.draw_mask());
                write_close(&mut self.out, code, mask);
            }
            self.state = State::Broken(fault);
        })
    }

    fn read_all(&mut self, input: &[u8], sink: &mut impl ClientSink) -> Result<(), Fault> {
        let mut head = Vec::new();
        let mut rest = input;
        if matches!(self.state, State::Upgrading(_)) {
            self.head.extend_from_slice(input);
            let Some(length) = self.read_response(sink)? else { return Ok(()) };
            head = std::mem::take(&mut self.head);
            rest = &head[length..];
        }
        while !rest.is_empty() && matches!(self.state, State::Open | State::Closing) {
            let (read, control) = self.reader.read(rest, sink)?;
            rest = &rest[read..];
            if let Some(control) = control {
                self.control(&control, sink)?;
            }
        }
        drop(head);
        Ok(())
    }

    /// Reads the response to the upgrade. Returns the length of its head; `None`: it is incomplete,
    /// or the upgrade was refused.
    fn read_response(&mut self, sink: &mut impl ClientSink) -> Result<Option<usize>, Fault> {
        const START: &[u8] = b"HTTP/1.";
        loop {
            let begun = self.head.len().min(START.len());
            if self.head[..begun] != START[..begun] {
                return Err(Fault::NotHttp);
            }
            // The end may have been cut between two reads.
            let from = self.searched.saturating_sub(3);
            let Some(length) = head_length(&self.head[from..]).map(|length| from + length) else {
                self.searched = self.head.len();
                let is_too_long = self.head.len() > self.limits.head_bytes_max;
                return if is_too_long { Err(Fault::HeadTooLarge) } else { Ok(None) };
            };
            if length > self.limits.head_bytes_max {
                return Err(Fault::HeadTooLarge);
            }
            unfold(&mut self.head[..length]);
            let head = parse_head(&self.head[..length]).ok_or(Fault::NotHttp)?;
            let State::Upgrading(offer) = &self.state else { return Ok(None) };
            match head.status {
                101 => {
                    let agreed = offer.judge(&head)?;
                    if agreed.deflate {
                        self.deflates = true;
                        self.reader.set_deflate(agreed.server_keeps_context);
                    }
                    self.state = State::Open;
                    sink.upgraded(&head);
                    return Ok(Some(length));
                }
                // An interim response, such as 103, precedes the final one.
                100..=199 => {
                    self.interims += 1;
                    if self.interims > INTERIMS_MAX {
                        return Err(Fault::TooManyInterim);
                    }
                    self.head.drain(..length);
                    self.searched = 0;
                }
                _ => {
                    self.state = State::Over;
                    sink.refused(&head);
                    self.head = Vec::new();
                    return Ok(None);
                }
            }
        }
    }

    /// Sends a Ping frame with this content, if it is open. Returns whether it did.
    pub fn ping(&mut self, payload: &[u8; 8]) -> bool {
        if !self.is_open() {
            return false;
        }
        let mask = Some(self.draw_mask());
        write_frame(&mut self.out, Opcode::Ping, false, payload, mask);
        true
    }

    /// Holds back the answers to pings, or sends that to the last one.
    pub fn hold_pongs(&mut self, holds: bool) {
        self.holds_pongs = holds;
        if !holds && let Some(ping) = self.unanswered.take() {
            self.answer_ping(&ping);
        }
    }

    fn answer_ping(&mut self, ping: &Control) {
        if self.is_open() {
            let mask = Some(self.draw_mask());
            write_frame(&mut self.out, Opcode::Pong, false, ping.payload(), mask);
        }
    }

    fn control(&mut self, control: &Control, sink: &mut impl ClientSink) -> Result<(), Fault> {
        match control.opcode {
            // Only the last one needs an answer (RFC 6455 §5.5.3).
            Opcode::Ping if self.holds_pongs => self.unanswered = Some(Box::new(*control)),
            Opcode::Ping => self.answer_ping(control),
            Opcode::Pong if self.is_open() => sink.pong(control.payload()),
            Opcode::Close => {
                let (code, reason) = control.close()?;
                if self.is_open() {
                    let mask = Some(self.draw_mask());
                    write_close(&mut self.out, code, mask);
                }
                self.state = State::Over;
                sink.closed(code, reason);
            }
            _ => {}
        }
        Ok(())
    }

    fn draw_mask(&mut self) -> [u8; 4] {
        let [a, b, c, d, ..] = self.draw().to_be_bytes();
        [a, b, c, d]
    }

    /// Draws the next number of `SplitMix64` (Steele, Lea and Flood 2014).
    fn draw(&mut self) -> u64 {
        self.masks = self.masks.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut drawn = self.masks;
        drawn = (drawn ^ (drawn >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        drawn = (drawn ^ (drawn >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        drawn ^ (drawn >> 31)
    }
}

/// Writes a Close frame; without a code for [`CloseCode::NONE`].
pub(super) fn write_close(out: &mut Vec<u8>, code: CloseCode, mask: Option<[u8; 4]>) {
    let bytes = code.0.to_be_bytes();
    let payload: &[u8] = if code == CloseCode::NONE { b"" } else { &bytes };
    write_frame(out, Opcode::Close, false, payload, mask);
}
