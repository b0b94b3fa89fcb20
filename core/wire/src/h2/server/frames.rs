//! Frames of the client.

use super::super::error::{ErrorCode, Fault};
use super::super::frame::{self, FrameHeader, WINDOW_MAX, flag, kind, number};
use super::super::frame_reader::Piece;
use super::{Core, RECEIVE_WINDOW, ServerSink};
use crate::h1::RequestEnd;

/// The most frames that are accepted without a response in between.
const IDLE_FRAMES_MAX: u32 = 10_000;

impl Core {
    #[inline]
    pub(super) fn take(&mut self, piece: Piece<'_>, sink: &mut impl ServerSink) -> Result<(), Fault> {
        match piece {
            Piece::DataStart { stream, length } => self.start_data(stream, length, sink),
            Piece::Data { stream, bytes } => {
                self.take_data(stream, bytes, sink);
                Ok(())
            }
            Piece::DataEnd { stream, end_stream } => {
                if end_stream && let Some(at) = self.find(stream) {
                    self.complete(at, sink);
                }
                Ok(())
            }
            Piece::Frame(header, payload) => self.take_frame(header, payload, sink),
        }
    }

    fn take_frame(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ServerSink,
    ) -> Result<(), Fault> {
        if self.block.is_some() {
            return self.take_continuation(header, payload, sink);
        }
        if !self.peer.arrived && (header.kind != kind::SETTINGS || header.has(flag::ACK)) {
            return Err(Fault::NoSettings);
        }
        if header.kind == kind::HEADERS {
            return self.take_headers(header, payload, sink);
        }
        self.count_idle_frame()?;
        match header.kind {
            kind::SETTINGS => self.take_settings(header, payload),
            kind::PING | kind::GOAWAY if header.stream != 0 => Err(Fault::WrongStream),
            kind::PING if payload.len() != 8 => Err(Fault::FrameSize),
            kind::PING => {
                if !header.has(flag::ACK) {
                    frame::push_ping_ack(&mut self.out, payload);
                }
                Ok(())
            }
            kind::WINDOW_UPDATE => self.take_window_update(header, payload, sink),
            kind::RST_STREAM => self.take_reset(header, payload, sink),
            kind::GOAWAY if payload.len() < 8 => Err(Fault::FrameSize),
            kind::PUSH_PROMISE => Err(Fault::Push),
            kind::CONTINUATION => Err(Fault::Continuation),
            kind::PRIORITY if header.stream == 0 => Err(Fault::WrongStream),
            kind::PRIORITY if payload.len() != 5 => self.bad_priority(header.stream, sink),
            // Other types are ignored (RFC 9113 §5.5).
            _ => Ok(()),
        }
    }

    pub(super) fn count_idle_frame(&mut self) -> Result<(), Fault> {
        self.idle_frames += 1;
        self.check_flood()
    }

    /// Checks that the client has not sent too many frames in a row that make no progress.
    pub(super) fn check_flood(&self) -> Result<(), Fault> {
        if self.idle_frames > IDLE_FRAMES_MAX { Err(Fault::Flood) } else { Ok(()) }
    }

    /// Handles a PRIORITY frame of the wrong length, which is a fault of its stream alone.
    fn bad_priority(&mut self, id: u32, sink: &mut impl ServerSink) -> Result<(), Fault> {
        match self.find(id) {
            Some(at) => {
                self.reject(at, ErrorCode::FRAME_SIZE_ERROR, sink);
                Ok(())
            }
            None => Err(Fault::FrameSize),
        }
    }

    fn take_settings(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), Fault> {
        let before = self.peer.window;
        if !self.peer.take(header, payload, false)? {
            return Ok(());
        }
        if let Some(size) = self.peer.table {
            self.encoder.set_size_max(size);
        }
        let grown = self.peer.window - before;
        for stream in &mut self.streams {
            stream.send_window += grown;
            if stream.send_window > WINDOW_MAX {
                return Err(Fault::WindowOverflow);
            }
        }
        frame::push_settings_ack(&mut self.out);
        Ok(())
    }

    fn take_window_update(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ServerSink,
    ) -> Result<(), Fault> {
        if payload.len() != 4 {
            return Err(Fault::FrameSize);
        }
        let grown = i64::from(number(payload) & 0x7fff_ffff);
        if header.stream == 0 {
            if grown == 0 {
                return Err(Fault::EmptyWindowUpdate);
            }
            self.send_window += grown;
            return if self.send_window > WINDOW_MAX { Err(Fault::WindowOverflow) } else { Ok(()) };
        }
        let Some(at) = self.find(header.stream) else { return self.check_known(header.stream) };
        let stream = &mut self.streams[at];
        stream.send_window += grown;
        if grown == 0 {
            self.reject(at, ErrorCode::PROTOCOL_ERROR, sink);
        } else if stream.send_window > WINDOW_MAX {
            self.reject(at, ErrorCode::FLOW_CONTROL_ERROR, sink);
        }
        Ok(())
    }

    fn take_reset(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ServerSink,
    ) -> Result<(), Fault> {
        if header.stream == 0 {
            return Err(Fault::WrongStream);
        }
        if payload.len() != 4 {
            return Err(Fault::FrameSize);
        }
        let Some(at) = self.find(header.stream) else { return self.check_known(header.stream) };
        let stream = self.streams.remove(at);
        sink.cancelled(stream.id);
        Ok(())
    }

    /// Checks that a stream that is not in use was used before.
    fn check_known(&self, id: u32) -> Result<(), Fault> {
        if id.is_multiple_of(2) || id > self.last_id { Err(Fault::UnknownStream) } else { Ok(()) }
    }

    fn start_data(&mut self, id: u32, length: usize, sink: &mut impl ServerSink) -> Result<(), Fault> {
        if self.block.is_some() {
            return Err(Fault::Continuation);
        }
        if !self.peer.arrived {
            return Err(Fault::NoSettings);
        }
        if length == 0 {
            self.count_idle_frame()?;
        }
        self.receive_window -= length as i64;
        if self.receive_window < 0 {
            return Err(Fault::WindowExceeded);
        }
        if self.receive_window < RECEIVE_WINDOW / 2 {
            frame::push_window_update(&mut self.out, 0, (RECEIVE_WINDOW - self.receive_window) as u32);
            self.receive_window = RECEIVE_WINDOW;
        }
        let Some(at) = self.find(id) else {
            self.check_known(id)?;
            return if self.reset.may_contain(id) { Ok(()) } else { Err(Fault::StreamClosed) };
        };
        let Self { streams, out, .. } = self;
        let stream = &mut streams[at];
        if stream.is_complete {
            self.reject(at, ErrorCode::STREAM_CLOSED, sink);
            return Ok(());
        }
        stream.receive_window -= length as i64;
        if stream.receive_window < 0 {
            return Err(Fault::WindowExceeded);
        }
        if stream.receive_window < RECEIVE_WINDOW / 2 {
            frame::push_window_update(out, id, (RECEIVE_WINDOW - stream.receive_window) as u32);
            stream.receive_window = RECEIVE_WINDOW;
        }
        Ok(())
    }

    fn take_data(&mut self, id: u32, bytes: &[u8], sink: &mut impl ServerSink) {
        let Some(at) = self.find(id) else { return };
        let stream = &mut self.streams[at];
        stream.body_bytes += bytes.len() as u64;
        if stream.content_length.is_some_and(|length| stream.body_bytes > length) {
            return self.reject(at, ErrorCode::PROTOCOL_ERROR, sink);
        }
        sink.body(id, bytes);
    }

    /// Handles the end of a request.
    pub(super) fn complete(&mut self, at: usize, sink: &mut impl ServerSink) {
        let stream = &mut self.streams[at];
        if stream.content_length.is_some_and(|length| stream.body_bytes != length) {
            return self.reject(at, ErrorCode::PROTOCOL_ERROR, sink);
        }
        stream.is_complete = true;
        let (head_request, body_bytes) = (stream.is_head, stream.body_bytes);
        sink.request(stream.id, RequestEnd { keep_alive: true, http_10: false, head_request, body_bytes });
    }

    /// Resets a stream on which the client broke a rule.
    pub(super) fn reject(&mut self, at: usize, code: ErrorCode, sink: &mut impl ServerSink) {
        let id = self.reset_stream(at, code);
        sink.rejected(id);
        sink.cancelled(id);
    }
}
