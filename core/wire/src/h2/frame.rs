//! Frames (RFC 9113 §4 and §6): their headers, and writing them.

/// The length of a frame's header.
pub(crate) const HEADER_BYTES: usize = 9;
/// The largest payload that we accept and send: the default of `SETTINGS_MAX_FRAME_SIZE`.
pub(crate) const PAYLOAD_BYTES_MAX: usize = 16_384;
/// The largest size of a flow-control window (RFC 9113 §6.9.1).
pub(crate) const WINDOW_MAX: i64 = (1 << 31) - 1;
/// The size of a window before any setting or update.
pub(crate) const WINDOW_DEFAULT: i64 = 65_535;
/// The first bytes of a client (RFC 9113 §3.4).
pub(crate) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Types of frames (RFC 9113 §6).
pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const PRIORITY: u8 = 2;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PUSH_PROMISE: u8 = 5;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

/// Flags of frames.
pub(crate) mod flag {
    /// Of SETTINGS and PING.
    pub(crate) const ACK: u8 = 1;
    pub(crate) const END_STREAM: u8 = 1;
    pub(crate) const END_HEADERS: u8 = 4;
    pub(crate) const PADDED: u8 = 8;
    pub(crate) const PRIORITY: u8 = 0x20;
}

/// Settings (RFC 9113 §6.5.2).
pub(crate) mod setting {
    pub(crate) const HEADER_TABLE_SIZE: u16 = 1;
    pub(crate) const ENABLE_PUSH: u16 = 2;
    pub(crate) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(crate) const MAX_FRAME_SIZE: u16 = 5;
    pub(crate) const MAX_HEADER_LIST_SIZE: u16 = 6;
    /// RFC 8441 §3.
    pub(crate) const ENABLE_CONNECT_PROTOCOL: u16 = 8;
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    pub(crate) length: usize,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
}

impl FrameHeader {
    pub(crate) fn parse(bytes: [u8; HEADER_BYTES]) -> Self {
        let [high, middle, low, kind, flags, a, b, c, d] = bytes;
        Self {
            length: usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low),
            kind,
            flags,
            stream: u32::from_be_bytes([a, b, c, d]) & 0x7fff_ffff,
        }
    }

    pub(crate) const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends the header of a frame.
#[inline]
pub(crate) fn push_header(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    debug_assert!(length <= PAYLOAD_BYTES_MAX, "a frame of {length} bytes");
    let [a, b, c, d] = stream.to_be_bytes();
    out.extend_from_slice(&[
        (length >> 16) as u8,
        (length >> 8) as u8,
        length as u8,
        kind,
        flags,
        a,
        b,
        c,
        d,
    ]);
}

/// Appends a SETTINGS frame.
pub(crate) fn push_settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    push_header(out, settings.len() * 6, kind::SETTINGS, 0, 0);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Appends the acknowledgement of a SETTINGS frame.
pub(crate) fn push_settings_ack(out: &mut Vec<u8>) {
    push_header(out, 0, kind::SETTINGS, flag::ACK, 0);
}

/// Appends a PING frame.
pub(crate) fn push_ping(out: &mut Vec<u8>, payload: [u8; 8]) {
    push_header(out, payload.len(), kind::PING, 0, 0);
    out.extend_from_slice(&payload);
}

/// Appends the response to a PING frame.
pub(crate) fn push_ping_ack(out: &mut Vec<u8>, payload: &[u8]) {
    push_header(out, payload.len(), kind::PING, flag::ACK, 0);
    out.extend_from_slice(payload);
}

/// Appends a `WINDOW_UPDATE` frame.
pub(crate) fn push_window_update(out: &mut Vec<u8>, stream: u32, bytes: u32) {
    push_header(out, 4, kind::WINDOW_UPDATE, 0, stream);
    out.extend_from_slice(&bytes.to_be_bytes());
}

/// Appends an `RST_STREAM` frame.
pub(crate) fn push_reset(out: &mut Vec<u8>, stream: u32, code: super::ErrorCode) {
    push_header(out, 4, kind::RST_STREAM, 0, stream);
    out.extend_from_slice(&code.0.to_be_bytes());
}

/// Appends a GOAWAY frame.
pub(crate) fn push_goaway(out: &mut Vec<u8>, last_stream: u32, code: super::ErrorCode) {
    push_header(out, 8, kind::GOAWAY, 0, 0);
    out.extend_from_slice(&last_stream.to_be_bytes());
    out.extend_from_slice(&code.0.to_be_bytes());
}

/// Appends a header block as one HEADERS frame and as many CONTINUATION frames as it needs.
pub(crate) fn push_headers(out: &mut Vec<u8>, stream: u32, block: &[u8], end_stream: bool) {
    let (mut kind, mut flags) = (kind::HEADERS, if end_stream { flag::END_STREAM } else { 0 });
    let mut rest = block;
    loop {
        let (piece, behind) = rest.split_at(rest.len().min(PAYLOAD_BYTES_MAX));
        if behind.is_empty() {
            flags |= flag::END_HEADERS;
        }
        push_header(out, piece.len(), kind, flags, stream);
        out.extend_from_slice(piece);
        if behind.is_empty() {
            return;
        }
        (rest, kind, flags) = (behind, kind::CONTINUATION, 0);
    }
}

/// Reads four bytes as a number.
pub(crate) fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

/// Removes the padding of a payload (RFC 9113 §6.1). `None`: it is longer than the payload.
pub(crate) fn without_padding(header: FrameHeader, payload: &[u8]) -> Option<&[u8]> {
    if !header.has(flag::PADDED) {
        return Some(payload);
    }
    let (&padding, rest) = payload.split_first()?;
    rest.len().checked_sub(usize::from(padding)).map(|length| &rest[..length])
}
