//! [`HeaderBlock`]: a header block that continues in further frames.

use super::error::Fault;
use super::frame::{FrameHeader, flag, kind, without_padding};

/// The largest header block, encoded.
const BLOCK_BYTES_MAX: usize = 64 * 1024;
/// The most frames of one header block.
const BLOCK_FRAMES_MAX: u32 = 32;

/// A header block that is not complete.
#[derive(Debug)]
pub(super) struct HeaderBlock {
    pub(super) stream: u32,
    pub(super) end_stream: bool,
    pub(super) bytes: Vec<u8>,
    frames: u32,
}

impl HeaderBlock {
    /// Returns the part of a block that a HEADERS frame has.
    #[inline]
    pub(super) fn fragment(header: FrameHeader, payload: &[u8]) -> Result<&[u8], Fault> {
        if header.stream == 0 {
            return Err(Fault::WrongStream);
        }
        let fragment = without_padding(header, payload).ok_or(Fault::Padding)?;
        if header.has(flag::PRIORITY) { fragment.get(5..).ok_or(Fault::FrameSize) } else { Ok(fragment) }
    }

    /// Begins a block that the HEADERS frame does not complete.
    pub(super) fn begin(header: FrameHeader, fragment: &[u8]) -> Self {
        let end_stream = header.has(flag::END_STREAM);
        Self { stream: header.stream, end_stream, bytes: fragment.to_vec(), frames: 1 }
    }

    /// Adds a frame to the block in `place`. Returns the block if that completes it.
    pub(super) fn continue_in(
        place: &mut Option<Self>,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<Option<Self>, Fault> {
        let Some(mut block) = place.take() else { return Err(Fault::Continuation) };
        if header.kind != kind::CONTINUATION || header.stream != block.stream {
            return Err(Fault::Continuation);
        }
        block.frames += 1;
        block.bytes.extend_from_slice(payload);
        if block.bytes.len() > BLOCK_BYTES_MAX || block.frames > BLOCK_FRAMES_MAX {
            return Err(Fault::HeadersTooLarge);
        }
        if header.has(flag::END_HEADERS) {
            return Ok(Some(block));
        }
        *place = Some(block);
        Ok(None)
    }
}
