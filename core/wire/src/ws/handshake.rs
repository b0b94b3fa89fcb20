//! The upgrade of an HTTP/1.1 connection (RFC 6455 §4), and the negotiation of
//! permessage-deflate (RFC 7692 §5, §7.1).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use sha1::{Digest as _, Sha1};

use super::error::Fault;
use crate::h1::{Headers, RequestHead, ResponseHead, Version};

/// RFC 6455 §1.3.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const DEFLATE: &[u8] = b"permessage-deflate";

/// Returns the `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key`.
pub fn accept_key(key: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(key);
    hash.update(GUID);
    STANDARD.encode(hash.finalize())
}

/// The request of a client to upgrade its connection to WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    /// The value of the response's `Sec-WebSocket-Accept`. `None`: the request came in a stream of
    /// HTTP/2, which has no keys (RFC 8441 §5).
    pub accept: Option<String>,
    /// The client offers permessage-deflate in a form that can be accepted.
    pub deflate: bool,
}

impl Upgrade {
    /// Reads the head of a request. `None`: it does not ask for an upgrade to WebSocket, or not
    /// correctly.
    pub fn from_request(head: &RequestHead<'_>) -> Option<Self> {
        let has = |name: &str, token: &[u8]| tokens(head.headers(), name).any(|own| same(own, token));
        let accept = if head.version == Version::Http2 {
            None
        } else {
            let key = head.header("sec-websocket-key")?;
            STANDARD.decode(key).ok().filter(|bytes| bytes.len() == 16)?;
            Some(accept_key(key))
        };
        let is_right = head.method == b"GET"
            && has("upgrade", b"websocket")
            && has("connection", b"upgrade")
            && head.header("sec-websocket-version") == Some(b"13");
        let deflate = tokens(head.headers(), "sec-websocket-extensions").any(is_acceptable_offer);
        is_right.then_some(Self { accept, deflate })
    }

    /// The status of the response.
    pub const fn status(&self) -> u16 {
        if self.accept.is_some() { 101 } else { 200 }
    }

    /// Writes the response. With `deflate`, and if the client offers it, messages are compressed
    /// without a context in both directions.
    pub fn write_response(&self, deflate: bool, out: &mut Vec<u8>) {
        match &self.accept {
            Some(accept) => {
                out.extend_from_slice(
                    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ",
                );
                out.extend_from_slice(accept.as_bytes());
            }
            None => out.extend_from_slice(b"HTTP/1.1 200 OK"),
        }
        if deflate && self.deflate {
            out.extend_from_slice(
                b"\r\nSec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            );
        }
        out.extend_from_slice(b"\r\n\r\n");
    }
}

/// The response to an upgrade that was accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreed {
    pub(super) deflate: bool,
    /// The server may refer to its earlier messages.
    pub(super) server_keeps_context: bool,
}

/// What was sent to upgrade a connection, as far as the response depends on it.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    accept: String,
    deflate: bool,
    subprotocols: Vec<u8>,
}

impl Offer {
    /// Writes `request` with a key. The request has all other fields and ends with an empty line.
    pub(super) fn write(request: &[u8], key: [u8; 16], out: &mut Vec<u8>) -> Self {
        let key = STANDARD.encode(key);
        let at = request.len().saturating_sub(2);
        out.extend_from_slice(&request[..at]);
        out.extend_from_slice(b"Sec-WebSocket-Key: ");
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
        let fields = memchr::memchr(b'\n', request).map_or(&b""[..], |end| &request[end + 1..]);
        let mut subprotocols = Vec::new();
        for name in tokens(Headers::new(fields), "sec-websocket-protocol") {
            subprotocols.extend_from_slice(name);
            subprotocols.push(b',');
        }
        let deflate = tokens(Headers::new(fields), "sec-websocket-extensions")
            .any(|offer| same(parameters(offer).next().unwrap_or_default(), DEFLATE));
        Self { accept: accept_key(key.as_bytes()), deflate, subprotocols }
    }

    /// Judges the head of a response with status 101.
    pub(super) fn judge(&self, head: &ResponseHead<'_>) -> Result<Agreed, Fault> {
        let has = |name: &str, token: &[u8]| tokens(head.headers(), name).any(|own| same(own, token));
        if head.version != Version::Http11 || !has("upgrade", b"websocket") || !has("connection", b"upgrade")
        {
            return Err(Fault::NoUpgrade);
        }
        // Both fields may appear once (RFC 6455 §11.3.3, §11.3.4).
        if !values(head, "sec-websocket-accept").eq([self.accept.as_bytes()]) {
            return Err(Fault::WrongAccept);
        }
        let mut chosen = values(head, "sec-websocket-protocol");
        let is_offered = |name: &[u8]| {
            let mut offered = self.subprotocols.split(|byte| *byte == b',');
            !name.is_empty() && offered.any(|own| own == name)
        };
        if chosen.next().is_some_and(|name| !is_offered(name)) || chosen.next().is_some() {
            return Err(Fault::WrongSubprotocol);
        }
        let mut agreed = Agreed::default();
        for extension in tokens(head.headers(), "sec-websocket-extensions") {
            if !self.deflate || agreed.deflate {
                return Err(Fault::WrongExtension);
            }
            agreed = judge_deflate(extension)?;
        }
        Ok(agreed)
    }
}

/// Judges the parameters that a server chose for permessage-deflate (RFC 7692 §7.1).
fn judge_deflate(extension: &[u8]) -> Result<Agreed, Fault> {
    let mut parts = parameters(extension);
    if !same(parts.next().unwrap_or_default(), DEFLATE) {
        return Err(Fault::WrongExtension);
    }
    let mut agreed = Agreed { deflate: true, server_keeps_context: true };
    let mut seen = [false; 3];
    for part in parts {
        let at = match (name_of(part), value_of(part)) {
            (b"server_no_context_takeover", None) => {
                agreed.server_keeps_context = false;
                0
            }
            (b"client_no_context_takeover", None) => 1,
            // A smaller window of the server needs no support here.
            (b"server_max_window_bits", Some(bits)) if is_window(bits) => 2,
            _ => return Err(Fault::WrongExtension),
        };
        if std::mem::replace(&mut seen[at], true) {
            return Err(Fault::WrongExtension);
        }
    }
    Ok(agreed)
}

/// Whether these are the bits of a window: 8 to 15, which may be quoted.
fn is_window(bits: &[u8]) -> bool {
    let bits = bits.strip_prefix(b"\"").and_then(|bits| bits.strip_suffix(b"\"")).unwrap_or(bits);
    matches!(bits, [b'8' | b'9'] | [b'1', b'0'..=b'5'])
}

/// Whether a client's offer of permessage-deflate can be accepted without contexts. An offer that
/// requires a smaller window of the server cannot, and one with a wrong or repeated parameter may
/// not (RFC 7692 §7.1).
fn is_acceptable_offer(offer: &[u8]) -> bool {
    let mut parts = parameters(offer);
    if !same(parts.next().unwrap_or_default(), DEFLATE) {
        return false;
    }
    let mut seen = [false; 3];
    parts.all(|part| {
        let at = match (name_of(part), value_of(part)) {
            (b"server_no_context_takeover", None) => 0,
            (b"client_no_context_takeover", None) => 1,
            (b"client_max_window_bits", bits) if bits.is_none_or(is_window) => 2,
            _ => return false,
        };
        !std::mem::replace(&mut seen[at], true)
    })
}

fn parameters(extension: &[u8]) -> impl Iterator<Item = &[u8]> {
    extension.split(|byte| *byte == b';').map(<[u8]>::trim_ascii)
}

fn name_of(parameter: &[u8]) -> &[u8] {
    parameter.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii()
}

fn value_of(parameter: &[u8]) -> Option<&[u8]> {
    let at = parameter.iter().position(|byte| *byte == b'=')?;
    Some(parameter[at + 1..].trim_ascii())
}

/// Iterates over the values of all fields of that name.
fn values<'a>(head: &ResponseHead<'a>, name: &str) -> impl Iterator<Item = &'a [u8]> {
    head.headers().filter(move |(own, _)| own.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
}

/// Iterates over the parts of all fields of that name, which are separated by commas.
fn tokens<'a>(headers: Headers<'a>, name: &str) -> impl Iterator<Item = &'a [u8]> {
    headers
        .filter(move |(own, _)| own.eq_ignore_ascii_case(name.as_bytes()))
        .flat_map(|(_, value)| value.split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|part| !part.is_empty())
}

fn same(one: &[u8], other: &[u8]) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Returns the length of the head at the start of `bytes`, with the empty line; `None`: it is
/// incomplete.
pub(super) fn head_length(bytes: &[u8]) -> Option<usize> {
    memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4)
}

/// Overwrites the line ends inside folded fields with blanks (RFC 9112 §5.2).
pub(super) fn unfold(head: &mut [u8]) {
    let start = memchr::memchr(b'\n', head).map_or(head.len(), |end| end + 1);
    for at in start..head.len().saturating_sub(2) {
        if head[at..].starts_with(b"\r\n") && matches!(head[at + 2], b' ' | b'\t') {
            head[at..at + 2].fill(b' ');
        }
    }
}

/// Parses the head of a response; `None`: it is not HTTP/1.
pub(super) fn parse_head(raw: &[u8]) -> Option<ResponseHead<'_>> {
    let end = memchr::memchr(b'\n', raw)?;
    let line = raw[..end].strip_suffix(b"\r")?;
    let (version, rest) = match line.strip_prefix(b"HTTP/1.1 ") {
        Some(rest) => (Version::Http11, rest),
        None => (Version::Http10, line.strip_prefix(b"HTTP/1.0 ")?),
    };
    let (digits, reason) = rest.split_at_checked(3)?;
    if !digits.iter().all(u8::is_ascii_digit) || digits[0] == b'0' || !matches!(reason, [] | [b' ', ..]) {
        return None;
    }
    let status = digits.iter().fold(0, |status, digit| status * 10 + u16::from(digit - b'0'));
    let reason = reason.strip_prefix(b" ").unwrap_or_default();
    Some(ResponseHead { status, version, reason, raw, fields_at: end + 1 })
}
