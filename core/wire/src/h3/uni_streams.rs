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

/// The peer's streams in one direction.
#[derive(Debug, Default)]
pub(super) struct UniStreams {
    streams: Vec<UniStream>,
    /// The types of critical streams that were opened, as bits.
    opened: u8,
    /// Whether SETTINGS have arrived.
    pub(super) has_settings: bool,
    /// The id in the peer's last GOAWAY.
    pub(super) going_away: Option<u64>,
}

#[derive(Debug)]
struct UniStream {
    id: u64,
    kind: Option<u64>,
    /// The part of the type that has arrived.
    begun: Vec<u8>,
    frames: FrameReader,
}

impl UniStreams {
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
            let id = record.stream;
            self.streams.push(UniStream {
                id,
                kind: None,
                begun: Vec::new(),
                frames: FrameReader::default(),
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
        let Self { streams, opened, has_settings, going_away } = self;
        let stream = &mut streams[place];
        while stream.kind.is_none() {
            let Some((&byte, rest)) = input.split_first() else { return Ok(()) };
            input = rest;
            stream.begun.push(byte);
            stream.kind = varint::decode(&mut &stream.begun[..]);
            match stream.kind {
                Some(kind @ (CONTROL | QPACK_ENCODER | QPACK_DECODER)) => {
                    if *opened & 1 << kind != 0 {
                        return Err(Fault::Http3CriticalStream);
                    }
                    *opened |= 1 << kind;
                }
                // No push was allowed.
                Some(PUSH) => return Err(Fault::Push),
                _ => {}
            }
        }
        if stream.kind != Some(CONTROL) {
            // The table has no capacity, so instructions of QPACK have no meaning.
            return Ok(());
        }
        while let Some(piece) = stream.frames.next(&mut input)? {
            match piece {
                Piece::Frame(frame::SETTINGS, _) if !*has_settings => *has_settings = true,
                Piece::Frame(frame::GOAWAY, mut bytes) if *has_settings => {
                    let id = varint::decode(&mut bytes).ok_or(Fault::Http3FrameSize)?;
                    *going_away = Some(going_away.map_or(id, |last| last.min(id)));
                }
                Piece::Frame(frame::CANCEL_PUSH | frame::MAX_PUSH_ID, _) if *has_settings => {}
                _ if !*has_settings => return Err(Fault::NoHttp3Settings),
                _ => return Err(Fault::Http3Frame),
            }
        }
        Ok(())
    }
}
