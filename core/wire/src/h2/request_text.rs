//! Requests written as HTTP/1 text, as HTTP/2 sends them.

use memchr::memchr;

use crate::fields::FieldEncoder;
use crate::h1::Headers;

/// A request in HTTP/1 text, divided into its parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestText<'a> {
    method: &'a [u8],
    target: &'a [u8],
    /// The field lines, with the empty one after them.
    fields: &'a [u8],
    /// Everything behind the head, as written.
    pub(crate) body: &'a [u8],
}

/// Fields that belong to one HTTP/1 connection and must not be sent (RFC 9113 §8.2.2). `Host`
/// becomes `:authority`.
const DROPPED: [&[u8]; 7] = [
    b"host",
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
    b"http2-settings",
];

impl<'a> RequestText<'a> {
    /// Divides `text`. `None`: it is not the text of one request.
    pub(crate) fn parse(text: &'a [u8]) -> Option<Self> {
        let line_end = memchr(b'\n', text)?;
        let line = text[..line_end].strip_suffix(b"\r").unwrap_or(&text[..line_end]);
        let method_end = memchr(b' ', line)?;
        let (method, rest) = (&line[..method_end], &line[method_end + 1..]);
        let target = &rest[..memchr(b' ', rest)?];
        if method.is_empty() || target.is_empty() {
            return None;
        }
        let fields = &text[line_end + 1..];
        let fields_len = if fields.starts_with(b"\r\n") { 2 } else { head_end(fields)? };
        let (fields, body) = fields.split_at(fields_len);
        Some(Self { method, target, fields, body })
    }

    /// Whether it is a HEAD request, so that its response has no body.
    pub(crate) fn is_head(&self) -> bool {
        self.method == b"HEAD"
    }

    /// The path and query. An absolute target, as a proxy gets it, is reduced to them.
    fn path(&self) -> &'a [u8] {
        let Some(scheme_end) = self.target.windows(3).position(|three| three == b"://") else {
            return self.target;
        };
        if self.target[0] == b'/' {
            return self.target;
        }
        let rest = &self.target[scheme_end + 3..];
        memchr(b'/', rest).map_or(b"/", |slash| &rest[slash..])
    }

    /// Whether the body is written in chunks, which HTTP/2 does not have.
    pub(crate) fn is_chunked(&self) -> bool {
        Headers::new(self.fields).any(|(name, _)| name.eq_ignore_ascii_case(b"transfer-encoding"))
    }

    /// Returns the key of an upgrade to WebSocket, if it is one.
    pub(crate) fn websocket_key(&self) -> Option<&'a [u8]> {
        let upgrade = Headers::new(self.fields).find("upgrade")?;
        Headers::new(self.fields)
            .find("sec-websocket-key")
            .filter(|_| upgrade.eq_ignore_ascii_case(b"websocket"))
    }

    /// Whether it is a gRPC call.
    pub(crate) fn is_grpc(&self) -> bool {
        Headers::new(self.fields)
            .find("content-type")
            .is_some_and(|value| value.starts_with(b"application/grpc"))
    }

    /// Appends the header block. `lower` is a scratch buffer.
    pub(crate) fn encode(
        &self,
        encoder: &mut impl FieldEncoder,
        secure: bool,
        block: &mut Vec<u8>,
        lower: &mut Vec<u8>,
    ) {
        self.encode_as(self.method, None, encoder, secure, block, lower);
    }

    /// Appends the header block of a request for another protocol in a stream (RFC 8441 §4).
    pub(crate) fn encode_connect(
        &self,
        protocol: &[u8],
        encoder: &mut impl FieldEncoder,
        secure: bool,
        block: &mut Vec<u8>,
        lower: &mut Vec<u8>,
    ) {
        self.encode_as(b"CONNECT", Some(protocol), encoder, secure, block, lower);
    }

    fn encode_as(
        &self,
        method: &[u8],
        protocol: Option<&[u8]>,
        encoder: &mut impl FieldEncoder,
        secure: bool,
        block: &mut Vec<u8>,
        lower: &mut Vec<u8>,
    ) {
        encoder.begin(block);
        encoder.field(block, b":method", method);
        if let Some(protocol) = protocol {
            encoder.field(block, b":protocol", protocol);
        }
        let scheme: &[u8] = if secure { b"https" } else { b"http" };
        encoder.field(block, b":scheme", scheme);
        if let Some(host) = Headers::new(self.fields).find("host") {
            encoder.field(block, b":authority", host);
        }
        encoder.field(block, b":path", self.path());
        for (name, value) in Headers::new(self.fields) {
            lower.clear();
            lower.extend(name.iter().map(u8::to_ascii_lowercase));
            let is_te = *lower == b"te" && !value.eq_ignore_ascii_case(b"trailers");
            // The stream itself shows that the answer is not a cached one (RFC 8441 §5).
            let is_key = protocol.is_some() && *lower == b"sec-websocket-key";
            if !is_te && !is_key && !DROPPED.contains(&&lower[..]) {
                encoder.field(block, lower, value);
            }
        }
    }
}

/// Returns the length of field lines up to and including the empty line.
fn head_end(fields: &[u8]) -> Option<usize> {
    memchr::memmem::find(fields, b"\r\n\r\n").map(|end| end + 4)
}

/// Returns the data of a body in chunks (RFC 9112 §7.1). `None`: it is not valid.
pub(crate) fn without_chunks(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut data = Vec::with_capacity(body.len());
    loop {
        let line_end = memchr::memmem::find(body, b"\r\n")?;
        let digits = body[..line_end].split(|&byte| byte == b';').next()?;
        let size = usize::from_str_radix(std::str::from_utf8(digits).ok()?.trim(), 16).ok()?;
        body = &body[line_end + 2..];
        if size == 0 {
            return Some(data);
        }
        let (chunk, rest) = body.split_at_checked(size)?;
        data.extend_from_slice(chunk);
        body = rest.strip_prefix(b"\r\n")?;
    }
}
