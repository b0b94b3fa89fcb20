//! Simulates the process around an agent, as the agent sees it.

use wavetank_fleet::{Agent, AgentAction, Change};
use wavetank_plan::Nanos;

/// The process around an agent: gets ready, sends load, seals intervals, ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    pub(crate) kind: Kind,
    pub(crate) plan: Nanos,
    pub(crate) lead_in: Nanos,
    ready_at: Option<Nanos>,
    /// Whether it answered that it is prepared.
    pub(crate) prepared: bool,

    /// Zero of its run's clock.
    pub(crate) zero: Option<Nanos>,
    /// First and last instant at which it sent something new.
    pub(crate) load_from: Option<Nanos>,
    pub(crate) load_to: Option<Nanos>,
    /// When it will have ended.
    end_at: Option<Nanos>,
    pub(crate) sealed: u64,
    pub(crate) changes: Vec<(Nanos, Change)>,
    pub(crate) stopped: bool,
    /// Its end, or its death.
    pub(crate) gone: Option<Nanos>,
}

/// A defect of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing.
    #[default]
    Sound,
    /// It cannot prepare.
    Unready,
    /// It does not end on a drain, only on a stop.
    Deaf,
}

const PREPARING: Nanos = Nanos::from_millis(300);
const DRAINING: Nanos = Nanos::from_millis(1_700);
const STOPPING: Nanos = Nanos::from_millis(40);

impl Host {
    pub(crate) fn new(kind: Kind, plan: Nanos, lead_in: Nanos) -> Self {
        Self { kind, plan, lead_in, ..Self::default() }
    }

    /// Carry out what the agent decided.
    pub(crate) fn act(&mut self, action: &AgentAction, now: Nanos) {
        assert!(self.gone.is_none(), "{action:?} after the end");
        match *action {
            AgentAction::Send(_) => unreachable!("the world sends"),
            AgentAction::Prepare { .. } => {
                assert!(self.ready_at.is_none() && !self.stopped, "prepared twice");
                self.ready_at = Some(now.after(PREPARING));
            }
            AgentAction::StartAt(zero) => {
                assert!(self.prepared && self.zero.is_none() && !self.stopped, "started out of turn");
                assert!(now <= zero - self.lead_in, "started too late");
                self.zero = Some(zero);
            }
            AgentAction::Change { at, change } => {
                let zero = self.zero.expect("a change of a run that has begun");
                assert!(!self.stopped && self.load_to.is_none(), "a change after the end");
                assert!(at > now - zero, "a change of the past");
                self.changes.push((at, change));
            }
            AgentAction::Drain => {
                assert!(self.zero.is_some() && !self.stopped, "nothing to drain");
                self.end_load(now);
                if self.kind != Kind::Deaf {
                    self.end_at = Some(now.after(DRAINING));
                }
            }
            AgentAction::Stop => {
                assert!(!self.stopped, "stopped twice");
                self.stopped = true;
                self.end_load(now);
                self.end_at = Some(now.after(STOPPING));
            }
        }
    }

    /// When something happens here next.
    pub(crate) fn next(&self) -> Option<Nanos> {
        if self.gone.is_some() {
            return None;
        }
        let ready = self.ready_at.filter(|_| !self.prepared);
        let begin = self
            .zero
            .filter(|_| self.load_from.is_none() && self.load_to.is_none())
            .map(|zero| zero - self.lead_in);
        let loading = self.load_from.is_some() && self.load_to.is_none();
        let over = self.zero.filter(|_| loading).map(|zero| zero.after(self.plan));
        [ready, begin, over, self.next_seal(), self.end_at].into_iter().flatten().min()
    }

    /// Reports to the agent what has happened up to `now`.
    pub(crate) fn advance(&mut self, agent: &mut Agent, now: Nanos) {
        if self.gone.is_some() {
            return;
        }
        if !self.prepared && self.ready_at.is_some_and(|at| now >= at) {
            self.prepared = self.kind != Kind::Unready;
            if self.prepared {
                agent.handle_prepared(Ok(()), now);
            } else {
                self.ready_at = None;
                agent.handle_prepared(Err("too few files".to_owned()), now);
            }
        }
        if let Some(zero) = self.zero {
            if self.load_from.is_none() && self.load_to.is_none() && now >= zero - self.lead_in {
                self.load_from = Some(now);
            }
            while self.next_seal().is_some_and(|at| now >= at) {
                self.seal(agent, now);
            }
            if self.load_from.is_some() && self.load_to.is_none() && now >= zero.after(self.plan) {
                self.end_load(now);
                self.end_at = Some(now.after(DRAINING));
                agent.handle_draining(now);
            }
        }
        if self.end_at.is_some_and(|at| now >= at) {
            if self.load_from.is_some() {
                self.seal(agent, now);
            }
            self.gone = Some(now);
            agent.handle_finished(now);
        }
    }

    /// The process dies.
    pub(crate) fn die(&mut self, now: Nanos) {
        self.end_load(now);
        self.gone.get_or_insert(now);
    }

    fn end_load(&mut self, now: Nanos) {
        if self.load_from.is_some() {
            self.load_to.get_or_insert(now);
        } else {
            // The end was requested before the load started, so it never starts.
            self.load_to = Some(now);
        }
    }

    fn next_seal(&self) -> Option<Nanos> {
        let zero = self.zero.filter(|_| self.load_from.is_some())?;
        Some(zero.after(Nanos::from_secs(self.sealed as i64 + 1)))
    }

    fn seal(&mut self, agent: &mut Agent, now: Nanos) {
        agent.handle_sealed(self.sealed, now);
        self.sealed += 1;
    }
}
