//! [`in_process`]: a link made of bounded channels.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use wavetank_fleet::{AgentId, AgentMessage, ControllerMessage};

/// The number of messages that may wait for each agent, and (times the agents) for the controller.
///
/// A run never has nearly this many in flight. A receiver that falls further behind loses messages
/// instead of using more memory.
const QUEUE_MAX: usize = 1_024;

/// The controller's end.
#[derive(Debug)]
pub struct ControllerLink {
    agents: Vec<SyncSender<ControllerMessage>>,
    inbox: Receiver<(AgentId, AgentMessage)>,
    overflowed: Arc<AtomicU64>,
}

/// One agent's end.
#[derive(Debug)]
pub struct AgentLink {
    id: AgentId,
    controller: SyncSender<(AgentId, AgentMessage)>,
    inbox: Receiver<ControllerMessage>,
    overflowed: Arc<AtomicU64>,
}

/// The other end is gone, so no message will arrive any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the other end of the link is gone")
    }
}

impl std::error::Error for Closed {}

/// Connects a controller with `agents` agents, numbered from 0.
pub fn in_process(agents: u32) -> (ControllerLink, Vec<AgentLink>) {
    let (controller, inbox) = sync_channel(QUEUE_MAX * agents.max(1) as usize);
    let overflowed = Arc::new(AtomicU64::new(0));
    let (senders, links) = (0..agents)
        .map(|number| {
            let (sender, inbox) = sync_channel(QUEUE_MAX);
            let (controller, overflowed) = (controller.clone(), Arc::clone(&overflowed));
            (sender, AgentLink { id: AgentId(number), controller, inbox, overflowed })
        })
        .unzip();
    (ControllerLink { agents: senders, inbox, overflowed }, links)
}

impl ControllerLink {
    /// Sends without waiting. A message to a full queue or to an agent that is gone is lost and
    /// counted.
    pub fn send(&self, to: AgentId, message: ControllerMessage) -> Result<(), Closed> {
        match self.agents.get(to.0 as usize) {
            Some(agent) => send(agent, message, &self.overflowed),
            None => Err(Closed),
        }
    }

    /// Returns the next message, waiting at most `wait` (zero: without waiting).
    pub fn receive(&self, wait: Duration) -> Result<Option<(AgentId, AgentMessage)>, Closed> {
        receive(&self.inbox, wait)
    }

    /// Messages lost in both directions because a queue was full.
    pub fn overflowed(&self) -> u64 {
        self.overflowed.load(Ordering::Relaxed)
    }
}

impl AgentLink {
    /// The number of this agent.
    pub const fn id(&self) -> AgentId {
        self.id
    }

    /// Sends without waiting. A message to a full queue is lost and counted.
    pub fn send(&self, message: AgentMessage) -> Result<(), Closed> {
        send(&self.controller, (self.id, message), &self.overflowed)
    }

    /// Returns the next message, waiting at most `wait` (zero: without waiting).
    pub fn receive(&self, wait: Duration) -> Result<Option<ControllerMessage>, Closed> {
        receive(&self.inbox, wait)
    }
}

fn send<T>(to: &SyncSender<T>, message: T, overflowed: &AtomicU64) -> Result<(), Closed> {
    match to.try_send(message) {
        Ok(()) => Ok(()),
        Err(TrySendError::Full(_)) => {
            overflowed.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        Err(TrySendError::Disconnected(_)) => Err(Closed),
    }
}

fn receive<T>(inbox: &Receiver<T>, wait: Duration) -> Result<Option<T>, Closed> {
    match inbox.recv_timeout(wait) {
        Ok(message) => Ok(Some(message)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(Closed),
    }
}

#[cfg(test)]
mod tests {
    use wavetank_fleet::{AgentPayload, ControllerPayload, RunId};

    use super::*;

    const NO_WAIT: Duration = Duration::ZERO;
    const LONG: Duration = Duration::from_secs(30);

    fn order(seen: u64) -> ControllerMessage {
        ControllerMessage { run: RunId(1), epoch: 1, order: ControllerPayload::Lease { seen } }
    }

    fn report(seq: u64) -> AgentMessage {
        AgentMessage { run: RunId(1), epoch: 1, report: AgentPayload::Sealed { seq } }
    }

    #[test]
    fn messages_reach_whom_they_are_for_in_order() {
        let (controller, agents) = in_process(3);
        for seen in 0..9 {
            assert_eq!(controller.send(AgentId(seen as u32 % 3), order(seen)), Ok(()));
        }
        for (agent, first) in agents.iter().zip(0..) {
            assert_eq!(agent.id(), AgentId(first as u32));
            for seen in [first, first + 3, first + 6] {
                assert_eq!(agent.receive(NO_WAIT), Ok(Some(order(seen))));
            }
            assert_eq!(agent.receive(NO_WAIT), Ok(None));
            assert_eq!(agent.send(report(first)), Ok(()));
        }
        for number in 0..3 {
            let expected = (AgentId(number), report(u64::from(number)));
            assert_eq!(controller.receive(NO_WAIT), Ok(Some(expected)));
        }
        assert_eq!(controller.receive(NO_WAIT), Ok(None));
        assert_eq!(controller.send(AgentId(3), order(0)), Err(Closed));
    }

    #[test]
    fn a_receiver_asleep_is_woken() {
        let (controller, mut agents) = in_process(1);
        let agent = agents.remove(0);
        let thread = std::thread::spawn(move || {
            let woken_by = agent.receive(LONG);
            agent.send(report(4)).expect("the controller waits");
            woken_by
        });
        assert_eq!(controller.send(AgentId(0), order(7)), Ok(()));
        assert_eq!(controller.receive(LONG), Ok(Some((AgentId(0), report(4)))));
        assert_eq!(thread.join().unwrap(), Ok(Some(order(7))));
        // The agent ended with its thread.
        assert_eq!(controller.receive(LONG), Err(Closed));
        assert_eq!(controller.send(AgentId(0), order(8)), Err(Closed));
    }

    #[test]
    fn a_full_queue_loses_and_counts_and_never_waits() {
        let (controller, agents) = in_process(1);
        for seen in 0..QUEUE_MAX as u64 + 5 {
            assert_eq!(controller.send(AgentId(0), order(seen)), Ok(()));
            assert_eq!(agents[0].send(report(seen)), Ok(()));
        }
        assert_eq!(controller.overflowed(), 10);
        let received = std::iter::from_fn(|| agents[0].receive(NO_WAIT).ok().flatten()).count();
        assert_eq!(received, QUEUE_MAX);
    }
}
