//! [`MessageReader`]: messages and control frames of one peer.

use super::close::CloseCode;
use super::deflate::Inflater;
use super::error::Fault;
use super::frame::{CONTROL_BYTES_MAX, FrameHeader, HEADER_BYTES_MAX, MessageKind, Opcode, apply_mask};
use super::utf8::Utf8Check;

/// Limits on what a peer may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one message, after inflating. 16 MiB.
    pub message_bytes_max: u64,
    /// Frames of one message. 65,536: libraries that write through a buffer cut a message into
    /// frames of its size, often 4 KiB and sometimes less.
    pub fragments_max: u32,
    /// Bytes of the head of the response to the upgrade. 64 KiB.
    pub head_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { message_bytes_max: 16 << 20, fragments_max: 1 << 16, head_bytes_max: 64 << 10 }
    }
}

/// Receives the messages of a peer. Every method does nothing unless it is implemented.
pub trait MessageSink {
    /// A message begins.
    fn begin(&mut self, kind: MessageKind) {
        let _ = kind;
    }

    /// Its fields, as lines with an empty one after them, before its first piece. A WebSocket
    /// reports none.
    fn fields(&mut self, lines: &[u8]) {
        let _ = lines;
    }

    /// A piece of it, never empty, unmasked and inflated. How it is cut has no meaning.
    fn piece(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// It is complete, with this number of bytes after inflating.
    fn end(&mut self, length: u64) {
        let _ = length;
    }
}

/// A control frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    pub(super) opcode: Opcode,
    length: u8,
    bytes: [u8; CONTROL_BYTES_MAX],
}

impl Control {
    pub(super) fn payload(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Returns the code and reason of a Close frame.
    pub(super) fn close(&self) -> Result<(CloseCode, &[u8]), Fault> {
        match self.payload() {
            [] => Ok((CloseCode::NONE, b"")),
            [high, low, reason @ ..] => {
                let code = CloseCode(u16::from_be_bytes([*high, *low]));
                if !code.may_be_sent() {
                    return Err(Fault::BadClose);
                }
                if str::from_utf8(reason).is_err() {
                    return Err(Fault::NotUtf8);
                }
                Ok((code, reason))
            }
            [_] => Err(Fault::BadClose),
        }
    }
}

/// A message that is not complete.
#[derive(Clone, Copy, Debug)]
struct Partial {
    is_text: bool,
    compressed: bool,
    utf8: Utf8Check,
    length: u64,
    /// The bytes of its frames, before inflating.
    received: u64,
    fragments: u32,
}

/// A frame that is not complete.
#[derive(Clone, Copy, Debug)]
struct OpenFrame {
    header: FrameHeader,
    /// Bytes of its payload that were read.
    read: u64,
}

/// Reads what one peer sends after the upgrade.
#[derive(Debug)]
pub(super) struct MessageReader {
    limits: Limits,
    /// The peer is a client, so its frames are masked.
    from_client: bool,
    inflater: Option<Box<Inflater>>,
    /// The start of a header.
    head: [u8; HEADER_BYTES_MAX],
    head_length: u8,
    frame: Option<OpenFrame>,
    message: Option<Partial>,
    control: Option<Box<Control>>,
}

impl MessageReader {
    pub(super) const fn new(limits: Limits, from_client: bool) -> Self {
        Self {
            limits,
            from_client,
            inflater: None,
            head: [0; HEADER_BYTES_MAX],
            head_length: 0,
            frame: None,
            message: None,
            control: None,
        }
    }

    /// Compressed messages are allowed from now on.
    pub(super) fn set_deflate(&mut self, keeps_context: bool) {
        self.inflater = Some(Box::new(Inflater::new(keeps_context)));
    }

    /// Whether nothing has been read that must be kept.
    pub(super) const fn is_idle(&self) -> bool {
        self.head_length == 0 && self.frame.is_none() && self.message.is_none() && self.inflater.is_none()
    }

    /// Reads `input` up to the end of the next control frame. Returns the number of bytes read and
    /// that frame.
    pub(super) fn read(
        &mut self,
        input: &[u8],
        sink: &mut impl MessageSink,
    ) -> Result<(usize, Option<Control>), Fault> {
        let mut rest = input;
        loop {
            if self.frame.is_none() && !self.read_header(&mut rest, sink)? {
                return Ok((input.len(), None));
            }
            let Some(frame) = self.frame.as_mut() else { continue };
            let header = frame.header;
            let left = header.length - frame.read;
            let here = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
            let (payload, behind) = rest.split_at(here);
            let offset = frame.read;
            frame.read += here as u64;
            let is_whole = frame.read == header.length;
            rest = behind;
            if header.opcode.is_control() {
                self.control_payload(header, payload);
                if is_whole {
                    self.frame = None;
                    let control = self.control.take().map(|control| *control);
                    return Ok((input.len() - rest.len(), control));
                }
            } else {
                self.data_payload(header, payload, offset, sink)?;
                if is_whole {
                    self.frame = None;
                    if header.fin {
                        self.end_message(sink)?;
                    }
                }
            }
            if !is_whole {
                return Ok((input.len(), None));
            }
        }
    }

    /// Reads the header of the next frame. Returns whether it is complete.
    fn read_header(&mut self, rest: &mut &[u8], sink: &mut impl MessageSink) -> Result<bool, Fault> {
        let before = usize::from(self.head_length);
        let parsed = if before == 0 {
            FrameHeader::parse(rest)?
        } else {
            let more = rest.len().min(HEADER_BYTES_MAX - before);
            self.head[before..before + more].copy_from_slice(&rest[..more]);
            FrameHeader::parse(&self.head[..before + more])?
        };
        let Some((header, length)) = parsed else {
            if before == 0 {
                self.head[..rest.len()].copy_from_slice(rest);
            }
            self.head_length = (before + rest.len()) as u8;
            return Ok(false);
        };
        *rest = &rest[length - before..];
        self.head_length = 0;
        self.check_header(header)?;
        if let Opcode::Data(kind) = header.opcode {
            sink.begin(kind);
        }
        if header.opcode.is_control() {
            let control = Control { opcode: header.opcode, length: 0, bytes: [0; CONTROL_BYTES_MAX] };
            self.control = Some(Box::new(control));
        }
        self.frame = Some(OpenFrame { header, read: 0 });
        Ok(true)
    }

    fn check_header(&mut self, header: FrameHeader) -> Result<(), Fault> {
        if header.mask.is_some() != self.from_client {
            return Err(Fault::Masking);
        }
        let starts = matches!(header.opcode, Opcode::Data(_));
        if header.compressed && (self.inflater.is_none() || !starts) {
            return Err(Fault::ReservedBit);
        }
        if header.opcode.is_control() {
            return Ok(());
        }
        if starts == self.message.is_some() {
            return Err(Fault::Fragmentation);
        }
        let message = self.message.get_or_insert(Partial {
            is_text: header.opcode == Opcode::Data(MessageKind::Text),
            compressed: header.compressed,
            utf8: Utf8Check::default(),
            length: 0,
            received: 0,
            fragments: 0,
        });
        message.fragments += 1;
        if message.fragments > self.limits.fragments_max {
            return Err(Fault::TooManyFragments);
        }
        message.received = message.received.saturating_add(header.length);
        let most = self.limits.message_bytes_max;
        // Deflating adds a little to what it cannot compress.
        let most = if message.compressed { most.saturating_add(most / 64 + 1_024) } else { most };
        if message.received > most { Err(Fault::MessageTooLarge) } else { Ok(()) }
    }

    fn control_payload(&mut self, header: FrameHeader, payload: &[u8]) {
        let Some(control) = &mut self.control else { return };
        let at = usize::from(control.length);
        let into = &mut control.bytes[at..at + payload.len()];
        into.copy_from_slice(payload);
        if let Some(mask) = header.mask {
            apply_mask(into, mask, at as u64);
        }
        control.length += payload.len() as u8;
    }

    fn data_payload(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        offset: u64,
        sink: &mut impl MessageSink,
    ) -> Result<(), Fault> {
        let Some(mask) = header.mask else { return self.plain_payload(payload, sink) };
        let mut buffer = [0; 4 << 10];
        let mut offset = offset;
        for chunk in payload.chunks(buffer.len()) {
            let into = &mut buffer[..chunk.len()];
            into.copy_from_slice(chunk);
            apply_mask(into, mask, offset);
            offset += chunk.len() as u64;
            self.plain_payload(into, sink)?;
        }
        Ok(())
    }

    fn plain_payload(&mut self, payload: &[u8], sink: &mut impl MessageSink) -> Result<(), Fault> {
        let Some(message) = &mut self.message else { return Ok(()) };
        if payload.is_empty() {
            return Ok(());
        }
        let most = self.limits.message_bytes_max;
        match &mut self.inflater {
            Some(inflater) if message.compressed => {
                inflater.piece(payload, &mut |bytes| message.take(bytes, most, sink))
            }
            _ => message.take(payload, most, sink),
        }
    }

    fn end_message(&mut self, sink: &mut impl MessageSink) -> Result<(), Fault> {
        let Some(mut message) = self.message.take() else { return Ok(()) };
        if let Some(inflater) = &mut self.inflater
            && message.compressed
        {
            let most = self.limits.message_bytes_max;
            inflater.end(&mut |bytes| message.take(bytes, most, sink))?;
        }
        if message.is_text && !message.utf8.end() {
            return Err(Fault::NotUtf8);
        }
        sink.end(message.length);
        Ok(())
    }
}

impl Partial {
    fn take(&mut self, bytes: &[u8], most: u64, sink: &mut impl MessageSink) -> Result<(), Fault> {
        self.length += bytes.len() as u64;
        if self.length > most {
            return Err(Fault::MessageTooLarge);
        }
        if self.is_text && !self.utf8.piece(bytes) {
            return Err(Fault::NotUtf8);
        }
        sink.piece(bytes);
        Ok(())
    }
}
