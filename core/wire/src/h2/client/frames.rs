//! Frames of the server.

use super::super::error::{ErrorCode, Fault};
use super::super::frame::{self, FrameHeader, WINDOW_MAX, flag, kind, number};
use super::super::frame_reader::Piece;
use super::{ClientSink, Core, RECEIVE_WINDOW, StreamFailure};
use crate::h1::ResponseEnd;

/// The most frames that are accepted without any progress of a request.
const IDLE_FRAMES_MAX: u32 = 10_000;
/// The most answers to settings and pings that wait for a peer which does not read.
const BLOCKED_ACKS_MAX: u32 = 1_000;

impl<T> Core<T> {
    #[inline]
    pub(super) fn take(&mut self, piece: Piece<'_>, sink: &mut impl ClientSink<T>) -> Result<(), Fault> {
        match piece {
            Piece::DataStart { stream, length } => self.start_data(stream, length),
            Piece::Data { stream, bytes } => {
                self.take_data(stream, bytes, sink);
                Ok(())
            }
            Piece::DataEnd { stream, end_stream } => {
                self.end_data(stream, end_stream, sink);
                Ok(())
            }
            Piece::Frame(header, payload) => self.take_frame(header, payload, sink),
        }
    }

    fn take_frame(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ClientSink<T>,
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
        self.idle_frames += 1;
        if self.idle_frames > IDLE_FRAMES_MAX {
            return Err(Fault::Flood);
        }
        match header.kind {
            kind::SETTINGS => self.take_settings(header, payload),
            kind::PING => self.take_ping(header, payload, sink),
            kind::WINDOW_UPDATE => self.take_window_update(header, payload, sink),
            kind::RST_STREAM => self.take_reset(header, payload, sink),
            kind::GOAWAY => self.take_goaway(header, payload, sink),
            kind::PUSH_PROMISE => Err(Fault::Push),
            kind::CONTINUATION => Err(Fault::Continuation),
            kind::PRIORITY if header.stream == 0 => Err(Fault::WrongStream),
            kind::PRIORITY if payload.len() != 5 => Err(Fault::FrameSize),
            // Other types are ignored (RFC 9113 §5.5).
            _ => Ok(()),
        }
    }

    fn take_settings(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), Fault> {
        let before = self.peer.window;
        if !self.peer.take(header, payload, true)? {
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
        self.continue_bodies();
        self.count_ack()
    }

    fn take_ping(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ClientSink<T>,
    ) -> Result<(), Fault> {
        if header.stream != 0 {
            return Err(Fault::WrongStream);
        }
        if payload.len() != 8 {
            return Err(Fault::FrameSize);
        }
        if !header.has(flag::ACK) {
            frame::push_ping_ack(&mut self.out, payload);
            return self.count_ack();
        }
        if self.pings > 0 {
            // An answer is no flood.
            self.pings -= 1;
            self.idle_frames -= 1;
            sink.pong(payload);
        }
        Ok(())
    }

    /// Counts an answer that the peer demands. It must read those before.
    const fn count_ack(&mut self) -> Result<(), Fault> {
        let Some(acks) = &mut self.blocked_acks else { return Ok(()) };
        *acks += 1;
        if *acks > BLOCKED_ACKS_MAX { Err(Fault::Flood) } else { Ok(()) }
    }

    fn take_window_update(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ClientSink<T>,
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
            if self.send_window > WINDOW_MAX {
                return Err(Fault::WindowOverflow);
            }
            self.continue_bodies();
            return Ok(());
        }
        let Some(at) = self.find(header.stream) else {
            // It may refer to a request that was answered before its end arrived.
            let is_idle = header.stream.is_multiple_of(2) || header.stream >= self.next_id;
            return if is_idle { Err(Fault::UnknownStream) } else { Ok(()) };
        };
        let stream = &mut self.streams[at];
        stream.send_window += grown;
        let fault = match grown {
            0 => Some(Fault::EmptyWindowUpdate),
            _ if stream.send_window > WINDOW_MAX => Some(Fault::WindowOverflow),
            _ => None,
        };
        match fault {
            Some(fault) => self.fail(at, fault, sink),
            None => self.continue_bodies(),
        }
        Ok(())
    }

    fn take_reset(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ClientSink<T>,
    ) -> Result<(), Fault> {
        if header.stream == 0 {
            return Err(Fault::WrongStream);
        }
        if payload.len() != 4 {
            return Err(Fault::FrameSize);
        }
        let Some(at) = self.find(header.stream) else {
            let is_idle = header.stream.is_multiple_of(2) || header.stream >= self.next_id;
            return if is_idle { Err(Fault::UnknownStream) } else { Ok(()) };
        };
        let code = ErrorCode(number(payload));
        let stream = self.streams.remove(at);
        self.reset.insert(stream.id);
        let failure = match code {
            ErrorCode::REFUSED_STREAM if !stream.has_head => StreamFailure::Refused,
            code => StreamFailure::Reset(code),
        };
        sink.failed(stream.tag, failure);
        Ok(())
    }

    fn take_goaway(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ClientSink<T>,
    ) -> Result<(), Fault> {
        if header.stream != 0 {
            return Err(Fault::WrongStream);
        }
        let (Some(last), Some(code)) = (payload.get(..4), payload.get(4..8)) else {
            return Err(Fault::FrameSize);
        };
        let (last, code) = (number(last) & 0x7fff_ffff, ErrorCode(number(code)));
        self.parting = Some(code);
        let first_lost = self.streams.partition_point(|stream| stream.id <= last);
        for stream in self.streams.split_off(first_lost) {
            self.reset.insert(stream.id);
            sink.failed(stream.tag, StreamFailure::GoneAway(code));
        }
        Ok(())
    }

    fn start_data(&mut self, id: u32, length: usize) -> Result<(), Fault> {
        if self.block.is_some() {
            return Err(Fault::Continuation);
        }
        if !self.peer.arrived {
            return Err(Fault::NoSettings);
        }
        self.receive_window -= length as i64;
        if self.receive_window < 0 {
            return Err(Fault::WindowExceeded);
        }
        if self.receive_window < RECEIVE_WINDOW / 2 {
            frame::push_window_update(&mut self.out, 0, (RECEIVE_WINDOW - self.receive_window) as u32);
            self.receive_window = RECEIVE_WINDOW;
        }
        if length == 0 {
            self.idle_frames += 1;
            if self.idle_frames > IDLE_FRAMES_MAX {
                return Err(Fault::Flood);
            }
        }
        let Some(at) = self.find(id) else { return self.check_closed(id) };
        let Self { streams, out, .. } = self;
        let stream = &mut streams[at];
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

    #[inline]
    fn take_data(&mut self, id: u32, bytes: &[u8], sink: &mut impl ClientSink<T>) {
        let Some(at) = self.find(id) else { return };
        // A stream that stays open has no end that would show progress.
        self.idle_frames = 0;
        let stream = &mut self.streams[at];
        stream.body_bytes += bytes.len() as u64;
        let fault = if !stream.has_head || stream.is_bodiless() {
            Fault::Malformed
        } else if stream.content_length.is_some_and(|length| stream.body_bytes > length) {
            Fault::BodyLength
        } else if stream.body_bytes > self.limits.body_bytes_max {
            Fault::BodyTooLarge
        } else {
            match stream.grpc.as_mut().map_or(Ok(0), |grpc| grpc.take_body(bytes)) {
                Ok(messages) => self.messages.1 += messages,
                Err(fault) => return self.fail(at, fault, sink),
            }
            let stream = &mut self.streams[at];
            return sink.body(&mut stream.tag, bytes);
        };
        self.fail(at, fault, sink);
    }

    #[inline]
    fn end_data(&mut self, id: u32, end_stream: bool, sink: &mut impl ClientSink<T>) {
        if end_stream && let Some(at) = self.find(id) {
            self.finish(at, sink);
        }
    }

    /// Handles the end of a response.
    #[inline]
    pub(super) fn finish(&mut self, at: usize, sink: &mut impl ClientSink<T>) {
        let stream = &self.streams[at];
        let is_complete = stream.content_length.is_none_or(|length| length == stream.body_bytes);
        if !stream.has_head {
            return self.fail(at, Fault::Malformed, sink);
        }
        if !is_complete && !stream.is_bodiless() {
            return self.fail(at, Fault::BodyLength, sink);
        }
        if stream.grpc.as_ref().is_some_and(|grpc| grpc.status(stream.status) == 0 && !grpc.is_whole()) {
            return self.fail(at, Fault::GrpcFrame, sink);
        }
        self.idle_frames = 0;
        let stream = self.streams.remove(at);
        self.abandon_body(&stream);
        let end = ResponseEnd {
            status: stream.grpc.as_ref().map_or(stream.status, |grpc| grpc.status(stream.status)),
            keep_alive: true,
            close_announced: false,
            body_bytes: stream.body_bytes,
            head_bytes: stream.head_bytes,
        };
        sink.answered(stream.tag, end);
    }
}
