//! [`Route`]: what a path asks for.

use wavetank_plan::{Nanos, quantity};

/// Longest delay; every connection of an impatient client is kept that long.
const DELAY_MAX: Nanos = Nanos::from_secs(3_600);

/// What a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Home,
    Bytes(u64),
    Delay(Nanos),
    Status(u16),
    Echo,
    Close,
    Truth,
    TruthConnections,
    TruthReset,
    Unknown,
    /// The path is ours, but what follows cannot be understood: a line that says what is wanted.
    Malformed(&'static str),
}

impl Route {
    /// The route of a path without query; `any`: unknown paths are [`Route::Home`].
    pub(crate) fn of(path: &[u8], any: bool) -> Self {
        let unknown = if any { Self::Home } else { Self::Unknown };
        match path {
            b"/" | b"*" => return Self::Home,
            b"/echo" => return Self::Echo,
            b"/close" => return Self::Close,
            b"/truth" => return Self::Truth,
            b"/truth/connections" => return Self::TruthConnections,
            b"/truth/reset" => return Self::TruthReset,
            _ => {}
        }
        let Ok(path) = str::from_utf8(path) else { return unknown };
        if let Some(size) = path.strip_prefix("/bytes/") {
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

    /// Whether it asks about the server itself, and is in no count therefore.
    pub(crate) const fn is_control(self) -> bool {
        matches!(self, Self::Truth | Self::TruthConnections | Self::TruthReset)
    }

    fn bytes(size: &str) -> Self {
        let bytes = if is_number(size) { size.parse().ok() } else { quantity::parse_size(size).ok() };
        bytes
            .map_or(Self::Malformed("a size is wanted: /bytes/1024, /bytes/64KiB, /bytes/1GB\n"), Self::Bytes)
    }

    fn delay(delay: Option<Nanos>) -> Self {
        match delay {
            Some(delay) if delay >= Nanos::ZERO && delay <= DELAY_MAX => Self::Delay(delay),
            _ => {
                Self::Malformed("a duration of at most an hour is wanted: /delay/2ms, /delay/1.5s, /sleep3\n")
            }
        }
    }

    fn status(code: &str) -> Self {
        match code.parse() {
            Ok(status @ 200..=599) if is_number(code) => Self::Status(status),
            _ => Self::Malformed("a final status is wanted: /status/200 to /status/599\n"),
        }
    }
}

/// The path of a request target: without query, and without scheme and authority if it is a whole URL
/// (RFC 9112 §3.2.2 wants servers to take it).
#[inline]
pub(crate) fn path_of(target: &[u8]) -> &[u8] {
    let target = if target.first() == Some(&b'/') { target } else { after_authority(target) };
    match target.iter().position(|&byte| matches!(byte, b'?' | b'#')) {
        Some(end) => &target[..end],
        None => target,
    }
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
