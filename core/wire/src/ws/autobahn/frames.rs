//! [`Frame`]: frames as the cases of the suite have them, written and parsed.

use std::fmt;

use super::super::CloseCode;
use super::super::frame::{FrameHeader, apply_mask};

pub(super) const TEXT: u8 = 0x81;
pub(super) const BINARY: u8 = 0x82;
pub(super) const COMPRESSED: u8 = 0x40;

/// A frame that is sent or expected.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// The first byte: FIN, the reserved bits and the opcode.
    pub(super) first: u8,
    pub(super) payload: Vec<u8>,
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.payload[..self.payload.len().min(40)].escape_ascii();
        write!(f, "{:02x} {} {start}", self.first, self.payload.len())
    }
}

pub(super) fn frame(first: u8, payload: impl AsRef<[u8]>) -> Frame {
    Frame { first, payload: payload.as_ref().to_vec() }
}

pub(super) fn text(payload: impl AsRef<[u8]>) -> Frame {
    frame(TEXT, payload)
}

pub(super) fn binary(payload: impl AsRef<[u8]>) -> Frame {
    frame(BINARY, payload)
}

/// A further fragment, which is the last one.
pub(super) fn rest(payload: impl AsRef<[u8]>) -> Frame {
    frame(0x80, payload)
}

pub(super) fn ping(payload: impl AsRef<[u8]>) -> Frame {
    frame(0x89, payload)
}

pub(super) fn pong(payload: impl AsRef<[u8]>) -> Frame {
    frame(0x8a, payload)
}

/// A Close frame; 1005 has no code.
pub(super) fn close(code: u16, reason: impl AsRef<[u8]>) -> Frame {
    let code = code.to_be_bytes();
    let code = if code == CloseCode::NONE.0.to_be_bytes() { &[][..] } else { &code };
    frame(0x88, [code, reason.as_ref()].concat())
}

/// Cuts a message into frames with `size` bytes each.
pub(super) fn fragments(first: u8, payload: &[u8], size: usize) -> Vec<Frame> {
    let mut frames: Vec<Frame> = payload.chunks(size).map(|piece| frame(0, piece)).collect();
    if frames.is_empty() {
        frames.push(frame(0, ""));
    }
    frames[0].first = first & !0x80;
    frames.last_mut().expect("a frame").first |= 0x80;
    frames
}

impl Frame {
    /// More fragments follow.
    pub(super) fn more(mut self) -> Self {
        self.first &= !0x80;
        self
    }

    /// With this number as its three reserved bits.
    pub(super) fn reserved(mut self, bits: u8) -> Self {
        self.first |= bits << 4;
        self
    }

    /// Appends it to `out`. Clients mask.
    fn write(&self, mask: Option<[u8; 4]>, out: &mut Vec<u8>) {
        out.push(self.first);
        let masked: u8 = if mask.is_some() { 0x80 } else { 0 };
        match self.payload.len() {
            length @ 0..126 => out.push(masked | length as u8),
            length @ 126..65_536 => {
                out.push(masked | 0x7e);
                out.extend_from_slice(&(length as u16).to_be_bytes());
            }
            length => {
                out.push(masked | 0x7f);
                out.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        out.extend(mask.into_iter().flatten());
        let keys = mask.unwrap_or_default();
        out.extend(self.payload.iter().zip(keys.iter().cycle()).map(|(byte, key)| byte ^ key));
    }
}

/// Returns the bytes of `frames` on their way to a client or a server.
pub(super) fn bytes_of(frames: &[Frame], to_server: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        frame.write(to_server.then_some([0x37, 0xfa, 0x21, number as u8]), &mut bytes);
    }
    bytes
}

/// Parses what a machine has written.
pub(super) fn frames_of(mut bytes: &[u8], masked: bool) -> Vec<Frame> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let (header, at) = FrameHeader::parse(bytes).expect("a right header").expect("a whole header");
        assert_eq!(header.mask.is_some(), masked);
        let end = at + header.length as usize;
        let mut payload = bytes[at..end].to_vec();
        apply_mask(&mut payload, header.mask.unwrap_or_default(), 0);
        frames.push(Frame { first: bytes[0], payload });
        bytes = &bytes[end..];
    }
    frames
}
