//! [`Route`]: what the server does for a path.

use wavetank_shop::{Ask, BODY_BYTES_MAX, Tier};
use wavetank_units::{Nanos, quantity};

use crate::event_stream::EventSchedule;
use crate::grpc::Rpc;

/// Longest delay. A connection is kept for this time even if its client gave up.
const DELAY_MAX: Nanos = Nanos::from_secs(3_600);
/// Longest body of `/echo`, in bytes.
const ECHO_BYTES_MAX: usize = 1 << 20;

/// What the server does for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Home,
    Bytes(u64),
    Delay(Nanos),
    Status(u16),
    Echo,
    /// A WebSocket that sends every message back.
    WebSocket,
    /// A stream of events.
    Events(EventSchedule),
    Close,
    Truth,
    TruthConnections,
    TruthReset,
    /// The flash sale.
    Shop(Ask),
    /// A gRPC call.
    Grpc(Rpc),
    /// Work with a stated capacity.
    Tier(Tier),
    Unknown,
    /// A known path with an invalid argument. The text describes the valid ones.
    Malformed(&'static str),
}

impl Route {
    /// Returns the route of a path without query. With `any`, unknown paths are [`Route::Home`].
    pub(crate) fn from_path(path: &[u8], any: bool) -> Self {
        let unknown = if any { Self::Home } else { Self::Unknown };
        match path {
            b"/" | b"*" => return Self::Home,
            b"/echo" => return Self::Echo,
            b"/ws/echo" => return Self::WebSocket,
            b"/close" => return Self::Close,
            b"/truth" => return Self::Truth,
            b"/truth/connections" => return Self::TruthConnections,
            b"/truth/reset" => return Self::TruthReset,
            b"/api/seckill" => return Self::Shop(Ask::Show),
            b"/api/login" => return Self::Shop(Ask::Login),
            b"/api/order" => return Self::Shop(Ask::Order),
            b"/admin/sale" => return Self::Shop(Ask::Begin),
            _ => {}
        }
        let Ok(path) = str::from_utf8(path) else { return unknown };
        if let Some(rpc) = Rpc::from_path(path) {
            Self::Grpc(rpc)
        } else if let Some(size) = path.strip_prefix("/bytes/") {
            Self::bytes(size)
        } else if let Some(delay) = path.strip_prefix("/delay/") {
            Self::delay(quantity::parse_duration(delay).ok())
        } else if let Some(code) = path.strip_prefix("/status/") {
            Self::status(code)
        } else if let Some(seconds) = path.strip_prefix("/sleep").filter(|seconds| is_number(seconds)) {
            Self::delay(quantity::parse_duration(&format!("{seconds}s")).ok())
        } else {
            unknown
        }
    }

    /// Whether it concerns the server's own counts. Such requests are not counted.
    pub(crate) const fn is_control(self) -> bool {
        matches!(self, Self::Truth | Self::TruthConnections | Self::TruthReset)
    }

    /// Returns the longest body that is accepted, and the error text for longer ones. With `None`,
    /// bodies are discarded.
    #[inline]
    pub(crate) const fn body_max(self) -> Option<(usize, &'static str)> {
        match self {
            Self::Echo => Some((ECHO_BYTES_MAX, "/echo takes bodies of at most 1 MiB\n")),
            Self::Grpc(_) => Some((ECHO_BYTES_MAX, "calls take messages of at most 1 MiB\n")),
            Self::Shop(_) => Some((BODY_BYTES_MAX, "bodies may have at most 4 KiB here\n")),
            _ => None,
        }
    }

    fn bytes(size: &str) -> Self {
        let bytes = if is_number(size) { size.parse().ok() } else { quantity::parse_size(size).ok() };
        bytes.map_or(
            Self::Malformed("/bytes needs a size: /bytes/1024, /bytes/64KiB, /bytes/1GB\n"),
            Self::Bytes,
        )
    }

    fn delay(delay: Option<Nanos>) -> Self {
        match delay {
            Some(delay) if delay >= Nanos::ZERO && delay <= DELAY_MAX => Self::Delay(delay),
            _ => Self::Malformed(
                "a delay needs a duration of at most an hour: /delay/2ms, /delay/1.5s, /sleep3\n",
            ),
        }
    }

    fn status(code: &str) -> Self {
        match code.parse() {
            Ok(status @ 200..=599) if is_number(code) => Self::Status(status),
            _ => Self::Malformed("/status needs a final status: /status/200 to /status/599\n"),
        }
    }
}

/// Returns the path of a request target, without its query. If the target is a whole URL, scheme
/// and authority are removed; RFC 9112 §3.2.2 requires servers to accept this form.
#[inline]
pub(crate) fn path(target: &[u8]) -> &[u8] {
    let target = if target.first() == Some(&b'/') { target } else { after_authority(target) };
    match target.iter().position(|&byte| matches!(byte, b'?' | b'#')) {
        Some(end) => &target[..end],
        None => target,
    }
}

/// Returns the query of a request target; empty if it has none.
pub(crate) fn query(target: &[u8]) -> &[u8] {
    let target = target.split(|&byte| byte == b'#').next().unwrap_or_default();
    target.iter().position(|&byte| byte == b'?').map_or(&[], |at| &target[at + 1..])
}

fn after_authority(target: &[u8]) -> &[u8] {
    let Some(scheme) = target.windows(3).position(|bytes| bytes == b"://") else { return target };
    let rest = &target[scheme + 3..];
    match rest.iter().position(|&byte| matches!(byte, b'/' | b'?')) {
        Some(path) if rest[path] == b'/' => &rest[path..],
        _ => b"/",
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
