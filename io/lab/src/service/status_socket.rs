//! [`query_socket`]: commands to the status socket of a service.

use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use wavetank_units::Nanos;

use super::process::pause;

/// A program that does not answer in this time is stopped.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Maximum size of an answer in bytes: 700 for each of a thousand servers.
pub(super) const ANSWER_BYTES_MAX: u64 = 1 << 20;
/// Tries to connect to a socket that is bound and does not listen yet, and the time between them.
const LISTEN_TRIES: u32 = 50;
const LISTEN_PAUSE: Nanos = Nanos::from_millis(10);

/// Sends `asked` to a socket in a folder and returns the answer.
pub(super) fn query_socket(folder: &Path, socket: &str, asked: &str) -> Result<String, String> {
    let exchange = || -> std::io::Result<Vec<u8>> {
        // The path of a socket has at most 107 characters, and a lab's path may be long. The path
        // goes through a file descriptor instead.
        let handle = std::fs::File::open(folder)?;
        let path = format!("/proc/self/fd/{}/{socket}", handle.as_raw_fd());
        let mut stream = connect_to_starting(&path)?;
        stream.set_read_timeout(Some(ANSWER_MAX))?;
        stream.set_write_timeout(Some(ANSWER_MAX))?;
        stream.write_all(asked.as_bytes())?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        Ok(answer)
    };
    let answer = exchange().map_err(|error| format!("{socket}: {error}"))?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Connects to a program that may have just started. It binds its socket before it listens, and
/// refuses connections in between.
fn connect_to_starting(path: &str) -> std::io::Result<UnixStream> {
    for _ in 0..LISTEN_TRIES {
        match UnixStream::connect(path) {
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => pause(LISTEN_PAUSE),
            result => return result,
        }
    }
    UnixStream::connect(path)
}
