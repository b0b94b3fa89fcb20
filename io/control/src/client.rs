//! The other processes' side: runs of this user, requests to one, and its states.

use std::io::{BufRead as _, BufReader, Error, ErrorKind, Lines, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use wavetank_record::LiveDoc;

use crate::folder::{EXTENSION, RunFolder};
use crate::messages::{ControlReply, ControlRequest};

/// A run answers a request within this time.
const REPLY_MAX: Duration = Duration::from_secs(15);

/// Returns the states of all running runs of this user, by id. Sockets of runs that have ended
/// without removing them are removed. Runs that do not reply are left out.
///
/// # Errors
/// If the folder cannot be read. A folder that does not exist has no runs.
pub fn running(folder: &RunFolder) -> std::io::Result<Vec<LiveDoc>> {
    let entries = match std::fs::read_dir(folder.path()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut runs = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != EXTENSION) {
            continue;
        }
        match send_to(&path, &ControlRequest::Status) {
            Ok(ControlReply::State(state)) => runs.push(*state),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                let _ = std::fs::remove_file(&path);
            }
            Ok(_) | Err(_) => {}
        }
    }
    runs.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(runs)
}

/// Sends a request to the run with this id, and returns its reply.
///
/// # Errors
/// `NotFound` or `ConnectionRefused` if no such run is running; otherwise what the system reports,
/// or that the reply cannot be read.
pub fn send(folder: &RunFolder, id: &str, request: &ControlRequest) -> std::io::Result<ControlReply> {
    send_to(&folder.socket(id), request)
}

fn send_to(socket: &Path, request: &ControlRequest) -> std::io::Result<ControlReply> {
    let stream = connect(socket, request)?;
    stream.set_read_timeout(Some(REPLY_MAX))?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    read_reply(&line)
}

fn connect(socket: &Path, request: &ControlRequest) -> std::io::Result<UnixStream> {
    let mut stream = UnixStream::connect(socket)?;
    let line = serde_json::to_string(request).map_err(Error::other)? + "\n";
    stream.write_all(line.as_bytes())?;
    Ok(stream)
}

fn read_reply(line: &str) -> std::io::Result<ControlReply> {
    if line.is_empty() {
        return Err(Error::new(ErrorKind::UnexpectedEof, "the run ended"));
    }
    serde_json::from_str(line).map_err(Error::other)
}

/// The states of a run, one for each seal, until it is over.
#[derive(Debug)]
pub struct States {
    lines: Lines<BufReader<UnixStream>>,
}

/// Watches the run with this id.
///
/// # Errors
/// As for [`send`].
pub fn watch(folder: &RunFolder, id: &str) -> std::io::Result<States> {
    let stream = connect(&folder.socket(id), &ControlRequest::Watch)?;
    Ok(States { lines: BufReader::new(stream).lines() })
}

impl Iterator for States {
    type Item = std::io::Result<LiveDoc>;

    fn next(&mut self) -> Option<Self::Item> {
        let reply = self.lines.next()?.and_then(|line| read_reply(&line));
        match reply {
            Ok(ControlReply::State(state)) => Some(Ok(*state)),
            Ok(ControlReply::Rejected { message, .. }) => Some(Err(Error::other(message))),
            Ok(ControlReply::Accepted(_)) => Some(Err(Error::other("the reply is not a state"))),
            Err(error) => Some(Err(error)),
        }
    }
}
