//! Simulates the process around an agent, and its disk.

use wavetank_fleet::{Adjustments, Agent, AgentAction, Change, EndCause, FoundSpool, RunId};
use wavetank_pace::{Partition, Philox};
use wavetank_units::Nanos;

use crate::sim::scenario::Meetings;
use crate::sim::users::HostUsers;

/// The process around an agent: gets ready, sends load, seals intervals, ends. All instants are on
/// the agent's clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    pub(crate) kind: Kind,
    pub(crate) plan: Nanos,
    pub(crate) lead_in: Nanos,
    /// From this interval on, the disk is full.
    pub(crate) full_from: Option<u64>,
    /// The users who will wait for those of other hosts: how, and their number.
    pub(crate) meetings: Option<(Meetings, u32, Philox)>,
    /// Those users, once the run starts.
    pub(crate) users: Option<HostUsers>,
    ready_at: Option<Nanos>,
    plan_hash: String,
    /// Whether it answered that it is prepared.
    pub(crate) prepared: bool,
    /// Its share, and those it gets at later phases.
    pub(crate) shares: Vec<(u16, Partition)>,

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

/// The disk of an agent's host, which survives its process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    pub(crate) run: Option<(RunId, u64)>,
    /// Each stored interval.
    pub(crate) spool: Vec<(u64, u64)>,
    /// How many intervals were sealed, also without being stored.
    pub(crate) sealed: u64,
    /// The end of the spool, if it was written.
    pub(crate) end: Option<(EndCause, Adjustments)>,
    pub(crate) deleted: bool,
}

impl Disk {
    /// What a new process finds.
    pub(crate) fn find(&self) -> Option<FoundSpool> {
        let (run, epoch) = self.run.filter(|_| !self.deleted && self.sealed > 0)?;
        let is_stored = |seq: &u64| self.spool.iter().any(|(stored, _)| stored == seq);
        let unstored = (0..self.sealed).filter(|seq| !is_stored(seq)).collect();
        let (cause, adjustments) = self.end.unwrap_or((EndCause::Crashed, Adjustments::default()));
        let (intervals, digest) = (self.sealed, digest(&self.spool));
        Some(FoundSpool { run, epoch, intervals, unstored, digest, cause, adjustments })
    }

    pub(crate) fn content(&self, seq: u64) -> Option<u64> {
        self.spool.iter().find(|(stored, _)| *stored == seq).map(|(_, content)| *content)
    }
}

/// A digest of intervals: their numbers and content, in order.
pub(crate) fn digest(intervals: &[(u64, u64)]) -> String {
    let mix = |sum: u64, value: u64| (sum ^ value).wrapping_mul(0x0100_0000_01b3);
    let sum = intervals.iter().fold(0xcbf2_9ce4, |sum, (seq, content)| mix(mix(sum, *seq), *content));
    format!("{sum:x}")
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

/// What happens in a host besides reports to its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostStep {
    /// The next interval is sealed and goes to the disk.
    Seal,
    /// The last interval was sealed before.
    Finish,
}

const PREPARING: Nanos = Nanos::from_millis(300);
const DRAINING: Nanos = Nanos::from_millis(1_700);
const STOPPING: Nanos = Nanos::from_millis(40);

impl Host {
    pub(crate) fn new(kind: Kind, plan: Nanos, lead_in: Nanos, full_from: Option<u64>) -> Self {
        Self { kind, plan, lead_in, full_from, ..Self::default() }
    }

    /// Carry out what the agent decided.
    pub(crate) fn act(&mut self, action: &AgentAction, now: Nanos) {
        assert!(self.gone.is_none(), "{action:?} after the end");
        match action {
            AgentAction::Prepare { share, plan_hash } => {
                assert!(self.ready_at.is_none() && !self.stopped, "prepared twice");
                self.ready_at = Some(now.after(PREPARING));
                self.shares = vec![(0, *share)];
                self.plan_hash.clone_from(plan_hash);
            }
            AgentAction::StartAt(zero) => {
                assert!(self.prepared && self.zero.is_none() && !self.stopped, "started out of turn");
                assert!(now <= *zero - self.lead_in, "started too late");
                self.zero = Some(*zero);
                let users = self.meetings.clone();
                self.users = users.map(|(how, count, random)| HostUsers::new(how, count, *zero, random));
            }
            AgentAction::Change { at, change, .. } => {
                let zero = self.zero.expect("a change of a run that has begun");
                assert!(!self.stopped && self.load_to.is_none(), "a change after the end");
                assert!(*at > now - zero, "a change of the past");
                self.changes.push((*at, *change));
            }
            AgentAction::Rebalance { phase, share } => {
                assert!(self.zero.is_some() && !self.stopped, "a new share without load");
                self.shares.push((*phase, *share));
            }
            AgentAction::Release(release) => {
                let zero = self.zero.expect("a release of a run that has begun");
                let users = self.users.as_mut().expect("a release where users wait");
                users.release(*release, zero, now);
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
            AgentAction::Send(_) | AgentAction::Denied(_) | AgentAction::DeleteSpool => {
                unreachable!("the world does it")
            }
        }
    }

    /// When something happens here next.
    pub(crate) fn next(&self, now: Nanos) -> Option<Nanos> {
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
        let meets = self.users.as_ref().filter(|_| loading).and_then(|users| users.next(now));
        [ready, begin, over, self.next_seal(), self.end_at, meets].into_iter().flatten().min()
    }

    /// Reports to the agent what has happened up to `now`. Returns the next step of the disk, until
    /// there is none.
    pub(crate) fn advance(&mut self, agent: &mut Agent, now: Nanos) -> Option<HostStep> {
        if self.gone.is_some() {
            return None;
        }
        if !self.prepared && self.ready_at.is_some_and(|at| now >= at) {
            self.prepared = self.kind != Kind::Unready;
            if self.prepared {
                agent.handle_prepared(Ok(self.plan_hash.clone()), now);
            } else {
                self.ready_at = None;
                agent.handle_prepared(Err(vec!["too few files".to_owned()]), now);
            }
        }
        if let Some(zero) = self.zero {
            if self.load_from.is_none() && self.load_to.is_none() && now >= zero - self.lead_in {
                // The load threads wait for exactly this instant.
                self.load_from = Some(zero - self.lead_in);
                agent.handle_first_sent(zero - self.lead_in);
            }
            if self.next_seal().is_some_and(|at| now >= at) {
                return Some(HostStep::Seal);
            }
            if self.load_from.is_some() && self.load_to.is_none() && now >= zero.after(self.plan) {
                // The plan's last arrival, however late this process looks.
                self.load_to = Some(zero.after(self.plan));
                self.end_at = Some(now.after(DRAINING));
                agent.handle_draining(now);
            }
        }
        let loading = self.load_from.is_some() && self.load_to.is_none();
        if let Some(users) = self.users.as_mut().filter(|_| loading) {
            agent.handle_waiting(users.advance(now));
        }
        self.end_at.filter(|at| now >= *at).map(|_| HostStep::Finish)
    }

    /// The process dies.
    pub(crate) fn die(&mut self, now: Nanos) {
        self.end_load(now);
        self.gone.get_or_insert(now);
    }

    fn end_load(&mut self, now: Nanos) {
        // Without a start it never starts.
        self.load_to.get_or_insert(now);
    }

    fn next_seal(&self) -> Option<Nanos> {
        let zero = self.zero.filter(|_| self.load_from.is_some())?;
        Some(zero.after(Nanos::from_secs(self.sealed as i64 + 1)))
    }
}
