//! What happens on the streams of a QUIC connection, as bytes.
//!
//! A record is a header of 16 bytes and the bytes of one stream. The two ends are in one process,
//! so a record is always whole.

/// The length of a record's header.
pub const HEADER_BYTES: usize = 16;
/// The place of the kind in it.
const KIND_AT: usize = 12;

/// What a record says about its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// The next bytes.
    Data,
    /// The next bytes, which are the last ones.
    End,
    /// The sender has aborted the stream. The bytes are the error code.
    Reset,
    /// The receiver reads no more. The bytes are the error code.
    Stop,
    /// The connection is closed. The bytes are the error code.
    Close,
}

impl RecordKind {
    const ALL: [Self; 5] = [Self::Data, Self::End, Self::Reset, Self::Stop, Self::Close];
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The number of the stream in QUIC (RFC 9000 §2.1).
    pub stream: u64,
    /// What it says.
    pub kind: RecordKind,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl Record<'_> {
    /// The error code, if the record has one.
    pub fn code(&self) -> u64 {
        self.bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

/// Appends a record.
pub fn push(out: &mut Vec<u8>, stream: u64, kind: RecordKind, bytes: &[u8]) {
    let place = begin(out, stream, kind);
    out.extend_from_slice(bytes);
    finish(out, place);
}

/// Appends a record with an error code.
pub fn push_code(out: &mut Vec<u8>, stream: u64, kind: RecordKind, code: u64) {
    push(out, stream, kind, &code.to_le_bytes());
}

/// Begins a record. The caller appends its bytes, and passes the returned place to [`finish`].
pub fn begin(out: &mut Vec<u8>, stream: u64, kind: RecordKind) -> usize {
    let place = out.len();
    out.extend_from_slice(&stream.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&[kind as u8, 0, 0, 0]);
    place
}

/// Completes the record that begins at `place`.
pub fn finish(out: &mut [u8], place: usize) {
    let length = out.len() - place - HEADER_BYTES;
    let length = u32::try_from(length).expect("a record has less than 4 GiB");
    out[place + 8..place + 12].copy_from_slice(&length.to_le_bytes());
}

/// Makes the record of data that begins at `place` the last one of its stream.
pub fn mark_end(out: &mut [u8], place: usize) {
    out[place + KIND_AT] = RecordKind::End as u8;
}

/// Returns the records in `bytes`. What is not a whole record ends them.
pub fn read(mut bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let stream = u64::from_le_bytes(*header.first_chunk()?);
        let length = u32::from_le_bytes(*header[8..].first_chunk()?);
        let kind = *RecordKind::ALL.get(usize::from(header[KIND_AT]))?;
        let (own, rest) = rest.split_at_checked(length as usize)?;
        bytes = rest;
        Some(Record { stream, kind, bytes: own })
    })
}

/// Returns the number of bytes of streams in the records, without headers and error codes.
pub fn stream_bytes(bytes: &[u8]) -> u64 {
    let carries = |record: &Record<'_>| matches!(record.kind, RecordKind::Data | RecordKind::End);
    read(bytes).filter(carries).map(|record| record.bytes.len() as u64).sum()
}
