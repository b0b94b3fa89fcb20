//! [`QuicConnection`]: one connection: records in, records out.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Instant;

use bytes::Bytes;
use quinn_proto::{
    Connection, ConnectionError, ConnectionHandle, Dir, Endpoint, Event, ReadError, Side, StreamEvent,
    StreamId, Transmit, VarInt,
};
use wavetank_driver::{CloseReason, ConnId, Errno, PacketCounts, SEGMENT_BYTES};
use wavetank_units::Nanos;
use wavetank_wire::h3::records::{self, Record, RecordKind};

/// The most datagrams that are sent at a time. More would be lost together.
pub(crate) const SEGMENTS_MAX: usize = 10;

/// The code with which HTTP/3 closes a connection without an error (RFC 9114 §8.1).
const NO_ERROR: u32 = 0x100;

/// The code with which HTTP/3 cancels a request (RFC 9114 §8.1).
const REQUEST_CANCELLED: u32 = 0x10c;

/// The code with which HTTP/3 refuses a request of which it has done nothing (RFC 9114 §8.1).
const REQUEST_REJECTED: u32 = 0x10b;

/// If more bytes than this wait for QUIC, no stream of a connection gets more.
const UNSENT_BYTES_MAX: usize = 16 << 20;

/// One connection.
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
pub(crate) struct QuicConnection {
    pub(crate) id: ConnId,
    pub(crate) connection: Connection,
    pub(crate) handle: ConnectionHandle,
    /// Bytes that QUIC did not accept yet, by stream.
    unsent: BTreeMap<u64, Unsent>,
    /// The number of these bytes.
    unsent_bytes: usize,
    /// A server continues with this stream, so that each has its turn.
    next_unsent: u64,
    /// The number of streams that this side has opened, by direction.
    opened: [u64; 2],
    /// When the timer that is set fires.
    pub(crate) armed: Nanos,
    /// The handshake is complete.
    pub(crate) is_connected: bool,
    /// This server has signed the handshake, which thus resumes no session.
    pub(crate) has_signed: bool,
    /// The end was reported.
    pub(crate) has_ended: bool,
    /// The kernel did not take the last datagram.
    pub(crate) is_blocked: bool,
    /// QUIC has accepted everything on a stream that had unsent bytes.
    pub(crate) has_drained: bool,
    /// The owner waits until everything was accepted.
    pub(crate) owes_flush: bool,
    /// The owner has closed it. It stays until the peer has received everything, at most until this
    /// instant.
    pub(crate) leaves_at: Option<Nanos>,
}

/// The bytes of one stream that QUIC did not accept yet.
#[derive(Debug, Default)]
struct Unsent {
    bytes: Vec<u8>,
    sent: usize,
    is_end: bool,
}

impl Unsent {
    const fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }
}

/// What has happened on a connection.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The handshake has just become complete.
    pub(crate) connected: bool,
    /// The connection is lost.
    pub(crate) lost: Option<ConnectionError>,
    /// Its closing period is over: nothing is sent or expected any more.
    pub(crate) drained: bool,
}

impl QuicConnection {
    pub(crate) fn new(id: ConnId, handle: ConnectionHandle, connection: Connection) -> Self {
        Self {
            id,
            connection,
            handle,
            unsent: BTreeMap::new(),
            unsent_bytes: 0,
            next_unsent: 0,
            opened: [0; 2],
            armed: Nanos::MAX,
            is_connected: false,
            has_signed: false,
            has_ended: false,
            is_blocked: false,
            has_drained: false,
            owes_flush: false,
            leaves_at: None,
        }
    }

    /// Whether QUIC has accepted everything.
    pub(crate) fn is_flushed(&self) -> bool {
        self.unsent.is_empty()
    }

    /// Whether nothing more should be written on this stream: QUIC has not accepted everything on
    /// it, or much on others.
    pub(crate) fn is_stream_blocked(&self, stream: u64) -> bool {
        self.unsent.contains_key(&stream) || self.unsent_bytes >= UNSENT_BYTES_MAX
    }

    /// Removes the bytes of one stream that QUIC did not accept. Returns whether there were any.
    fn drop_unsent(&mut self, stream: u64) -> bool {
        let unsent = self.unsent.remove(&stream);
        self.unsent_bytes -= unsent.as_ref().map_or(0, Unsent::len);
        unsent.is_some()
    }

    /// Whether the peer has received all streams but those of control, which never end.
    pub(crate) fn is_delivered(&mut self) -> bool {
        let control = self.opened[Dir::Uni as usize];
        self.is_flushed() && self.connection.streams().send_streams() as u64 <= control
    }

    /// Sends records.
    pub(crate) fn write(&mut self, bytes: &[u8], now: Instant) {
        for record in records::read(bytes) {
            match record.kind {
                RecordKind::Data | RecordKind::End => self.write_data(record),
                RecordKind::Reset => {
                    self.drop_unsent(record.stream);
                    if self.is_open(record.stream) {
                        let _ =
                            self.connection.send_stream(stream_id(record.stream)).reset(code(record.code()));
                    }
                }
                RecordKind::Stop => {
                    let _ = self.connection.recv_stream(stream_id(record.stream)).stop(code(record.code()));
                }
                RecordKind::Close => {
                    self.unsent.clear();
                    self.unsent_bytes = 0;
                    self.connection.close(now, code(record.code()), Bytes::new());
                }
            }
        }
    }

    fn write_data(&mut self, record: Record<'_>) {
        if self.connection.is_closed() {
            return;
        }
        let stream = record.stream;
        let is_waiting = self.unsent.contains_key(&stream) || !self.is_open(stream);
        let sent = if is_waiting { Some(0) } else { self.write_some(stream, record.bytes) };
        // The peer wants no more of this stream.
        let Some(sent) = sent else { return };
        let is_end = record.kind == RecordKind::End;
        if sent < record.bytes.len() || is_waiting {
            let unsent = self.unsent.entry(stream).or_default();
            unsent.bytes.extend_from_slice(&record.bytes[sent..]);
            self.unsent_bytes += record.bytes.len() - sent;
            unsent.is_end |= is_end;
        } else if is_end {
            let _ = self.connection.send_stream(stream_id(stream)).finish();
        }
    }

    /// Writes as much as QUIC accepts. Returns its number of bytes; `None`: the stream is closed.
    fn write_some(&mut self, stream: u64, bytes: &[u8]) -> Option<usize> {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.connection.send_stream(stream_id(stream)).write(&bytes[sent..]) {
                Ok(written) => sent += written,
                Err(quinn_proto::WriteError::Blocked) => break,
                Err(_) => return None,
            }
        }
        Some(sent)
    }

    /// Whether a stream can be written to. Our own are opened in order, as the peer allows.
    fn is_open(&mut self, stream: u64) -> bool {
        let id = stream_id(stream);
        if id.initiator() != self.connection.side() {
            return true;
        }
        while id.index() >= self.opened[id.dir() as usize] {
            let Some(next) = self.connection.streams().open(id.dir()) else { return false };
            self.opened[id.dir() as usize] += 1;
            if next != id && !self.unsent.contains_key(&next.into()) {
                // A request that was cancelled before. The peer counts it as open until it ends.
                let _ = self.connection.send_stream(next).reset(VarInt::from_u32(REQUEST_CANCELLED));
                let _ = self.connection.recv_stream(next).stop(VarInt::from_u32(REQUEST_CANCELLED));
            }
        }
        true
    }

    /// Continues with what QUIC did not accept.
    fn write_unsent(&mut self) {
        // In ascending order, so that `is_open` meets no stream that waits further on. A server
        // opens none of them, and goes on where it stopped.
        let mut waiting: Vec<u64> = self.unsent.keys().copied().collect();
        if self.connection.side() == Side::Server {
            let first = waiting.partition_point(|stream| *stream < self.next_unsent);
            waiting.rotate_left(first);
        }
        for stream in waiting {
            if !self.is_open(stream) {
                continue;
            }
            let Some(mut unsent) = self.unsent.remove(&stream) else { continue };
            self.unsent_bytes -= unsent.len();
            if let Some(sent) = self.write_some(stream, &unsent.bytes[unsent.sent..]) {
                unsent.sent += sent;
                if sent > 0 {
                    self.next_unsent = stream + 1;
                }
                if unsent.sent < unsent.bytes.len() {
                    self.unsent_bytes += unsent.len();
                    self.unsent.insert(stream, unsent);
                    continue;
                }
                if unsent.is_end {
                    let _ = self.connection.send_stream(stream_id(stream)).finish();
                }
            }
            self.has_drained = true;
        }
    }

    /// Handles what has happened, and appends the records of what has arrived.
    pub(crate) fn advance(&mut self, endpoint: &mut Endpoint, out: &mut Vec<u8>) -> Progress {
        let mut progress = Progress::default();
        loop {
            while let Some(event) = self.connection.poll_endpoint_events() {
                if event.is_drained() {
                    // The owner frees the handle, only once.
                    progress.drained = true;
                } else if let Some(event) = endpoint.handle_event(self.handle, event) {
                    self.connection.handle_event(event);
                }
            }
            let Some(event) = self.connection.poll() else { return progress };
            match event {
                Event::Connected => {
                    (progress.connected, self.is_connected) = (true, true);
                    self.write_unsent();
                }
                Event::ConnectionLost { reason } => progress.lost = Some(reason),
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = self.connection.streams().accept(dir) {
                        self.take_stream(id, out);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => self.take_stream(id, out),
                Event::Stream(StreamEvent::Stopped { id, error_code }) => {
                    self.has_drained |= self.drop_unsent(id.into());
                    let _ = self.connection.send_stream(id).reset(error_code);
                    records::push_code(out, id.into(), RecordKind::Stop, error_code.into_inner());
                }
                Event::Stream(StreamEvent::Writable { .. } | StreamEvent::Available { .. }) => {
                    self.write_unsent();
                }
                _ => {}
            }
        }
    }

    /// Reads a stream, or refuses a request that comes after the owner has closed the connection.
    fn take_stream(&mut self, id: StreamId, out: &mut Vec<u8>) {
        if self.leaves_at.is_none() || id.dir() == Dir::Uni {
            return self.read_stream(id, out);
        }
        // The requests before are complete or stopped, so they have nothing to read.
        let _ = self.connection.send_stream(id).reset(VarInt::from_u32(REQUEST_REJECTED));
        let _ = self.connection.recv_stream(id).stop(VarInt::from_u32(REQUEST_REJECTED));
    }

    fn read_stream(&mut self, id: StreamId, out: &mut Vec<u8>) {
        let mut stream = self.connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        let (mut last, mut has_ended) = (None, false);
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    last = Some(out.len());
                    records::push(out, id.into(), RecordKind::Data, &chunk.bytes);
                }
                Ok(None) => {
                    match last {
                        Some(place) => records::mark_end(out, place),
                        None => records::push(out, id.into(), RecordKind::End, &[]),
                    }
                    has_ended = true;
                    break;
                }
                Err(ReadError::Reset(code)) => {
                    records::push_code(out, id.into(), RecordKind::Reset, code.into_inner());
                    break;
                }
                Err(ReadError::Blocked) => break,
            }
        }
        // The caller transmits after every call.
        let _ = chunks.finalize();
        if has_ended && self.connection.side() == Side::Client && self.drop_unsent(id.into()) {
            // The server has answered without the rest of the request, and may read no more of it.
            let _ = self.connection.send_stream(id).reset(VarInt::from_u32(REQUEST_CANCELLED));
        }
    }

    /// Passes the datagrams to be sent to `send`, up to `segments_max` of [`SEGMENT_BYTES`] at a
    /// time. It returns whether it takes more.
    pub(crate) fn transmit(
        &mut self,
        now: Instant,
        segments_max: usize,
        datagrams: &mut Vec<u8>,
        mut send: impl FnMut(&[u8], &Transmit) -> bool,
    ) {
        loop {
            datagrams.clear();
            let Some(transmit) = self.connection.poll_transmit(now, segments_max, datagrams) else { return };
            let bytes = &datagrams[..transmit.size];
            let at_once = match transmit.segment_size {
                Some(size) if size != usize::from(SEGMENT_BYTES) => size,
                _ => bytes.len(),
            };
            if !bytes.chunks(at_once).all(|bytes| send(bytes, &transmit)) {
                return;
            }
        }
    }

    /// Closes the connection without an error.
    pub(crate) fn close(&mut self, now: Instant) {
        self.connection.close(now, VarInt::from_u32(NO_ERROR), Bytes::new());
    }

    /// Returns the packets so far.
    pub(crate) fn packets(&self) -> PacketCounts {
        let path = self.connection.stats().path;
        PacketCounts { sent: path.sent_packets, lost: path.lost_packets }
    }

    /// Returns the application protocol that was agreed on.
    pub(crate) fn protocol(&self) -> Option<Vec<u8>> {
        let data = self.connection.crypto_session().handshake_data()?;
        data.downcast::<quinn_proto::crypto::rustls::HandshakeData>().ok()?.protocol
    }
}

fn stream_id(stream: u64) -> StreamId {
    let side = if stream & 1 == 0 { Side::Client } else { Side::Server };
    let dir = if stream & 2 == 0 { Dir::Bi } else { Dir::Uni };
    StreamId::new(side, dir, stream >> 2)
}

fn code(code: u64) -> VarInt {
    VarInt::from_u64(code).unwrap_or(VarInt::MAX)
}

/// Returns how a connection has ended. The text is the reason of [`CloseReason::Tls`].
pub(crate) fn close_reason(error: &ConnectionError, is_connected: bool) -> (CloseReason, Option<String>) {
    match error {
        ConnectionError::TimedOut => (CloseReason::Broken(Errno(libc::ETIMEDOUT)), None),
        ConnectionError::Reset => (CloseReason::Broken(Errno(libc::ECONNRESET)), None),
        ConnectionError::ApplicationClosed(close) if close.error_code == VarInt::from_u32(NO_ERROR) => {
            (CloseReason::Eof, None)
        }
        _ if is_connected => (CloseReason::Broken(Errno(libc::ECONNABORTED)), None),
        error => (CloseReason::Tls, Some(format!("the QUIC handshake failed: {error}"))),
    }
}

/// Whether a connection was lost because of its handshake. Otherwise the peer has given up, or is
/// gone.
pub(crate) fn is_handshake_fault(error: &ConnectionError) -> bool {
    /// The codes that carry an alert of TLS (RFC 9001 §4.8).
    const ALERTS: RangeInclusive<u64> = 0x100..=0x1ff;
    match error {
        ConnectionError::TransportError(_) => true,
        ConnectionError::ConnectionClosed(close) => ALERTS.contains(&u64::from(close.error_code)),
        _ => false,
    }
}
