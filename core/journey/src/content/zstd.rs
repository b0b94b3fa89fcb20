//! [`Unzstd`]: `zstd`.

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::fault::ContentFault;
use super::sink::LimitedBuffer;

/// Maximum window of a frame: the limit of RFC 9659 §3 for content codings.
const WINDOW_MAX: u64 = 8 << 20;
/// Maximum length of a frame header (RFC 8878 §3.1.1).
const FRAME_HEAD_MAX: usize = 18;
/// Maximum length of a block with its header, and the checksum after the last one.
const BLOCK_MAX: usize = (128 << 10) + 3 + 4;
/// The type of a block that repeats one byte (RFC 8878 §3.1.1.2).
const RUN_LENGTH: u32 = 1;
/// The bit of a frame's descriptor that announces a checksum (RFC 8878 §3.1.1.1.1).
const CHECKSUM_BIT: u8 = 4;

/// Decoder state of a body of zstd frames.
#[derive(Default)]
pub(super) struct Unzstd {
    decoder: FrameDecoder,
    /// Bytes that are not yet a complete header or block.
    held: Vec<u8>,
    in_frame: bool,
    /// Whether the frame ends with a checksum of 4 bytes.
    checksum: bool,
    /// Remaining bytes of a skippable frame.
    skip: u64,
}

impl std::fmt::Debug for Unzstd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unzstd").field("held", &self.held.len()).finish_non_exhaustive()
    }
}

impl Unzstd {
    pub(super) fn new() -> Self {
        let mut new = Self::default();
        new.decoder.set_max_window_size(WINDOW_MAX);
        new
    }

    pub(super) fn feed(&mut self, mut piece: &[u8], sink: &mut LimitedBuffer) -> Result<(), ContentFault> {
        // Pieces are at most as long as a block, so that few bytes are held back.
        while !piece.is_empty() {
            let (now, later) = piece.split_at(piece.len().min(BLOCK_MAX));
            self.held.extend_from_slice(now);
            piece = later;
            let used = self.work(sink)?;
            self.held.drain(..used);
        }
        Ok(())
    }

    /// Whether the body ended at the end of a frame. This is true for an empty body.
    pub(super) fn is_complete(&self) -> bool {
        self.held.is_empty() && !self.in_frame && self.skip == 0
    }

    /// Decodes the held bytes and returns the number of bytes used.
    fn work(&mut self, sink: &mut LimitedBuffer) -> Result<usize, ContentFault> {
        let mut used = 0;
        loop {
            let rest = &self.held[used..];
            if self.skip > 0 {
                let now = self.skip.min(rest.len() as u64);
                self.skip -= now;
                used += now as usize;
                if now == 0 {
                    return Ok(used);
                }
            } else if self.in_frame {
                let (read, more) = self.block(used, sink)?;
                used += read;
                if !more {
                    return Ok(used);
                }
            } else if rest.is_empty() {
                return Ok(used);
            } else {
                match self.head(used)? {
                    Some(read) => used += read,
                    None => return Ok(used),
                }
            }
        }
    }

    /// Reads a frame header; `None` while it is incomplete.
    fn head(&mut self, at: usize) -> Result<Option<usize>, ContentFault> {
        let rest = &self.held[at..];
        // The sixteen magic numbers of skippable frames.
        if let [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] = rest {
            let Some(length) = rest.get(4..8).and_then(|bytes| bytes.try_into().ok()) else {
                return Ok(None);
            };
            self.skip = u64::from(u32::from_le_bytes(length));
            return Ok(Some(8));
        }
        let mut source = rest;
        match self.decoder.reset(&mut source) {
            Ok(()) => {
                self.in_frame = true;
                self.checksum = rest.get(4).is_some_and(|descriptor| descriptor & CHECKSUM_BIT != 0);
                Ok(Some(rest.len() - source.len()))
            }
            Err(_) if rest.len() < FRAME_HEAD_MAX => Ok(None),
            Err(_) => Err(ContentFault::Broken),
        }
    }

    /// Decodes one block if it is complete. Returns the number of bytes read and whether to
    /// continue. Only one block is passed at a time: a block of 4 bytes can become 128 KiB, and the
    /// library decodes all its input before it returns any output.
    fn block(&mut self, at: usize, sink: &mut LimitedBuffer) -> Result<(usize, bool), ContentFault> {
        let rest = &self.held[at..];
        let [a, b, c, ..] = *rest else { return Ok((0, false)) };
        let head = u32::from_le_bytes([a, b, c, 0]);
        let (last, kind, size) = (head & 1 == 1, head >> 1 & 3, (head >> 3) as usize);
        let content = if kind == RUN_LENGTH { 1 } else { size };
        let wanted = 3 + content + if last && self.checksum { 4 } else { 0 };
        if wanted > BLOCK_MAX {
            return Err(ContentFault::Broken);
        }
        let Some(mut block) = rest.get(..wanted) else { return Ok((0, false)) };
        self.decoder
            .decode_blocks(&mut block, BlockDecodingStrategy::UptoBlocks(1))
            .map_err(|_| ContentFault::Broken)?;
        self.decoder.collect_to_writer(&mut *sink).map_err(|_| ContentFault::Broken)?;
        self.in_frame = !self.decoder.is_finished();
        // The library computes the checksum over what was collected, but does not compare it.
        if !self.in_frame
            && self.checksum
            && self.decoder.get_checksum_from_data() != self.decoder.get_calculated_checksum()
        {
            return Err(ContentFault::Checksum);
        }
        Ok((wanted, true))
    }
}
