//! [`bridge`]: copies bytes between a stream and the socket of an agent.

use std::fmt;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::private_socket::AGENT_SOCKET;

/// Bytes copied at a time.
const COPY_BYTES: usize = 64 << 10;

/// Why there is no bridge to an agent.
#[derive(Debug)]
pub enum BridgeError {
    /// No agent listens in the folder.
    NoAgent(std::io::Error),
    /// The connection broke.
    Broken(std::io::Error),
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAgent(error) => write!(f, "no agent listens: {error}"),
            Self::Broken(error) => write!(f, "the connection broke: {error}"),
        }
    }
}

impl std::error::Error for BridgeError {}

/// Copies `input` to the agent in `folder`, and what the agent sends to `output`, until one of them
/// ends. The thread that reads `input` may outlive this call, so the process should end after it.
///
/// # Errors
/// If no agent listens there, or a stream breaks.
pub fn bridge(
    folder: &Path,
    mut input: impl Read + Send + 'static,
    mut output: impl Write,
) -> Result<(), BridgeError> {
    let mut agent = UnixStream::connect(folder.join(AGENT_SOCKET)).map_err(BridgeError::NoAgent)?;
    let mut to_agent = agent.try_clone().map_err(BridgeError::Broken)?;
    let copy = move || {
        // An agent that is gone ends the other direction, which reports it.
        let _ = copy_bytes(&mut input, &mut to_agent);
        let _ = to_agent.shutdown(Shutdown::Write);
    };
    std::thread::Builder::new().name("bridge".to_owned()).spawn(copy).map_err(BridgeError::Broken)?;
    copy_bytes(&mut agent, &mut output).map_err(BridgeError::Broken)
}

/// Copies what is there without waiting for more, until `from` ends.
fn copy_bytes(from: &mut impl Read, to: &mut impl Write) -> std::io::Result<()> {
    let mut bytes = vec![0; COPY_BYTES];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                to.write_all(&bytes[..count])?;
                to.flush()?;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
