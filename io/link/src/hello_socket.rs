//! [`HelloSocket`]: an agent's greeting, for programs that only want to know its state.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use wavetank_fleet::wire::{decode_agent, encode_agent};
use wavetank_fleet::{AgentMessage, AgentPayload};

use crate::private_socket::{BindError, accept, bind_private};
use crate::stop::Stop;

/// Name of the socket in the agent's folder.
const SOCKET: &str = "hello.sock";
/// Longest greeting, in bytes.
const HELLO_BYTES_MAX: u64 = 64 << 10;
/// An agent answers within this time, or not at all.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// A Unix socket that answers each connection with the agent's greeting.
///
/// The link of a controller has one connection, and a second one would replace it. This socket
/// serves any number of programs of the same user or root, one after the other.
#[derive(Debug)]
pub struct HelloSocket {
    line: Arc<Mutex<String>>,
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl HelloSocket {
    /// Listens in `folder` and answers with this message.
    ///
    /// # Errors
    /// As for [`crate::AgentListener::bind`].
    pub fn bind(folder: &Path, hello: &AgentMessage) -> Result<Self, BindError> {
        let path = folder.join(SOCKET);
        let failed = |error| BindError::System(path.clone(), error);
        let listener = bind_private(folder, SOCKET)?;
        let stop = Arc::new(Stop::new().map_err(failed)?);
        let line = Arc::new(Mutex::new(line_of(hello)));
        let (current, until) = (Arc::clone(&line), Arc::clone(&stop));
        let run = move || {
            while let Some(mut stream) = accept(&listener, &until) {
                let line = current.lock().unwrap_or_else(PoisonError::into_inner).clone();
                // It fits into the buffer of a new socket, so this never waits.
                let _ = stream.write_all(line.as_bytes());
            }
        };
        let thread = std::thread::Builder::new().name("link-hello".to_owned()).spawn(run).map_err(failed)?;
        Ok(Self { line, stop, thread: Some(thread), path })
    }

    /// Answers with this message from now on.
    pub fn set(&self, hello: &AgentMessage) {
        *self.line.lock().unwrap_or_else(PoisonError::into_inner) = line_of(hello);
    }
}

impl Drop for HelloSocket {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Returns the greeting of the agent in this folder.
///
/// # Errors
/// If no agent listens there, or it does not answer with a greeting.
pub fn read_hello(folder: &Path) -> std::io::Result<AgentMessage> {
    let stream = UnixStream::connect(folder.join(SOCKET))?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    let mut line = Vec::new();
    stream.take(HELLO_BYTES_MAX).read_to_end(&mut line)?;
    let message = decode_agent(&line).map_err(std::io::Error::other)?.message;
    match message.report {
        AgentPayload::Hello(_) => Ok(message),
        _ => Err(std::io::Error::other("the answer is not a greeting")),
    }
}

fn line_of(hello: &AgentMessage) -> String {
    encode_agent(hello, None).expect("nothing is attached") + "\n"
}
