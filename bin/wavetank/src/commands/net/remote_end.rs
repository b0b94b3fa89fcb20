//! [`RemoteEnd`]: a process of `wavetank net endpoint` on another host.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use wavetank_netbench::{ControlLine, EndpointEvent, EndpointJob};
use wavetank_units::{Code, UserError, sanitize};

/// Events that wait to be taken.
const EVENTS_MAX: usize = 64;
/// Most bytes of a line, and of what is read of the process's messages.
const BYTES_MAX: u64 = 4 << 20;

/// An end of a measurement. Dropping it ends the process.
pub(super) struct RemoteEnd {
    host: String,
    child: Child,
    input: Option<ChildStdin>,
    events: Receiver<Result<EndpointEvent, String>>,
}

impl RemoteEnd {
    /// Starts the process and gives it its job.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn start(host: &str, mut command: Command, job: &EndpointJob) -> Result<Self, UserError> {
        let failed = |error: &std::io::Error| host_failed(host, &error.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(&error))?;
        let (mut input, output, messages) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (send, events) = sync_channel(EVENTS_MAX);
        std::thread::spawn(move || {
            let lines = BufReader::new(
                output
                    .into_iter()
                    .fold(Box::new(std::io::empty()) as Box<dyn std::io::Read + Send>, |_, output| {
                        Box::new(output.take(BYTES_MAX))
                    }),
            );
            for line in lines.lines() {
                let event = line.ok().and_then(|line| serde_json::from_str::<EndpointEvent>(&line).ok());
                // Startup files of shells may write lines, too.
                if let Some(event) = event
                    && send.send(Ok(event)).is_err()
                {
                    return;
                }
            }
            let mut said = String::new();
            if let Some(messages) = messages {
                let _ = messages.take(BYTES_MAX).read_to_string(&mut said);
            }
            let _ = send.send(Err(reason(&said)));
        });
        if let Some(input) = &mut input {
            // A process that has ended already reports why.
            let _ = input.write_all(&ControlLine::encode(job));
        }
        Ok(Self { host: host.to_owned(), child, input, events })
    }

    /// Returns the next event within `wait`; `None` if there is none yet.
    ///
    /// # Errors
    /// The process has ended or reports an error.
    pub(super) fn poll(&self, wait: Duration) -> Result<Option<EndpointEvent>, UserError> {
        match self.events.recv_timeout(wait) {
            Ok(Ok(EndpointEvent::Failed { message, .. })) => Err(host_failed(&self.host, &message)),
            Ok(Ok(event)) => Ok(Some(event)),
            Ok(Err(reason)) => Err(host_failed(&self.host, &reason)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(host_failed(&self.host, "its process has ended")),
        }
    }

    /// Lets an end that waits start.
    pub(super) fn go(&mut self) {
        if let Some(input) = &mut self.input {
            let _ = input.write_all(b"\n").and_then(|()| input.flush());
        }
    }
}

impl Drop for RemoteEnd {
    fn drop(&mut self) {
        // It ends with its input; one that does not is killed.
        drop(self.input.take());
        for _ in 0..30 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(100));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn host_failed(host: &str, reason: &str) -> UserError {
    let message = format!("cannot measure on host {host}: {}", sanitize(reason));
    UserError::refused(Code::NetHostFailed, message, "check that the host is up, and has the same wavetank")
}

/// Returns the last line of messages that is no advice.
fn reason(said: &str) -> String {
    let is_reason = |line: &&str| !line.is_empty() && !line.starts_with("hint:");
    let last = said.lines().rev().map(str::trim).find(is_reason);
    last.unwrap_or("its process has ended").trim_start_matches("error: ").to_owned()
}
