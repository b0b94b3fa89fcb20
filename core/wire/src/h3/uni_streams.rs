//! [`UniStreams`]: the streams on which only the peer sends: control and QPACK.

use super::frame_reader::{FrameReader, Piece};
use super::records::{Record, RecordKind};
use super::{frame, varint};
use crate::h2::Fault;

/// Types of streams (RFC 9114 §6.2, RFC 9204 §4.2).
pub(super) const CONTROL: u64 = 0;
const PUSH: u64 = 1;
const QPACK_ENCODER: u64 = 2;
const QPACK_DECODER: u64 = 3;

/// The most streams of the peer that are open at a time.
const STREAMS_MAX: usize = 32;
/// The most frames of a server's control stream between two responses.
const IDLE_FRAMES_MAX: u32 = 10_000;
/// The instruction of an encoder that sets the capacity of the dynamic table to 0, which it has
/// (RFC 9204 §4.3.1).
const NO_CAPACITY: u8 = 0x20;

/// The peer's streams in one direction.
#[derive(Debug)]
pub(super) struct UniStreams {
    streams: Vec<UniStream>,
    /// The peer is a server.
    is_server: bool,
    /// The types of critical streams that were opened, as bits.
    opened: u8,
    /// Whether SETTINGS have arrived.
    has_settings: bool,
    /// The id in the peer's last GOAWAY.
    pub(super) going_away: Option<u64>,
    /// Frames of the control stream since the last response.
    pub(super) idle_frames: u32,
}

#[derive(Debug)]
struct UniStream {
    id: u64,
    kind: Option<u64>,
    /// The part of the type that has arrived.
    begun: Vec<u8>,
    frames: FrameReader,
    /// Bytes of an instruction of QPACK that is not complete.
    instruction_len: u8,
}

impl UniStreams {
    /// Creates the state of a new connection to a server.
    pub(super) const fn of_server() -> Self {
        Self {
            streams: Vec::new(),
            is_server: true,
            opened: 0,
            has_settings: false,
            going_away: None,
            idle_frames: 0,
        }
    }

    /// Creates the state of a new connection of a client.
    pub(super) fn of_client() -> Self {
        Self { is_server: false, ..Self::of_server() }
    }

    /// Reads what arrived on one of them.
    ///
    /// # Errors
    /// The peer broke the protocol.
    pub(super) fn read(&mut self, record: Record<'_>) -> Result<(), Fault> {
        let place = self.streams.iter().position(|stream| stream.id == record.stream);
        let place = place.unwrap_or(self.streams.len());
        if place == self.streams.len() {
            if place == STREAMS_MAX {
                return Err(Fault::Flood);
            }
            self.streams.push(UniStream {
                id: record.stream,
                kind: None,
                begun: Vec::new(),
                frames: FrameReader::default(),
                instruction_len: 0,
            });
        }
        if matches!(record.kind, RecordKind::Data | RecordKind::End) {
            self.take(place, record.bytes)?;
        }
        if record.kind != RecordKind::Data {
            let stream = self.streams.swap_remove(place);
            // These may never be closed (RFC 9114 §6.2.1).
            if matches!(stream.kind, Some(CONTROL | QPACK_ENCODER | QPACK_DECODER)) {
                return Err(Fault::Http3CriticalStream);
            }
        }
        Ok(())
    }

    fn take(&mut self, place: usize, mut input: &[u8]) -> Result<(), Fault> {
        let stream = &mut self.streams[place];
        while stream.kind.is_none() {
            let Some((&byte, rest)) = input.split_first() else { return Ok(()) };
            input = rest;
            stream.begun.push(byte);
            stream.kind = varint::decode(&mut &stream.begun[..]);
            match stream.kind {
                Some(kind @ (CONTROL | QPACK_ENCODER | QPACK_DECODER)) => {
                    if self.opened & 1 << kind != 0 {
                        return Err(Fault::Http3SecondStream);
                    }
                    self.opened |= 1 << kind;
                }
                // No push was allowed, and a client has none (RFC 9114 §4.6, §6.2.2).
                Some(PUSH) => return Err(if self.is_server { Fault::Push } else { Fault::UnknownStream }),
                _ => {}
            }
        }
        match stream.kind {
            Some(CONTROL) => self.take_control(place, input),
            Some(QPACK_ENCODER) if input.iter().any(|byte| *byte != NO_CAPACITY) => Err(Fault::Qpack(true)),
            Some(QPACK_DECODER) => stream.take_decoder(input),
            // What has another type is discarded (RFC 9114 §6.2).
            _ => Ok(()),
        }
    }

    fn take_control(&mut self, place: usize, mut input: &[u8]) -> Result<(), Fault> {
        let Self { streams, is_server, has_settings, going_away, idle_frames, .. } = self;
        while let Some(piece) = streams[place].frames.next(&mut input)? {
            // A client may send a frame with each request (RFC 9218 §7.2).
            *idle_frames += u32::from(*is_server);
            if *idle_frames > IDLE_FRAMES_MAX {
                return Err(Fault::Flood);
            }
            match piece {
                Piece::Frame(frame::SETTINGS, bytes) if !*has_settings => {
                    check_settings(bytes)?;
                    *has_settings = true;
                }
                _ if !*has_settings => return Err(Fault::NoHttp3Settings),
                Piece::Unknown => {}
                Piece::Frame(frame::GOAWAY, bytes) => {
                    let id = only_id(bytes)?;
                    let is_request = !*is_server || id.is_multiple_of(4);
                    if !is_request || going_away.is_some_and(|last| id > last) {
                        return Err(Fault::Http3Id);
                    }
                    *going_away = Some(id);
                }
                // No push was allowed or promised (RFC 9114 §7.2.3).
                Piece::Frame(frame::CANCEL_PUSH, bytes) => {
                    only_id(bytes)?;
                    return Err(Fault::Http3Id);
                }
                Piece::Frame(frame::MAX_PUSH_ID, bytes) if !*is_server => {
                    only_id(bytes)?;
                }
                Piece::Frame(..) | Piece::Data(_) => return Err(Fault::Http3Frame),
            }
        }
        Ok(())
    }
}

impl UniStream {
    /// Reads the instructions of a peer's decoder. The only one that needs no dynamic table is the
    /// cancellation of a stream, which names it (RFC 9204 §4.4.2).
    fn take_decoder(&mut self, input: &[u8]) -> Result<(), Fault> {
        /// The most bytes of an instruction.
        const LENGTH_MAX: u8 = 11;
        for byte in input {
            let (is_valid, continues) = match self.instruction_len {
                0 => (byte >> 6 == 1, byte & 0x3f == 0x3f),
                length => (length < LENGTH_MAX, byte & 0x80 != 0),
            };
            if !is_valid {
                return Err(Fault::Qpack(false));
            }
            self.instruction_len = if continues { self.instruction_len + 1 } else { 0 };
        }
        Ok(())
    }
}

/// Checks the contents of SETTINGS (RFC 9114 §7.2.4).
fn check_settings(mut bytes: &[u8]) -> Result<(), Fault> {
    let mut ids = Vec::new();
    while !bytes.is_empty() {
        let (id, value) = (varint::decode(&mut bytes), varint::decode(&mut bytes));
        let (Some(id), Some(_)) = (id, value) else { return Err(Fault::Http3FrameSize) };
        // Settings of HTTP/2 without a meaning here (§11.2.2).
        if matches!(id, 0 | 2..=5) {
            return Err(Fault::Http3Setting);
        }
        ids.push(id);
    }
    ids.sort_unstable();
    let is_unique = ids.windows(2).all(|pair| pair[0] != pair[1]);
    if is_unique { Ok(()) } else { Err(Fault::Http3Setting) }
}

/// Returns the number that is all a frame has.
fn only_id(mut bytes: &[u8]) -> Result<u64, Fault> {
    let id = varint::decode(&mut bytes).filter(|_| bytes.is_empty());
    id.ok_or(Fault::Http3FrameSize)
}
