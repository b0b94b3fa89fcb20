//! Errors of the network as messages for users.

use std::io::{Error, ErrorKind};

use wavetank_netbench::{Incompatible, PROTOCOL};
use wavetank_units::{Code, UserError};

/// A connection to `server` that could not be opened.
pub(crate) fn cannot_connect(server: &str, error: &Error) -> UserError {
    let message = |reason: &str| format!("cannot connect to {server}: {reason}");
    match error.kind() {
        ErrorKind::ConnectionRefused => UserError::refused(
            Code::NetRefused,
            message("connection refused"),
            "start `wavetank net serve` there, and check the port",
        ),
        ErrorKind::TimedOut | ErrorKind::WouldBlock => UserError::refused(
            Code::NetFiltered,
            message("no answer: the port is filtered, or the host is down"),
            "permit the port of `wavetank net serve` (TCP and UDP) in the packet filters on the path",
        ),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => UserError::refused(
            Code::NetUnreachable,
            message(&reason(error)),
            "check the address and the route: `ip route get ADDRESS`",
        ),
        _ => UserError::refused(
            Code::NetConnect,
            message(&reason(error)),
            "check the address and this host's limits",
        ),
    }
}

/// The control connection ended in the middle.
pub(crate) fn peer_gone(server: &str, error: &Error) -> UserError {
    let reason = match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "it does not respond any more".to_owned(),
        ErrorKind::UnexpectedEof => "it closed the connection".to_owned(),
        _ => reason(error),
    };
    UserError::refused(
        Code::NetPeerGone,
        format!("lost {server} in the middle of a measurement: {reason}"),
        "look at the output of `wavetank net serve` there; it may have reached the end of `--for`",
    )
}

/// The other end speaks another version.
pub(crate) fn versions_differ(server: &str, other: &Incompatible) -> UserError {
    UserError::refused(
        Code::NetVersion,
        format!(
            "{server} runs wavetank {} with version {} of these messages; this one has version {PROTOCOL}",
            other.version, other.protocol
        ),
        "use the same wavetank at both ends",
    )
}

/// The other end is something else.
pub(crate) fn not_ours(server: &str) -> UserError {
    UserError::refused(
        Code::NetProtocol,
        format!("{server} does not answer like `wavetank net serve`"),
        "check the port: another program may listen there",
    )
}

/// The tokens differ.
pub(crate) fn wrong_token(server: &str) -> UserError {
    UserError::refused(
        Code::NetToken,
        format!("{server} has another token"),
        "use the token that `wavetank net serve` printed there: WAVETANK_NET_TOKEN or --token-file FILE",
    )
}

/// The server has its number of clients.
pub(crate) fn is_busy(server: &str) -> UserError {
    UserError::refused(
        Code::NetBusy,
        format!("{server} already has as many clients as `--peers` permits"),
        "wait for them, or start it with a higher `--peers`",
    )
}

/// A test that a server cannot make.
pub(crate) fn test_failed(test: &str, server: &str, reason: &str) -> UserError {
    let message = format!("cannot measure {test} with {server}: {reason}");
    UserError::refused(Code::NetTestFailed, message, "look at the output of `wavetank net serve` there")
}

/// UDP does not reach the server or does not come back.
pub(crate) fn udp_filtered(server: &str, port: u16) -> UserError {
    UserError::refused(
        Code::NetUdpFiltered,
        format!("UDP to {server}, port {port}, is not answered, and TCP is"),
        "permit UDP to this port, and its answers, in the packet filters on the path",
    )
}

/// The message of an error, without Rust's number at its end.
pub(crate) fn reason(error: &Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
