//! [`Preface`]: the data sent on a new connection ahead of TLS and requests. This is the PROXY
//! protocol's header, and CONNECT to a forward proxy.

use std::borrow::Cow;

use wavetank_driver::{ConnAddresses, Errno};
use wavetank_measure::ErrorClass;
use wavetank_plan::constants::USER_AGENT;
use wavetank_plan::{Plan, ProxyProtocol};
use wavetank_wire::h1::{Limits, ResponseReader, reason_phrase};
use wavetank_wire::{PROXY_HEADER_BYTES_MAX, proxy_header_v1, proxy_header_v2};

use crate::failure::{self, Failure};

/// Connected to the proxy, which did not answer CONNECT in time.
pub(crate) const TUNNEL_TIMEOUT: Failure = Failure::detailed(
    ErrorClass::ConnectTimeout,
    "connected to the proxy, but it did not answer CONNECT in time",
);

/// The proxy sent more bytes after its response, although the target speaks only when it is asked.
const TUNNEL_SURPLUS: Failure =
    Failure::detailed(ErrorClass::Protocol, "the proxy sent bytes after its response to CONNECT");

/// The preface of connections; see the module documentation.
pub(crate) struct Preface {
    header: Option<ProxyProtocol>,
    /// By target, the request for a tunnel through the proxy; empty if none is needed.
    connects: Vec<Vec<u8>>,
    any: bool,
}

impl Preface {
    /// Creates the preface for connections of `plan`.
    pub(crate) fn new(plan: &Plan) -> Self {
        let connects: Vec<_> = plan.targets.iter().map(|target| connect(plan, target)).collect();
        let header = plan.http.proxy_protocol;
        Self { any: header.is_some() || connects.iter().any(|connect| !connect.is_empty()), header, connects }
    }

    /// Whether any connection has a preface.
    #[inline]
    pub(crate) const fn is_needed(&self) -> bool {
        self.any
    }

    /// Whether a driver must know the addresses of both ends.
    pub(crate) const fn needs_addresses(&self) -> bool {
        self.header.is_some()
    }

    /// Whether a tunnel to `target` must be opened.
    pub(crate) fn needs_tunnel(&self, target: u16) -> bool {
        !self.connects[usize::from(target)].is_empty()
    }

    /// Returns the preface of a connection to `target`. `ends` returns its two addresses.
    ///
    /// # Errors
    /// If the addresses cannot be determined.
    pub(crate) fn bytes(
        &self,
        target: u16,
        ends: impl FnOnce() -> Result<ConnAddresses, Errno>,
    ) -> Result<Vec<u8>, Failure> {
        let connect = &self.connects[usize::from(target)];
        let mut bytes = Vec::with_capacity(PROXY_HEADER_BYTES_MAX + connect.len());
        if let Some(version) = self.header {
            let ConnAddresses { own, peer } = ends().map_err(of_ends)?;
            match version {
                ProxyProtocol::V1 => proxy_header_v1(&mut bytes, own, peer),
                ProxyProtocol::V2 => proxy_header_v2(&mut bytes, own, peer),
            }
        }
        bytes.extend_from_slice(connect);
        Ok(bytes)
    }
}

/// Returns the request for a tunnel (RFC 9110 §9.3.6).
fn connect(plan: &Plan, target: &wavetank_plan::Target) -> Vec<u8> {
    let Some(to) = plan.tunnel_to(target) else { return Vec::new() };
    let mut request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\nUser-Agent: {USER_AGENT}\r\n");
    if let Some(authorization) = plan.http.proxy.as_ref().and_then(|proxy| proxy.authorization.as_ref()) {
        request.push_str("Proxy-Authorization: ");
        request.push_str(authorization.reveal());
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    request.into_bytes()
}

/// The peer may be gone before its address can be determined.
fn of_ends(errno: Errno) -> Failure {
    match errno.0 {
        libc::ENOTCONN | libc::EINVAL => Failure::new(ErrorClass::Reset),
        _ => failure::connect_failure(errno),
    }
}

/// Returns a reader for the response to CONNECT, with the limits on responses.
pub(crate) fn tunnel_reader(limits: Limits) -> ResponseReader {
    let mut reader = ResponseReader::new(limits);
    // A response that opens the tunnel has no body, whatever its fields say. The body of any other
    // response is not needed.
    reader.expect(true);
    reader
}

/// Reads `bytes` of the response to CONNECT. If the tunnel is open, it returns how many of them
/// follow the response: those of a target that speaks first, if `may_greet`. `None`: more bytes of
/// the response must follow.
///
/// # Errors
/// If the tunnel was refused or the response is invalid.
pub(crate) fn read_tunnel(
    reader: &mut ResponseReader,
    bytes: &[u8],
    may_greet: bool,
) -> Result<Option<usize>, Failure> {
    let progress = reader.read(bytes, &mut ()).map_err(|fault| {
        let Failure { class, detail, .. } = failure::protocol_failure(fault);
        let detail = detail.map(|detail| Cow::Owned(format!("the proxy's response to CONNECT: {detail}")));
        Failure { detail, ..Failure::new(class) }
    })?;
    let Some(answer) = progress.answer else { return Ok(None) };
    if !(200..300).contains(&answer.status) {
        let phrase = reason_phrase(answer.status);
        let space = if phrase.is_empty() { "" } else { " " };
        let detail = format!("the proxy answered CONNECT with {}{space}{phrase}", answer.status);
        return Err(Failure { detail: Some(Cow::Owned(detail)), ..Failure::new(ErrorClass::ConnectRefused) });
    }
    let surplus = bytes.len() - progress.consumed;
    if surplus > 0 && !may_greet { Err(TUNNEL_SURPLUS) } else { Ok(Some(surplus)) }
}

/// Returns the failure for a connection to the proxy that ended with `failure` before CONNECT was
/// answered.
pub(crate) fn tunnel_ended(failure: &Failure) -> Failure {
    let detail = match failure.errno {
        Some(errno) => Cow::Owned(format!("the connection broke before the proxy answered CONNECT: {errno}")),
        None => Cow::Borrowed("the proxy closed the connection instead of answering CONNECT"),
    };
    Failure { detail: Some(detail), ..Failure::new(failure.class) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks how the response `text` is handled, whole and byte by byte.
    fn check(text: &str, expected: Result<bool, (ErrorClass, &str)>) {
        let reported = |read: Result<Option<usize>, Failure>| {
            read.map(|surplus| surplus.is_some())
                .map_err(|failure| (failure.class, failure.detail.unwrap_or_default().into_owned()))
        };
        let expected = expected.map_err(|(class, detail)| (class, detail.to_owned()));
        assert_eq!(
            reported(read_tunnel(&mut tunnel_reader(Limits::default()), text.as_bytes(), false)),
            expected,
            "{text}"
        );
        let mut reader = tunnel_reader(Limits::default());
        let mut last = Ok(false);
        for (at, byte) in text.bytes().enumerate() {
            last = reported(read_tunnel(&mut reader, &[byte], false));
            if last != Ok(false) {
                // Later bytes come with a separate read, and no side sends any before TLS starts.
                let whole = at + 1 == text.len();
                let surplus = expected.as_ref().is_err_and(|(_, detail)| detail.contains("sent bytes after"));
                assert!(whole || last.is_err() || surplus, "{text}");
                if surplus {
                    return;
                }
                break;
            }
        }
        assert_eq!(last, expected, "{text}, byte by byte");
    }

    #[test]
    fn answers_to_connect() {
        check("HTTP/1.1 200 Connection established\r\n\r\n", Ok(true));
        check("HTTP/1.0 200 OK\r\nProxy-agent: x\r\n\r\n", Ok(true));
        check("HTTP/1.1 204 No\r\n\r\n", Ok(true));
        check("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", Ok(true));
        // RFC 9110 §9.3.6: such a field must be ignored.
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Ok(true));
        check("HTTP/1.1 200 OK\r\n", Ok(false));
        let refused = |detail| Err((ErrorClass::ConnectRefused, detail));
        check(
            "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\n",
            refused("the proxy answered CONNECT with 407 Proxy Authentication Required"),
        );
        check("HTTP/1.1 502 No\r\n\r\n", refused("the proxy answered CONNECT with 502 Bad Gateway"));
        check("HTTP/1.1 302 No\r\n\r\n", refused("the proxy answered CONNECT with 302 Found"));
        check("HTTP/1.1 599 No\r\n\r\n", refused("the proxy answered CONNECT with 599"));
        let surplus = "the proxy sent bytes after its response to CONNECT";
        check("HTTP/1.1 200 OK\r\n\r\nx", Err((ErrorClass::Protocol, surplus)));
        let greeted =
            read_tunnel(&mut tunnel_reader(Limits::default()), b"HTTP/1.1 200 OK\r\n\r\nready", true);
        assert_eq!(greeted.expect("it may greet"), Some(5));
        let mut reader = tunnel_reader(Limits::default());
        let garbage = read_tunnel(&mut reader, b"SSH-2.0-OpenSSH_9.2\r\n", false).expect_err("not HTTP");
        assert_eq!(garbage.class, ErrorClass::Protocol);
        assert!(garbage.detail.expect("a detail").starts_with("the proxy's response to CONNECT: "));
    }

    #[test]
    fn an_endless_head_is_bounded() {
        let mut reader = tunnel_reader(Limits::default());
        let mut read = read_tunnel(&mut reader, b"HTTP/1.1 200 OK\r\n", false);
        let line = b"X-Filler: 0123456789012345678901234567890123456789\r\n";
        let mut bytes = 0;
        while read.as_ref().is_ok_and(Option::is_none) {
            bytes += line.len();
            assert!(bytes < 1 << 20, "a head of {bytes} bytes is still read");
            read = read_tunnel(&mut reader, line, false);
        }
        assert_eq!(read.expect_err("too long").class, ErrorClass::Protocol);
    }
}
