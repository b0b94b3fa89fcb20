//! Header blocks of responses.

use super::super::error::{ErrorCode, Fault};
use super::super::frame::{FrameHeader, flag};
use super::super::header_block::HeaderBlock;
use super::super::response_fields;
use super::{ClientSink, Core, StreamFailure};
use crate::h1::{ResponseHead, Version};

/// A longer block is decoded each time.
const REMEMBERED_BYTES_MAX: usize = 2_048;

impl<T> Core<T> {
    pub(super) fn take_headers(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ClientSink<T>,
    ) -> Result<(), Fault> {
        let fragment = HeaderBlock::fragment(header, payload)?;
        if header.has(flag::END_HEADERS) {
            return self.take_block(header.stream, header.has(flag::END_STREAM), fragment, sink);
        }
        self.block = Some(HeaderBlock::begin(header, fragment));
        Ok(())
    }

    pub(super) fn take_continuation(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ClientSink<T>,
    ) -> Result<(), Fault> {
        match HeaderBlock::continue_in(&mut self.block, header, payload)? {
            Some(block) => self.take_block(block.stream, block.end_stream, &block.bytes, sink),
            None => Ok(()),
        }
    }

    /// Handles a complete header block.
    fn take_block(
        &mut self,
        id: u32,
        end_stream: bool,
        block: &[u8],
        sink: &mut impl ClientSink<T>,
    ) -> Result<(), Fault> {
        let Some(at) = self.find(id) else {
            let allowed = self.check_closed(id);
            // It changes the table even if no request needs it.
            self.decode(block, false)?;
            return allowed;
        };
        let stream = &mut self.streams[at];
        stream.has_begun = true;
        if stream.has_head {
            return self.take_trailers(at, end_stream, block, sink);
        }
        let wants_fields = sink.began(&mut stream.tag);
        stream.wants_fields = wants_fields;
        if wants_fields || !self.recall(block) {
            let before = self.decoder.changes();
            self.decode(block, wants_fields)?;
            if before == self.decoder.changes() {
                self.learn(block);
            }
        }
        let is_malformed = self.fields.malformed || self.fields.status == 0 || self.fields.status == 101;
        if let Some(fault) = self.faulty_fields(is_malformed) {
            self.fail(at, fault, sink);
            return Ok(());
        }
        let stream = &mut self.streams[at];
        if self.fields.status < 200 {
            stream.interims += 1;
            let fault = if end_stream {
                Fault::Malformed
            } else if stream.interims > self.limits.interim_max {
                Fault::TooManyInterim
            } else {
                return Ok(());
            };
            self.fail(at, fault, sink);
            return Ok(());
        }
        stream.has_head = true;
        stream.status = self.fields.status;
        stream.content_length = self.fields.content_length;
        if let Some(grpc) = &mut stream.grpc {
            grpc.take_head(self.fields.status, self.fields.grpc);
        }
        stream.head_bytes = u32::try_from(block.len()).unwrap_or(u32::MAX);
        if wants_fields {
            let status = self.fields.status;
            sink.head(&mut stream.tag, &ResponseHead::of_fields(Version::Http2, status, &self.fields.lines));
        }
        if end_stream {
            self.finish(at, sink);
        }
        Ok(())
    }

    /// Handles the complete header block after a response's body.
    fn take_trailers(
        &mut self,
        at: usize,
        end_stream: bool,
        block: &[u8],
        sink: &mut impl ClientSink<T>,
    ) -> Result<(), Fault> {
        let Self { streams, decoder, limits, fields, .. } = self;
        let stream = &mut streams[at];
        response_fields::decode(decoder, block, limits, (Version::Http2, stream.wants_fields), fields)?;
        let is_bad = fields.malformed || fields.status != 0 || !end_stream;
        if stream.wants_fields && !is_bad {
            sink.trailers(&mut stream.tag, &fields.lines);
        }
        if let Some(grpc) = &mut stream.grpc {
            grpc.take_trailers(fields.grpc.status);
        }
        match self.faulty_fields(is_bad) {
            Some(fault) => self.fail(at, fault, sink),
            None => self.finish(at, sink),
        }
        Ok(())
    }

    fn decode(&mut self, block: &[u8], wants_lines: bool) -> Result<(), Fault> {
        let Self { decoder, limits, fields, .. } = self;
        response_fields::decode(decoder, block, limits, (Version::Http2, wants_lines), fields)
    }

    /// Returns the fault of the fields that were decoded.
    fn faulty_fields(&self, is_malformed: bool) -> Option<Fault> {
        if self.fields.too_large {
            return Some(Fault::HeadersTooLarge);
        }
        is_malformed.then_some(Fault::Malformed)
    }

    /// Takes over what the last block says, if `block` is the same.
    fn recall(&mut self, block: &[u8]) -> bool {
        let last = &self.last_block;
        let is_same = last.changes == self.decoder.changes() && !block.is_empty() && last.bytes == block;
        if is_same {
            (self.fields.status, self.fields.content_length) = (last.status, last.content_length);
            self.fields.grpc = last.grpc;
            (self.fields.malformed, self.fields.too_large) = (false, false);
        }
        is_same
    }

    fn learn(&mut self, block: &[u8]) {
        if block.len() > REMEMBERED_BYTES_MAX || self.fields.malformed || self.fields.too_large {
            return;
        }
        let last = &mut self.last_block;
        last.bytes.clear();
        last.bytes.extend_from_slice(block);
        last.changes = self.decoder.changes();
        (last.status, last.content_length) = (self.fields.status, self.fields.content_length);
        last.grpc = self.fields.grpc;
    }

    /// Handles a frame on a stream that is not in use.
    pub(super) fn check_closed(&self, id: u32) -> Result<(), Fault> {
        if id.is_multiple_of(2) || id >= self.next_id {
            Err(Fault::UnknownStream)
        } else if self.reset.may_contain(id) {
            Ok(())
        } else {
            Err(Fault::StreamClosed)
        }
    }

    /// Resets a stream because of its response.
    pub(super) fn fail(&mut self, at: usize, fault: Fault, sink: &mut impl ClientSink<T>) {
        let code = if fault == Fault::HeadersTooLarge { ErrorCode::CANCEL } else { fault.code() };
        let stream = self.reset_stream(at, code);
        sink.failed(stream.tag, StreamFailure::Fault(fault));
    }
}
