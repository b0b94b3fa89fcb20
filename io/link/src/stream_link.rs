//! [`StreamLink`]: the controller's end of a link between hosts.

use std::collections::HashMap;
use std::fmt;
use std::process::Command;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use wavetank_fleet::wire::{AgentFrame, ControllerFrame};
use wavetank_fleet::{AgentId, Command as FleetCommand, ControllerPayload, RunId};

use crate::in_process::Closed;
use crate::logins::Logins;
use crate::queue::Queue;
use crate::stop::Stop;
use crate::stream_host::HostThread;
use crate::writer::Outbox;

/// Most events of each host that wait for the controller. A host beyond that waits.
const EVENTS_MAX: usize = 1_024;
/// Hosts wait while events with this many bytes wait for the controller.
const EVENT_BYTES_MAX: usize = 256 << 20;

/// A host with an agent, and the process that reaches it.
pub struct StreamHost {
    /// Its name, for messages.
    pub name: String,
    /// Makes the process, such as ssh, with its standard input and output connected to the agent.
    /// The link sets its pipes.
    pub command: Box<dyn Fn() -> Command + Send>,
}

impl fmt::Debug for StreamHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamHost").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What happened on the controller's link. `host` is the index of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEvent {
    /// An agent sent its first message, which follows. Each connection has its own number.
    Connected {
        /// The connection.
        agent: AgentId,
        /// The host.
        host: usize,
    },
    /// A message of an agent.
    Frame {
        /// The connection.
        agent: AgentId,
        /// The message.
        frame: AgentFrame,
    },
    /// A message in another version of the format, which is ignored.
    OtherVersion {
        /// The connection.
        agent: AgentId,
        /// That version.
        found: u32,
    },
    /// The connection ended. The link connects again.
    Disconnected {
        /// The connection.
        agent: AgentId,
        /// The host.
        host: usize,
        /// Why, as one line.
        reason: String,
    },
    /// An attempt to connect failed. The link tries again.
    Unreachable {
        /// The host.
        host: usize,
        /// Why, as one line.
        reason: String,
    },
}

/// Why a host is not connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFailure {
    /// Name of the host.
    pub name: String,
    /// Why its last connection or attempt ended, as one line.
    pub reason: String,
}

/// The controller's end: a process for each host, which is started again whenever it ends.
///
/// A controller that reads slowly makes the agents wait. What it sends is lost if the queue of the
/// connection is full.
#[derive(Debug)]
pub struct StreamLink {
    shared: Arc<Shared>,
    names: Vec<String>,
    threads: Vec<JoinHandle<()>>,
}

/// What all hosts of a link share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) inbox: Queue<StreamEvent>,
    pub(crate) stop: Arc<Stop>,
    pub(crate) logins: Logins,
    pub(crate) overflowed: Arc<AtomicU64>,
    next_agent: AtomicU32,
    connections: Mutex<HashMap<AgentId, Connection>>,
    /// Why each host is not connected; `None`: it is, or no attempt has ended.
    failures: Mutex<Vec<Option<String>>>,
}

#[derive(Debug)]
struct Connection {
    outbox: Arc<Outbox<ControllerFrame>>,
    /// Run and hash of the plan that this connection has carried.
    plan: Option<(RunId, String)>,
}

impl StreamLink {
    /// Starts to connect to all hosts, with at most `at_once` logins at the same time.
    ///
    /// # Errors
    /// If a thread or pipe cannot be made.
    pub fn start(hosts: Vec<StreamHost>, at_once: usize) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            inbox: Queue::new(EVENTS_MAX * hosts.len().max(1), EVENT_BYTES_MAX),
            stop: Arc::new(Stop::new()?),
            logins: Logins::new(at_once),
            overflowed: Arc::new(AtomicU64::new(0)),
            next_agent: AtomicU32::new(0),
            connections: Mutex::new(HashMap::new()),
            failures: Mutex::new(vec![None; hosts.len()]),
        });
        let names = hosts.iter().map(|host| host.name.clone()).collect();
        // If a thread cannot be started, dropping the link ends those before it.
        let mut link = Self { shared, names, threads: Vec::new() };
        for (index, host) in hosts.into_iter().enumerate() {
            let thread = HostThread::new(index, host, Arc::clone(&link.shared));
            let builder = std::thread::Builder::new().name(format!("link-host-{index}"));
            link.threads.push(builder.spawn(move || thread.run())?);
        }
        Ok(link)
    }

    /// Returns the next event, waiting at most `wait` (zero: without waiting).
    pub fn receive(&self, wait: Duration) -> Option<StreamEvent> {
        self.shared.inbox.pop(wait)
    }

    /// Sends to an agent without waiting. A message to a full queue is lost and counted.
    ///
    /// A connection carries a plan once: an offer of the same plan of the same run goes without it
    /// from then on. So the agent keeps the plan that came with an offer.
    ///
    /// # Errors
    /// If this connection has ended.
    pub fn send(&self, to: AgentId, mut frame: ControllerFrame) -> Result<(), Closed> {
        let mut connections = self.shared.connections();
        let connection = connections.get_mut(&to).ok_or(Closed)?;
        let plan = plan_of(&frame);
        if plan.is_some() && plan == connection.plan {
            frame.plan = None;
        }
        let bytes = frame.plan.as_ref().map_or(0, |plan| plan.len());
        if connection.outbox.send(frame, bytes)? && plan.is_some() {
            connection.plan = plan;
        }
        Ok(())
    }

    /// Returns the hosts that are not connected because something failed, and why.
    pub fn failures(&self) -> Vec<HostFailure> {
        let failures = self.shared.failures();
        let failed = self.names.iter().zip(failures.iter());
        failed
            .filter_map(|(name, reason)| Some(HostFailure { name: name.clone(), reason: reason.clone()? }))
            .collect()
    }

    /// Number of messages that were lost because a queue was full.
    pub fn overflowed(&self) -> u64 {
        self.shared.overflowed.load(Ordering::Relaxed)
    }
}

impl Drop for StreamLink {
    /// Ends all processes: closes their standard input, and kills those that remain.
    fn drop(&mut self) {
        self.shared.stop.stop();
        self.shared.logins.wake();
        self.shared.inbox.close();
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Gives a connection its number; messages to it are accepted from now on.
    pub(crate) fn connected(&self, host: usize, outbox: &Arc<Outbox<ControllerFrame>>) -> AgentId {
        let agent = AgentId(self.next_agent.fetch_add(1, Ordering::Relaxed));
        self.connections().insert(agent, Connection { outbox: Arc::clone(outbox), plan: None });
        self.failures()[host] = None;
        agent
    }

    /// The connection of this host, or an attempt to make one, has ended.
    pub(crate) fn ended(&self, host: usize, agent: Option<AgentId>, reason: &str) {
        if let Some(agent) = agent {
            self.connections().remove(&agent);
        }
        self.failures()[host] = Some(reason.to_owned());
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<AgentId, Connection>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failures(&self) -> MutexGuard<'_, Vec<Option<String>>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns run and hash of the attached plan.
fn plan_of(frame: &ControllerFrame) -> Option<(RunId, String)> {
    frame.plan.as_ref()?;
    match &frame.message.order {
        ControllerPayload::Command { command: FleetCommand::Offer { plan_hash, .. }, .. } => {
            Some((frame.message.run, plan_hash.clone()))
        }
        _ => None,
    }
}
