//! Reading a body: counted, chunked, or until the peer closes.

use super::bytes::{is_text, is_token};
use super::error::Reason;
use super::framing::Framing;
use super::limits::Packed;

/// The state of reading one body. Bytes are passed on as they arrive; nothing is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    /// Remaining bytes of the counted body or of the chunk. While a chunk size is read, this is
    /// the size so far.
    left: u64,
    /// Body bytes announced or seen so far, without framing.
    bytes: u64,
    /// Bytes of this chunk's extensions, then of the trailer section.
    extra: u32,
    stage: Stage,
    digits: u8,
}

/// The syntax element that is expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Done,
    Counted,
    UntilClose,
    Size,
    SizeLf,
    /// White space after a size, with which some servers fill its line.
    BeforeExtension,
    /// After `;`: a name, which some servers leave out.
    ExtensionStart,
    ExtensionName,
    /// White space after a name; `=`, `;` or the end follows.
    AfterName,
    /// After `=`: a token or a quoted string.
    ValueStart,
    ValueToken,
    Quoted,
    QuotedPair,
    /// After a quoted string.
    AfterValue,
    /// White space after a value; `;` or the end follows.
    AfterValueSpace,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    /// After a trailer, which may continue in the next line (RFC 9112 §5.2).
    NextTrailer,
    TrailerName,
    /// White space after a name: before the colon, or within a line that is no field.
    TrailerNameBlank,
    TrailerValue,
    TrailerLf,
    EndLf,
}

/// The framing of a body without a stated length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenBody {
    /// In chunks; the next one begins.
    Chunked,
    /// Everything until the peer closes.
    UntilClose,
}

impl Body {
    /// Nothing to read.
    pub(crate) const NONE: Self = Self { left: 0, bytes: 0, extra: 0, stage: Stage::Done, digits: 0 };

    /// Starts reading a body. Fails immediately if the body announces more than allowed.
    #[inline]
    pub(crate) fn start(framing: Framing, limits: &Packed) -> Result<Self, Reason> {
        match framing {
            Framing::Length(0) => Ok(Self::NONE),
            Framing::Length(length) if length > limits.body_bytes_max => Err(Reason::BodyTooLarge),
            Framing::Length(length) => Ok(Self { left: length, stage: Stage::Counted, ..Self::NONE }),
            Framing::Chunked => Ok(Self { stage: Stage::Size, ..Self::NONE }),
            Framing::UntilClose => Ok(Self { stage: Stage::UntilClose, ..Self::NONE }),
        }
    }

    /// Continues a body without a stated length, where nothing of a chunk was read.
    pub(crate) const fn resume(body: OpenBody) -> Self {
        let stage = match body {
            OpenBody::Chunked => Stage::Size,
            OpenBody::UntilClose => Stage::UntilClose,
        };
        Self { stage, ..Self::NONE }
    }

    /// Returns how the body continues, if [`resume`](Self::resume) is equivalent.
    pub(crate) const fn open_body(&self) -> Option<OpenBody> {
        match self.stage {
            Stage::UntilClose => Some(OpenBody::UntilClose),
            Stage::Size if self.digits == 0 => Some(OpenBody::Chunked),
            _ => None,
        }
    }

    /// Whether the whole body has arrived.
    #[inline]
    pub(crate) const fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// Whether the body ends when the peer closes.
    pub(crate) const fn ends_at_close(&self) -> bool {
        matches!(self.stage, Stage::UntilClose)
    }

    /// Body bytes seen so far.
    #[inline]
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Consumes the part of `input` that belongs to the body, passes its bytes to `emit`, and
    /// returns how much it consumed.
    #[inline]
    pub(crate) fn read(
        &mut self,
        input: &[u8],
        limits: &Packed,
        mut emit: impl FnMut(&[u8]),
    ) -> Result<usize, Reason> {
        let mut at = 0;
        while at < input.len() {
            match self.stage {
                Stage::Done => break,
                Stage::Counted | Stage::Data => at += self.take_data(&input[at..], &mut emit),
                Stage::UntilClose => return self.take_rest(input, limits, &mut emit),
                Stage::Size | Stage::SizeLf | Stage::BeforeExtension | Stage::DataCr | Stage::DataLf => {
                    self.stage = self.after_size_byte(input[at], limits)?;
                    at += 1;
                }
                Stage::TrailerStart
                | Stage::NextTrailer
                | Stage::TrailerName
                | Stage::TrailerNameBlank
                | Stage::TrailerValue
                | Stage::TrailerLf
                | Stage::EndLf => {
                    self.count_extra(limits.trailer_bytes_max, Reason::TrailersTooLarge)?;
                    self.stage = self.after_trailer_byte(input[at])?;
                    at += 1;
                }
                _ => {
                    self.count_extra(limits.chunk_extension_bytes_max, Reason::ChunkExtensionTooLarge)?;
                    self.stage = self.after_extension_byte(input[at])?;
                    at += 1;
                }
            }
        }
        Ok(at)
    }

    #[inline]
    fn take_data(&mut self, input: &[u8], emit: &mut impl FnMut(&[u8])) -> usize {
        let take = usize::try_from(self.left).unwrap_or(usize::MAX).min(input.len());
        emit(&input[..take]);
        self.left -= take as u64;
        self.bytes += take as u64;
        if self.left == 0 {
            self.stage = if self.stage == Stage::Counted { Stage::Done } else { Stage::DataCr };
        }
        take
    }

    /// Passes on as much as is allowed before it returns an error, so that the result does not
    /// depend on how reads were cut.
    fn take_rest(
        &mut self,
        input: &[u8],
        limits: &Packed,
        emit: &mut impl FnMut(&[u8]),
    ) -> Result<usize, Reason> {
        let room = limits.body_bytes_max - self.bytes;
        let take = usize::try_from(room).unwrap_or(usize::MAX).min(input.len());
        if take > 0 {
            emit(&input[..take]);
            self.bytes += take as u64;
        }
        if take < input.len() { Err(Reason::BodyTooLarge) } else { Ok(take) }
    }

    fn count_extra(&mut self, extra_max: u32, reason: Reason) -> Result<(), Reason> {
        self.extra += 1;
        if self.extra > extra_max { Err(reason) } else { Ok(()) }
    }

    /// Sizes and the ends of chunks (RFC 9112 §7.1).
    fn after_size_byte(&mut self, byte: u8, limits: &Packed) -> Result<Stage, Reason> {
        match (self.stage, byte) {
            (Stage::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') if self.digits < SIZE_DIGITS_MAX => {
                self.digits += 1;
                self.left = self.left << 4 | u64::from(hex(byte));
                Ok(Stage::Size)
            }
            (Stage::Size, b'\r') if self.digits > 0 => Ok(Stage::SizeLf),
            (Stage::Size, b'\n') if self.digits > 0 => Err(Reason::BareLf),
            (Stage::Size, b';') if self.digits > 0 => Ok(Stage::ExtensionStart),
            (Stage::Size, b' ' | b'\t') if self.digits > 0 => Ok(Stage::BeforeExtension),
            (Stage::BeforeExtension, b' ' | b'\t') => {
                self.count_extra(limits.chunk_extension_bytes_max, Reason::ChunkExtensionTooLarge)?;
                Ok(Stage::BeforeExtension)
            }
            (Stage::BeforeExtension, b';') => Ok(Stage::ExtensionStart),
            (Stage::BeforeExtension, b'\r') => Ok(Stage::SizeLf),
            (Stage::SizeLf, b'\n') => self.start_chunk(limits),
            (Stage::DataCr, b'\r') => Ok(Stage::DataLf),
            (Stage::BeforeExtension | Stage::DataCr, b'\n') => Err(Reason::BareLf),
            (Stage::DataLf, b'\n') => {
                (self.left, self.digits, self.extra) = (0, 0, 0);
                Ok(Stage::Size)
            }
            (Stage::SizeLf | Stage::DataLf, _) => Err(Reason::BareCr),
            (Stage::DataCr, _) => Err(Reason::MissingChunkEnd),
            _ => Err(Reason::BadChunkSize),
        }
    }

    fn start_chunk(&mut self, limits: &Packed) -> Result<Stage, Reason> {
        self.extra = 0;
        if self.left == 0 {
            return Ok(Stage::TrailerStart);
        }
        if self.left > limits.body_bytes_max - self.bytes {
            return Err(Reason::BodyTooLarge);
        }
        Ok(Stage::Data)
    }

    /// Extensions (RFC 9112 §7.1.1) are ignored, but their end must be unambiguous.
    fn after_extension_byte(&self, byte: u8) -> Result<Stage, Reason> {
        let space = matches!(byte, b' ' | b'\t');
        match (self.stage, byte) {
            (Stage::Quoted, b'"') => Ok(Stage::AfterValue),
            (Stage::Quoted, b'\\') => Ok(Stage::QuotedPair),
            (Stage::Quoted | Stage::QuotedPair, _) if is_text(byte) => Ok(Stage::Quoted),
            (Stage::ExtensionStart, _) if space => Ok(Stage::ExtensionStart),
            (Stage::ExtensionStart | Stage::ExtensionName, _) if is_token(byte) => Ok(Stage::ExtensionName),
            (Stage::ExtensionName | Stage::AfterName, _) if space => Ok(Stage::AfterName),
            (Stage::ExtensionName | Stage::AfterName, b'=') => Ok(Stage::ValueStart),
            (Stage::ValueStart, _) if space => Ok(Stage::ValueStart),
            (Stage::ValueStart, b'"') => Ok(Stage::Quoted),
            (Stage::ValueStart | Stage::ValueToken, _) if is_token(byte) => Ok(Stage::ValueToken),
            (Stage::ValueToken | Stage::AfterValue | Stage::AfterValueSpace, _) if space => {
                Ok(Stage::AfterValueSpace)
            }
            (
                Stage::ExtensionName
                | Stage::AfterName
                | Stage::ValueToken
                | Stage::AfterValue
                | Stage::AfterValueSpace,
                b';',
            ) => Ok(Stage::ExtensionStart),
            (
                Stage::ExtensionStart
                | Stage::ExtensionName
                | Stage::AfterName
                | Stage::ValueToken
                | Stage::AfterValue
                | Stage::AfterValueSpace,
                b'\r',
            ) => Ok(Stage::SizeLf),
            (
                Stage::ExtensionStart
                | Stage::ExtensionName
                | Stage::AfterName
                | Stage::ValueToken
                | Stage::AfterValue
                | Stage::AfterValueSpace,
                b'\n',
            ) => Err(Reason::BareLf),
            _ => Err(Reason::BadChunkExtension),
        }
    }

    /// Trailers are checked like fields of a head and dropped: no trailer may change the framing.
    fn after_trailer_byte(&self, byte: u8) -> Result<Stage, Reason> {
        match (self.stage, byte) {
            (Stage::TrailerStart | Stage::NextTrailer, b'\r') => Ok(Stage::EndLf),
            (Stage::TrailerStart | Stage::NextTrailer | Stage::EndLf, b'\n') => Ok(Stage::Done),
            (Stage::TrailerStart, b' ' | b'\t') => Err(Reason::FoldedLine),
            (Stage::NextTrailer, b' ' | b'\t') => Ok(Stage::TrailerValue),
            (Stage::TrailerStart | Stage::NextTrailer | Stage::TrailerName, _) if is_token(byte) => {
                Ok(Stage::TrailerName)
            }
            (Stage::TrailerName, b':') => Ok(Stage::TrailerValue),
            (Stage::TrailerName | Stage::TrailerNameBlank, b' ' | b'\t') => Ok(Stage::TrailerNameBlank),
            (Stage::TrailerNameBlank, b':') => Err(Reason::SpaceBeforeColon),
            (Stage::TrailerName | Stage::TrailerNameBlank, b'\r' | b'\n') => Err(Reason::MissingColon),
            (Stage::TrailerValue, b'\r') => Ok(Stage::TrailerLf),
            (Stage::TrailerValue | Stage::TrailerLf, b'\n') => Ok(Stage::NextTrailer),
            (Stage::TrailerValue, _) if is_text(byte) => Ok(Stage::TrailerValue),
            (Stage::TrailerLf | Stage::EndLf, _) => Err(Reason::BareCr),
            (Stage::TrailerStart | Stage::NextTrailer | Stage::TrailerName | Stage::TrailerNameBlank, _) => {
                Err(Reason::BadFieldName)
            }
            _ => Err(Reason::ControlByte),
        }
    }
}

/// Sixteen hexadecimal digits fill 64 bits. Leading zeros count, because no peer needs more digits.
const SIZE_DIGITS_MAX: u8 = 16;

/// The value of a hexadecimal digit.
const fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}
