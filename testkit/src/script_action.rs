//! [`ScriptAction`]: one action of a scripted target on a connection, and the bytes of plain
//! responses.

use std::time::Duration;

use crate::Stamp;

/// One thing a scripted target does. A request is answered by a list of them, in order.
#[derive(Clone, Debug)]
pub enum ScriptAction {
    /// Does nothing for this duration.
    Wait(Duration),
    /// Does nothing until then.
    WaitUntil(Stamp),
    /// Writes all of it in one call where the kernel takes it.
    Send(Vec<u8>),
    /// Writes byte by byte with this pause between them, each in its own segment.
    Trickle(Vec<u8>, Duration),
    /// Ends our direction (FIN); reading and counting go on until the client ends.
    HalfClose,
    /// Ends the connection with RST.
    Reset,
    /// Ends the connection with FIN.
    Close,
    /// Answers nothing any more; reads and counts until the client ends.
    Silence,
    /// From now on, closes with FIN if the next request does not start within this time.
    IdleLimit(Duration),
}

/// A response with `Content-Length` framing and a plain-text body.
pub fn answer(status: u16, body: &[u8]) -> Vec<u8> {
    answer_with(status, &[], body)
}

/// As [`answer`], with further header fields.
pub fn answer_with(status: u16, fields: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} Scripted\r\nContent-Length: {}\r\n", body.len()).into_bytes();
    for (name, value) in fields {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}
