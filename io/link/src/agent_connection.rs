//! [`AgentConnection`]: one connection of an agent's controller.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use wavetank_fleet::wire::{AgentFrame, WireError, decode_controller, encode_agent};

use crate::agent_listener::{ActiveOutbox, AgentInbox, AgentLinkEvent};
use crate::limits::CONTROLLER_LINE_BYTES_MAX;
use crate::line_splitter::LineReader;
use crate::stop::{Interruptible, Stop};
use crate::writer::{MESSAGE_BYTES, Outbox};

/// The connection of a controller: a thread that reads and one that writes.
#[derive(Debug)]
pub(crate) struct AgentConnection {
    stop: Arc<Stop>,
    /// The agent's side ends it.
    ended_here: Arc<AtomicBool>,
    inbox: Arc<AgentInbox>,
    outbox: Arc<Outbox<AgentFrame>>,
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
}

impl AgentConnection {
    /// Starts both threads. Messages go to this connection from now on.
    pub(crate) fn open(
        stream: UnixStream,
        inbox: &Arc<AgentInbox>,
        active: &Arc<ActiveOutbox>,
        overflowed: &Arc<AtomicU64>,
    ) -> std::io::Result<Self> {
        let stop = Arc::new(Stop::new()?);
        let output = Interruptible::new(stream.try_clone()?, Arc::clone(&stop))?;
        let input = Interruptible::new(stream, Arc::clone(&stop))?;
        let lost = Arc::clone(overflowed);
        let encode = move |frame: &AgentFrame, out: &mut dyn std::io::Write| {
            let Ok(line) = encode_agent(&frame.message, frame.interval.as_deref()) else {
                // An interval that is not JSON would end the connection at the other end.
                lost.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            };
            out.write_all(line.as_bytes())?;
            out.write_all(b"\n")
        };
        let (outbox, writer) = Outbox::start(
            output,
            move |frame, out| encode(frame, out),
            Arc::clone(&stop),
            Arc::clone(overflowed),
        )?;
        active.set(&outbox);
        inbox.push(AgentLinkEvent::Connected, MESSAGE_BYTES, || false);
        let ended_here = Arc::new(AtomicBool::new(false));
        let reading = Reading {
            ended_here: Arc::clone(&ended_here),
            stop: Arc::clone(&stop),
            inbox: Arc::clone(inbox),
            active: Arc::clone(active),
            outbox: Arc::clone(&outbox),
        };
        let reader = std::thread::Builder::new()
            .name("link-reader".to_owned())
            .spawn(move || reading.run(LineReader::new(input, CONTROLLER_LINE_BYTES_MAX)))?;
        Ok(Self { stop, ended_here, inbox: Arc::clone(inbox), outbox, reader, writer })
    }

    /// Ends both threads and closes the connection.
    pub(crate) fn end(self) {
        self.ended_here.store(true, Ordering::SeqCst);
        self.stop.stop();
        self.outbox.close();
        self.inbox.wake();
        // A thread that panicked has ended, too.
        let _ = self.reader.join();
        let _ = self.writer.join();
    }
}

/// What the reading thread needs.
struct Reading {
    ended_here: Arc<AtomicBool>,
    stop: Arc<Stop>,
    inbox: Arc<AgentInbox>,
    active: Arc<ActiveOutbox>,
    outbox: Arc<Outbox<AgentFrame>>,
}

impl Reading {
    fn run(self, mut lines: LineReader<Interruptible<UnixStream>>) {
        let mut damage = None;
        let end = lines.for_each(|line| match decode_controller(line) {
            Ok(frame) => {
                let bytes = MESSAGE_BYTES + frame.plan.as_ref().map_or(0, |plan| plan.len());
                self.push(AgentLinkEvent::Frame(frame), bytes)
            }
            Err(WireError::Version { found }) => {
                self.push(AgentLinkEvent::OtherVersion { found }, MESSAGE_BYTES)
            }
            Err(error @ WireError::Damaged(_)) => {
                damage = Some(error.to_string());
                false
            }
        });
        let reason = match (damage, end) {
            _ if self.ended_here.load(Ordering::SeqCst) => "another connection replaced it".to_owned(),
            (Some(damage), _) => damage,
            (None, Err(end)) if !self.stop.is_stopped() => end.to_string(),
            (None, _) => "the other end reads nothing any more".to_owned(),
        };
        self.active.clear(&self.outbox);
        self.outbox.close();
        self.stop.stop();
        // The next connection waits for this, so that events are in order.
        self.inbox.push(AgentLinkEvent::Disconnected { reason }, MESSAGE_BYTES, || false);
    }

    fn push(&self, event: AgentLinkEvent, bytes: usize) -> bool {
        self.inbox.push(event, bytes, || self.stop.is_stopped())
    }
}
