//! Frames: headers in both directions, and masking (RFC 6455 §5).

use super::error::Fault;

/// The type of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// UTF-8 text.
    Text,
    /// Bytes.
    Binary,
}

/// The opcodes in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opcode {
    Continuation,
    Data(MessageKind),
    Close,
    Ping,
    Pong,
}

/// The longest header: 2 bytes, a length of 8, a mask of 4.
pub(super) const HEADER_BYTES_MAX: usize = 14;
/// The longest payload of a control frame.
pub(super) const CONTROL_BYTES_MAX: usize = 125;

const FIN: u8 = 0x80;
const RSV1: u8 = 0x40;
const OTHER_RESERVED: u8 = 0x30;
const MASKED: u8 = 0x80;
const LENGTH_16: u8 = 126;
const LENGTH_64: u8 = 127;

impl Opcode {
    const fn from_bits(bits: u8) -> Option<Self> {
        Some(match bits {
            0 => Self::Continuation,
            1 => Self::Data(MessageKind::Text),
            2 => Self::Data(MessageKind::Binary),
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    const fn bits(self) -> u8 {
        match self {
            Self::Continuation => 0,
            Self::Data(MessageKind::Text) => 1,
            Self::Data(MessageKind::Binary) => 2,
            Self::Close => 8,
            Self::Ping => 9,
            Self::Pong => 10,
        }
    }

    pub(super) const fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub(super) fin: bool,
    /// The first reserved bit: the message is compressed.
    pub(super) compressed: bool,
    pub(super) opcode: Opcode,
    pub(super) length: u64,
    pub(super) mask: Option<[u8; 4]>,
}

impl FrameHeader {
    /// Parses the header at the start of `bytes`. Returns it with its length; `None`: it is
    /// incomplete.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Fault> {
        let Some(&first) = bytes.first() else { return Ok(None) };
        if first & OTHER_RESERVED != 0 {
            return Err(Fault::ReservedBit);
        }
        let opcode = Opcode::from_bits(first & 0x0f).ok_or(Fault::ReservedOpcode)?;
        let fin = first & FIN != 0;
        let Some(&second) = bytes.get(1) else { return Ok(None) };
        let short = second & !MASKED;
        if opcode.is_control() && (!fin || short >= LENGTH_16) {
            return Err(Fault::BadControl);
        }
        let (length, at) = match short {
            LENGTH_16 => {
                let Some(two) = bytes.get(2..4) else { return Ok(None) };
                let length = u64::from(u16::from_be_bytes([two[0], two[1]]));
                (Some(length).filter(|length| *length >= u64::from(LENGTH_16)), 4)
            }
            LENGTH_64 => {
                let Some(eight) = bytes.get(2..10) else { return Ok(None) };
                let length = eight.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
                let is_allowed = length > u64::from(u16::MAX) && length <= i64::MAX.cast_unsigned();
                (Some(length).filter(|_| is_allowed), 10)
            }
            short => (Some(u64::from(short)), 2),
        };
        let length = length.ok_or(Fault::BadLength)?;
        let compressed = first & RSV1 != 0;
        if second & MASKED == 0 {
            return Ok(Some((Self { fin, compressed, opcode, length, mask: None }, at)));
        }
        let Some(mask) = bytes.get(at..at + 4) else { return Ok(None) };
        let mask = Some([mask[0], mask[1], mask[2], mask[3]]);
        Ok(Some((Self { fin, compressed, opcode, length, mask }, at + 4)))
    }

    /// Writes the header.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let fin = if self.fin { FIN } else { 0 };
        let compressed = if self.compressed { RSV1 } else { 0 };
        out.push(fin | compressed | self.opcode.bits());
        let masked = if self.mask.is_some() { MASKED } else { 0 };
        if let Ok(short) = u8::try_from(self.length)
            && short < LENGTH_16
        {
            out.push(masked | short);
        } else if let Ok(length) = u16::try_from(self.length) {
            out.push(masked | LENGTH_16);
            out.extend_from_slice(&length.to_be_bytes());
        } else {
            out.push(masked | LENGTH_64);
            out.extend_from_slice(&self.length.to_be_bytes());
        }
        if let Some(mask) = self.mask {
            out.extend_from_slice(&mask);
        }
    }
}

/// Writes a whole frame.
pub(super) fn write_frame(
    out: &mut Vec<u8>,
    opcode: Opcode,
    compressed: bool,
    payload: &[u8],
    mask: Option<[u8; 4]>,
) {
    let length = payload.len() as u64;
    FrameHeader { fin: true, compressed, opcode, length, mask }.write(out);
    let at = out.len();
    out.extend_from_slice(payload);
    if let Some(mask) = mask {
        apply_mask(&mut out[at..], mask, 0);
    }
}

/// Masks or unmasks `bytes`, which are at `offset` in the payload.
pub(super) fn apply_mask(bytes: &mut [u8], mask: [u8; 4], offset: u64) {
    let turn = (offset % 4) as usize;
    let mut turned = mask;
    turned.rotate_left(turn);
    let wide = u64::from_ne_bytes([
        turned[0], turned[1], turned[2], turned[3], turned[0], turned[1], turned[2], turned[3],
    ]);
    let (chunks, rest) = bytes.as_chunks_mut::<8>();
    for chunk in chunks {
        *chunk = (u64::from_ne_bytes(*chunk) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(turned.iter().cycle()) {
        *byte ^= key;
    }
}
