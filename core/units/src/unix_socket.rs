//! Unix sockets as targets: their paths, and the addresses that represent them.
//!
//! Plans, engine and drivers pass addresses as [`SocketAddr`]. A Unix socket has a path instead. It
//! is represented by an address of `100::/64`, the block that no network delivers (RFC 6666), with
//! the number of the path in a table of the process. No plan file or report has such an address:
//! [`address_text`] returns the path, and [`unix_address`] an address for it.

use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6};
use std::sync::{Mutex, PoisonError};

use crate::percent::percent_decoded;
use crate::{Code, UserError};

/// Start of a host that is a Unix socket: `unix:/run/app.sock`, or `unix:@name` for a socket of the
/// abstract namespace.
const PREFIX: &str = "unix:";

/// Longest path in a socket address of Linux (`sun_path` of unix(7), without the final zero).
const PATH_BYTES_MAX: usize = 107;

/// Most paths that a process keeps for messages from outside.
const PATHS_MAX: usize = 4_096;

/// Segments 0 to 5 of the addresses that represent Unix sockets.
const BLOCK: [u16; 6] = [0x100, 0, 0, 0, 0, 0];

/// The paths of this process, at the numbers in their addresses.
static PATHS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// Returns the address that represents `host`, if that is a Unix socket: `unix:/run/app.sock`.
pub fn unix_address(host: &str) -> Option<SocketAddr> {
    let path = host.strip_prefix(PREFIX)?;
    let mut paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    let index = paths.iter().position(|known| *known == path).unwrap_or_else(|| {
        // A process names few sockets, and needs them to its end.
        paths.push(Box::leak(Box::from(path)));
        paths.len() - 1
    });
    let mut segments = [0; 8];
    segments[..6].copy_from_slice(&BLOCK);
    segments[6] = (index >> 16) as u16;
    segments[7] = index as u16;
    Some(SocketAddrV6::new(Ipv6Addr::from(segments), 1, 0, 0).into())
}

/// Returns whether the path is known, or whether there is room for one more. Callers with paths
/// from outside ask this first, because a path is kept to the end of the process.
pub(crate) fn has_room_for(path: &str) -> bool {
    let paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    paths.len() < PATHS_MAX || paths.contains(&path)
}

/// Returns the path of the Unix socket that `address` represents. A path that starts with `@` is a
/// name in the abstract namespace. `None`: the address is one of a network.
#[inline]
pub fn unix_path(address: SocketAddr) -> Option<&'static str> {
    match address {
        SocketAddr::V4(_) => None,
        SocketAddr::V6(v6) => path_at(*v6.ip()),
    }
}

/// Returns the path of the Unix socket that `ip` represents.
fn path_at(ip: Ipv6Addr) -> Option<&'static str> {
    let segments = ip.segments();
    if segments[..6] != BLOCK {
        return None;
    }
    let index = usize::from(segments[6]) << 16 | usize::from(segments[7]);
    PATHS.lock().unwrap_or_else(PoisonError::into_inner).get(index).copied()
}

/// Returns `address` as people and files write it: `10.0.0.5:80`, or `unix:/run/app.sock`.
pub fn address_text(address: SocketAddr) -> String {
    unix_path(address).map_or_else(|| address.to_string(), |path| format!("{PREFIX}{path}"))
}

/// Reads what [`address_text`] wrote. `None`: the text is no address with a port.
pub fn parse_address(text: &str) -> Option<SocketAddr> {
    unix_address(text).or_else(|| text.parse().ok())
}

/// Returns whether `host` is a Unix socket.
pub fn is_unix(host: &str) -> bool {
    host.starts_with(PREFIX)
}

/// Splits the text after `http://` at the end of the socket's path. Returns the socket as a host
/// (`unix:/run/app.sock`) and the path of the request. `None`: the text names no Unix socket.
///
/// Forms: `unix:/run/app.sock`, `unix:/run/app.sock:/path` (as in nginx), `unix:///run/app.sock`
/// (as in Docker). With `encoded`, the socket is a host with `%2F` for each slash, as after
/// `http+unix://`.
pub fn split_unix(rest: &str, encoded: bool) -> Option<Result<(String, &str), UserError>> {
    if encoded {
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let path = percent_decoded(&rest[..end]).ok_or_else(|| bad_socket(rest));
        return Some(path.and_then(|path| unix_host(&path)).map(|host| (host, &rest[end..])));
    }
    let start = rest.get(..PREFIX.len()).filter(|start| start.eq_ignore_ascii_case(PREFIX))?.len();
    let named = rest[start..].strip_prefix("//").filter(|path| path.starts_with('/'));
    let named = named.unwrap_or(&rest[start..]);
    let (path, request) = match named.split_once(':') {
        None => (named, ""),
        Some((path, request)) if request.is_empty() || request.starts_with(['/', '?']) => (path, request),
        Some(_) => return Some(Err(bad_socket(named))),
    };
    Some(unix_host(path).map(|host| (host, request)))
}

/// Returns `path` as a host, if it can be one of a socket.
pub fn unix_host(path: &str) -> Result<String, UserError> {
    if path.len() < 2 || !path.starts_with(['/', '@']) || path.contains('\0') {
        return Err(bad_socket(path));
    }
    if path.len() > PATH_BYTES_MAX {
        return Err(UserError::usage(
            Code::BadUrl,
            format!(
                "the path of the Unix socket has {} bytes, and Linux allows {PATH_BYTES_MAX}",
                path.len()
            ),
            "use a shorter path, for example a symbolic link in /tmp",
        ));
    }
    Ok(format!("{PREFIX}{path}"))
}

fn bad_socket(path: &str) -> UserError {
    UserError::usage(
        Code::BadUrl,
        format!("`{path}` is not the path of a Unix socket"),
        "name it from the root, then the request's path: unix:/run/app.sock:/path",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rest: &str, encoded: bool, expected: Option<Result<(&str, &str), &str>>) {
        let found = split_unix(rest, encoded);
        let found = found.as_ref().map(|found| match found {
            Ok((host, path)) => Ok((host.as_str(), *path)),
            Err(error) => Err(error.message.as_str()),
        });
        match (found, expected) {
            (Some(Err(message)), Some(Err(part))) => assert!(message.contains(part), "{message}"),
            (found, expected) => assert_eq!(found, expected, "{rest}"),
        }
    }

    #[test]
    fn a_socket_ends_at_the_colon() {
        check("unix:/run/app.sock", false, Some(Ok(("unix:/run/app.sock", ""))));
        check("unix:/run/app.sock:/a?b=c:d", false, Some(Ok(("unix:/run/app.sock", "/a?b=c:d"))));
        check("unix:///run/app.sock", false, Some(Ok(("unix:/run/app.sock", ""))));
        check("UNIX:@name:/", false, Some(Ok(("unix:@name", "/"))));
        check("%2Frun%2Fapp.sock/v1?x", true, Some(Ok(("unix:/run/app.sock", "/v1?x"))));
        check("unix.example/run", false, None);
        check("unix:80", false, Some(Err("not the path of a Unix socket")));
        check("unix:/a:b", false, Some(Err("not the path of a Unix socket")));
        check("unix:app.sock", false, Some(Err("not the path of a Unix socket")));
        check(&format!("unix:/{}", "a".repeat(107)), false, Some(Err("108 bytes")));
        check("%FF/", true, Some(Err("not the path of a Unix socket")));
    }

    #[test]
    fn an_address_has_one_path_and_a_path_one_address() {
        let (one, two) = (unix_address("unix:/a").unwrap(), unix_address("unix:/b").unwrap());
        assert_ne!(one, two);
        assert_eq!(unix_address("unix:/a"), Some(one));
        assert_eq!((unix_path(one), unix_path(two)), (Some("/a"), Some("/b")));
        assert_eq!(parse_address(&address_text(two)), Some(two));
        let network: SocketAddr = "[100::1:0]:80".parse().unwrap();
        assert_eq!((unix_path(network), address_text(network)), (None, "[100::1:0]:80".to_owned()));
        assert_eq!(unix_address("localhost"), None);
    }
}
