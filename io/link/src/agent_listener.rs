//! [`AgentListener`]: the agent's end of a link between hosts.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use wavetank_fleet::wire::{AgentFrame, ControllerFrame};

use crate::agent_connection::AgentConnection;
use crate::in_process::Closed;
use crate::limits::INTERVAL_BYTES_MAX;
use crate::private_socket::{AGENT_SOCKET, BindError, accept, bind_private};
use crate::queue::Queue;
use crate::stop::Stop;
use crate::writer::Outbox;

/// Most events that wait for the agent. A controller beyond that waits.
const EVENTS_MAX: usize = 1_024;
/// A controller waits while events with this many bytes wait for the agent.
const EVENT_BYTES_MAX: usize = 64 << 20;

/// What happened on an agent's link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentLinkEvent {
    /// A controller connected. A former connection is closed, and was reported as disconnected.
    Connected,
    /// A message of the controller.
    Frame(ControllerFrame),
    /// A message in another version of the format, which is ignored.
    OtherVersion {
        /// That version.
        found: u32,
    },
    /// The connection ended.
    Disconnected {
        /// Why, as one line.
        reason: String,
    },
}

/// Events that wait for the agent.
pub(crate) type AgentInbox = Queue<AgentLinkEvent>;

/// The agent's end: a Unix socket in its folder, for controllers of the same user or root.
///
/// One connection is active, the newest one. A controller that sends faster than the agent reads
/// has to wait. Nothing of it is lost.
#[derive(Debug)]
pub struct AgentListener {
    inbox: Arc<AgentInbox>,
    active: Arc<ActiveOutbox>,
    overflowed: Arc<AtomicU64>,
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl AgentListener {
    /// Listens in `folder`, which is created if it is missing. Folder and socket are made private
    /// to the user.
    ///
    /// # Errors
    /// If another process listens there, the folder belongs to another user, or the system refuses.
    pub fn bind(folder: &Path) -> Result<Self, BindError> {
        let path = folder.join(AGENT_SOCKET);
        let failed = |error| BindError::System(path.clone(), error);
        let listener = bind_private(folder, AGENT_SOCKET)?;
        let stop = Arc::new(Stop::new().map_err(failed)?);
        let inbox = Arc::new(Queue::new(EVENTS_MAX, EVENT_BYTES_MAX));
        let (active, overflowed) = (Arc::new(ActiveOutbox::default()), Arc::new(AtomicU64::new(0)));
        let run = {
            let (inbox, active, overflowed) =
                (Arc::clone(&inbox), Arc::clone(&active), Arc::clone(&overflowed));
            let stop = Arc::clone(&stop);
            move || {
                let mut current: Option<AgentConnection> = None;
                while let Some(stream) = accept(&listener, &stop) {
                    if let Some(former) = current.take() {
                        former.end();
                    }
                    // Without memory or files for it, the controller sees its connection closed.
                    current = AgentConnection::open(stream, &inbox, &active, &overflowed).ok();
                }
                if let Some(former) = current.take() {
                    former.end();
                }
            }
        };
        let thread = std::thread::Builder::new().name("link-accept".to_owned()).spawn(run).map_err(failed)?;
        Ok(Self { inbox, active, overflowed, stop, thread: Some(thread), path })
    }

    /// Returns the next event, waiting at most `wait` (zero: without waiting).
    pub fn receive(&self, wait: Duration) -> Option<AgentLinkEvent> {
        self.inbox.pop(wait)
    }

    /// Sends to the active connection without waiting. A message to a full queue, with an interval
    /// above [`INTERVAL_BYTES_MAX`], or with one that is not JSON is lost and counted.
    ///
    /// # Errors
    /// If no controller is connected.
    pub fn send(&self, frame: AgentFrame) -> Result<(), Closed> {
        let outbox = self.active.get().ok_or(Closed)?;
        let bytes = frame.interval.as_ref().map_or(0, String::len);
        if bytes > INTERVAL_BYTES_MAX {
            self.overflowed.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        outbox.send(frame, bytes).map(drop)
    }

    /// Number of messages that were lost, see [`Self::send`].
    pub fn overflowed(&self) -> u64 {
        self.overflowed.load(Ordering::Relaxed)
    }

    /// Returns what ends a wait in [`Self::receive`] early: another link has an event.
    pub fn waker(&self) -> AgentWaker {
        AgentWaker(Arc::clone(&self.inbox))
    }

    /// The socket's path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Ends a wait in [`AgentListener::receive`] early.
#[derive(Clone, Debug)]
pub struct AgentWaker(Arc<AgentInbox>);

impl AgentWaker {
    /// Ends the current wait, or the next one.
    pub fn wake(&self) {
        self.0.interrupt();
    }
}

impl Drop for AgentListener {
    fn drop(&mut self) {
        self.stop.stop();
        self.inbox.close();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The outbox of the active connection, if one is active.
#[derive(Debug, Default)]
pub(crate) struct ActiveOutbox(Mutex<Option<Arc<Outbox<AgentFrame>>>>);

impl ActiveOutbox {
    pub(crate) fn set(&self, outbox: &Arc<Outbox<AgentFrame>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(outbox));
    }

    /// No connection is active any more, unless another one is by now.
    pub(crate) fn clear(&self, outbox: &Arc<Outbox<AgentFrame>>) {
        let mut active = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        active.take_if(|current| Arc::ptr_eq(current, outbox));
    }

    fn get(&self) -> Option<Arc<Outbox<AgentFrame>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
