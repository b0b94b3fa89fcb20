//! [`Controller`]: owns a run.

mod ending;
mod gathering;
mod load;
mod peer_timers;
mod rendezvous;
mod restart;
mod starting;
mod view;

use std::collections::{BTreeMap, VecDeque};

use wavetank_units::Nanos;

pub use restart::ArchivedIntervals;
pub use view::AgentView;

use crate::action::{ControllerAction, ControllerNotice};
use crate::constants::{BEAT, CHANGE_AHEAD_MIN, STOP_MAX};
use crate::interval_seals::IntervalSeals;
use crate::journal::JournalRecord;
use crate::message::{
    AgentId, AgentMessage, AgentPayload, AgentState, Change, Command, ControllerMessage, ControllerPayload,
    RefusalReason,
};
use crate::outcome::{Loss, Outcome, StartProblem, StartRefusal};
use crate::peer::{Peer, ReportEffect};
use crate::run_setup::RunSetup;
use peer_timers::PeerTimers;

/// Why a change was not ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeRefused {
    /// Its instant is less than a second ahead.
    TooLate,
    /// The run is not committed yet, or ends already.
    NotRunning,
    /// Too many commands wait for an answer.
    Busy,
}

/// The controller's side of a run. It only makes decisions; its host acts.
///
/// Inputs: [`Controller::handle_message`], [`Controller::handle_timeout`],
/// [`Controller::handle_archived`] or its failure, and the user's [`Controller::change`],
/// [`Controller::drain`], [`Controller::stop`]. After any of them, call [`Controller::poll`] until
/// it returns `None`. The run starts with construction and ends with [`ControllerNotice::Over`],
/// whatever agents and links do. The controller does not wait for a silent agent longer than that
/// agent can send load. It gives up an agent that does not end after its hard end or a stop.
///
/// Nothing starts before every agent is prepared. If an agent refuses or is lost before that, all
/// are stopped. If one is lost under load, the others continue, unless the setup says otherwise.
///
/// A controller that is started again after a crash continues the run from its journal, see
/// [`Controller::resume`].
#[derive(Clone, Debug)]
pub struct Controller {
    setup: RunSetup,
    peers: Vec<Peer>,
    /// The place of each agent among them, unless that has changed since.
    indexes: BTreeMap<AgentId, usize>,
    state: ControllerState,
    /// Zero of the run's clock, and the instant before which nothing is sent.
    committed: Option<(Nanos, Nanos)>,
    /// How far two agents may start apart.
    uncertainty: Nanos,
    beat_at: Nanos,
    /// When clocks are measured again.
    clocks_at: Nanos,
    /// Time limit of the current state.
    deadline: Option<Nanos>,
    seals: IntervalSeals,
    /// An agent that was expected to deliver the next interval when it was looked for last.
    awaited: usize,
    /// An agent that had not ended when that was looked for last.
    unended: usize,
    timers: PeerTimers,
    refusals: Vec<StartRefusal>,
    losses: Vec<Loss>,
    rebalanced: Vec<u16>,
    /// Changes and new shares, in order.
    adjustments: Vec<JournalRecord>,
    aborted: bool,
    /// Whether it continues a former controller's run.
    is_successor: bool,
    /// The early end that was ordered: drain (true) or stop.
    ending: Option<bool>,
    /// Known once the last interval that can be waited for has arrived.
    outcome: Option<Outcome>,
    actions: VecDeque<ControllerAction>,
}

/// The course of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ControllerState {
    /// Agents report.
    Gathering,
    /// Agents get ready.
    Preparing,
    /// All are ready; their clocks are measured.
    Aligning,
    Committed,
    Draining,
    Stopping,
    /// The host completes the archive.
    Archiving,
    /// Agents delete their spools.
    Settling,
    Over,
}

impl Controller {
    /// Starts a run: agents may report.
    ///
    /// # Panics
    /// If no agent takes part, or run or epoch is 0.
    pub fn new(setup: RunSetup, now: Nanos) -> Self {
        assert!(
            setup.required() > 0 && setup.epoch > 0 && setup.run.0 > 0,
            "a run has an agent and an epoch"
        );
        let deadline = Some(now.after(setup.gather_max));
        let mut controller = Self {
            peers: Vec::new(),
            indexes: BTreeMap::new(),
            setup,
            state: ControllerState::Gathering,
            committed: None,
            uncertainty: Nanos::ZERO,
            beat_at: now.after(BEAT),
            clocks_at: now,
            deadline,
            seals: IntervalSeals::default(),
            awaited: 0,
            unended: 0,
            timers: PeerTimers::default(),
            refusals: Vec::new(),
            losses: Vec::new(),
            rebalanced: Vec::new(),
            adjustments: Vec::new(),
            aborted: false,
            is_successor: false,
            ending: None,
            outcome: None,
            actions: VecDeque::new(),
        };
        controller.journal_owned();
        controller
    }

    /// Zero of the run's clock, once the run is committed.
    pub fn started_at(&self) -> Option<Nanos> {
        self.committed.map(|(start_at, _)| start_at)
    }

    /// The next thing to do, until `None`.
    pub fn poll(&mut self) -> Option<ControllerAction> {
        self.actions.pop_front()
    }

    /// When to call [`Controller::handle_timeout`] if nothing else happens; `None` when the run is
    /// over.
    pub fn poll_timeout(&self) -> Option<Nanos> {
        let seal = self.seals.due().filter(|_| self.is_under_load());
        let all = [Some(self.beat_at), self.deadline, self.timers.first(), seal];
        all.into_iter().flatten().min().filter(|_| self.state != ControllerState::Over)
    }

    /// Changes the load of phase number `phase` from `at` on (on the run's clock, at least
    /// [`CHANGE_AHEAD_MIN`] ahead).
    pub fn change(&mut self, at: Nanos, phase: u16, change: Change, now: Nanos) -> Result<(), ChangeRefused> {
        let start_at = self.started_at().filter(|_| self.state == ControllerState::Committed);
        let start_at = start_at.ok_or(ChangeRefused::NotRunning)?;
        if self.peers.iter().all(|peer| peer.state() >= AgentState::Draining) {
            return Err(ChangeRefused::NotRunning);
        }
        if at < (now - start_at).after(CHANGE_AHEAD_MIN) {
            return Err(ChangeRefused::TooLate);
        }
        if !self.peers.iter().all(|peer| peer.can_queue_command() || peer.lost) {
            return Err(ChangeRefused::Busy);
        }
        self.journal_adjustment(JournalRecord::Changed { at, phase, change });
        for index in 0..self.peers.len() {
            if !self.peers[index].can_queue_command() {
                // The agent has been away for too long, and its load is out of step with the run.
                self.peers[index].refused.push(RefusalReason::TooLate);
            } else if !self.peers[index].is_settled() && self.peers[index].resumed {
                // Otherwise it follows what the former controller had ordered.
                self.command(index, Command::Change { at, phase, change }, now);
            }
        }
        Ok(())
    }

    /// Ends the run early: no new work starts, and open work continues for at most `at_most`.
    pub fn drain(&mut self, at_most: Nanos, now: Nanos) {
        match self.state {
            ControllerState::Gathering | ControllerState::Preparing | ControllerState::Aligning => {
                self.stop(now);
            }
            ControllerState::Committed => {
                self.state = ControllerState::Draining;
                let end = now.after(at_most);
                self.deadline = Some(self.deadline.map_or(end, |deadline| deadline.min(end)));
                self.end_early(true, now);
            }
            _ => {}
        }
    }

    /// Ends the run immediately.
    pub fn stop(&mut self, now: Nanos) {
        match self.state {
            ControllerState::Gathering => self.finish(),
            ControllerState::Preparing
            | ControllerState::Aligning
            | ControllerState::Committed
            | ControllerState::Draining => {
                self.state = ControllerState::Stopping;
                self.deadline = Some(now.after(STOP_MAX));
                self.end_early(false, now);
            }
            _ => {}
        }
    }

    /// A message from an agent.
    pub fn handle_message(&mut self, from: AgentId, message: AgentMessage, now: Nanos) {
        if self.state == ControllerState::Over {
            return;
        }
        let AgentMessage { run, epoch, report } = message;
        if let AgentPayload::Hello(hello) = report {
            self.on_hello(from, run, &hello, now);
            if let Some(index) = self.index_of(from) {
                self.indexes.insert(from, index);
                self.timers.add(&self.peers[index]);
            }
            return self.advance(now);
        }
        if (run, epoch) != (self.setup.run, self.setup.epoch) {
            return;
        }
        let Some(index) = self.index_of(from) else { return };
        self.on_heard(index, now);
        // A report that arrives while or after the archive is completed is fetched again later.
        let is_late = self.outcome.is_some();
        match report {
            AgentPayload::Waiting { points } => self.on_waiting(index, points, now),
            AgentPayload::Clock { id, at } => self.peers[index].clock.handle_reply(id, at, now),
            AgentPayload::Sealed { .. } | AgentPayload::Unstored { .. } | AgentPayload::Done(_)
                if is_late => {}
            report => self.on_report(index, report, now),
        }
        self.timers.add(&self.peers[index]);
        self.advance(now);
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Nanos) {
        if self.state == ControllerState::Over {
            return;
        }
        for index in 0..self.peers.len() {
            if self.peers[index].resend_at().is_some_and(|at| now >= at) {
                for order in self.peers[index].resend_unanswered(now) {
                    self.send(index, order);
                }
            }
            if let Some(id) = self.peers[index].clock.poll_probe(now) {
                self.send(index, ControllerPayload::Probe { id });
            }
        }
        self.timers.set(&self.peers);
        if now >= self.clocks_at {
            self.measure_clocks(now);
        }
        if now >= self.beat_at {
            self.beat(now);
        }
        if self.deadline.is_some_and(|at| now >= at) {
            self.on_deadline(now);
        }
        self.advance(now);
    }

    fn on_report(&mut self, index: usize, report: AgentPayload, now: Nanos) {
        let was_settled = self.peers[index].is_settled();
        match self.peers[index].handle_report(report) {
            ReportEffect::Nothing => {}
            ReportEffect::Sealed(intervals) => self.on_intervals(index, &intervals, now),
            ReportEffect::Refused(command, reason) => self.on_refused(index, &command, reason, now),
            ReportEffect::Resumed(state, received) => self.on_resumed(index, state, received, now),
            ReportEffect::Kept => {
                if let Some(agent) = self.peers[index].id {
                    self.notify(ControllerNotice::DigestDiffers(agent));
                }
            }
        }
        let peer = &self.peers[index];
        if let Some(done) = peer.done().filter(|_| peer.is_settled()) {
            let needs_archive = self.setup.spools && self.committed.is_some();
            if !was_settled && needs_archive {
                let (name, done) = (peer.name.clone(), done.clone());
                self.journal(JournalRecord::Ended { name, done });
            }
            if !needs_archive && !self.peers[index].cleared {
                self.send(index, ControllerPayload::Settled { digest: String::new() });
            }
        }
    }

    fn on_refused(&mut self, index: usize, command: &Command, reason: RefusalReason, now: Nanos) {
        if let Some(agent) = self.peers[index].id {
            self.notify(ControllerNotice::Refused { agent, reason: reason.clone() });
        }
        if !matches!(command, Command::Offer { .. } | Command::Commit { .. }) {
            return;
        }
        // Before the load every agent is required; later the others continue.
        if self.committed.is_some_and(|(_, load_from)| now >= load_from) {
            if self.state != ControllerState::Stopping {
                self.command(index, Command::Stop, now);
            }
        } else {
            self.refuse(index, StartProblem::Refused(reason), now);
        }
    }

    /// Takes the next step as soon as its condition holds.
    fn advance(&mut self, now: Nanos) {
        match self.state {
            ControllerState::Gathering => self.offer_if_gathered(now),
            ControllerState::Preparing | ControllerState::Aligning => {
                self.commit_if_ready(now);
                self.collect_if_ended(now);
            }
            ControllerState::Committed | ControllerState::Draining | ControllerState::Stopping => {
                self.seal_intervals(now);
                self.collect_if_ended(now);
            }
            ControllerState::Settling => self.finish_if_cleared(),
            ControllerState::Archiving | ControllerState::Over => {}
        }
    }

    const fn is_under_load(&self) -> bool {
        matches!(
            self.state,
            ControllerState::Committed | ControllerState::Draining | ControllerState::Stopping
        )
    }

    fn command_all(&mut self, command: &Command, now: Nanos) {
        for index in 0..self.peers.len() {
            if !self.peers[index].is_settled() {
                self.command(index, command.clone(), now);
            }
        }
    }

    fn command(&mut self, index: usize, command: Command, now: Nanos) {
        let order = self.peers[index].command(command, now);
        self.timers.add(&self.peers[index]);
        self.send(index, order);
    }

    fn send(&mut self, index: usize, order: ControllerPayload) {
        if let Some(to) = self.peers[index].id {
            self.send_to(to, order);
        }
    }

    fn send_to(&mut self, to: AgentId, order: ControllerPayload) {
        let message = ControllerMessage { run: self.setup.run, epoch: self.setup.epoch, order };
        self.actions.push_back(ControllerAction::Send { to, message });
    }

    fn journal(&mut self, record: JournalRecord) {
        self.actions.push_back(ControllerAction::Journal(record));
    }

    fn journal_adjustment(&mut self, record: JournalRecord) {
        self.adjustments.push(record.clone());
        self.journal(record);
    }

    fn journal_owned(&mut self) {
        let (run, epoch, plan_hash) = (self.setup.run, self.setup.epoch, self.setup.plan_hash.clone());
        self.journal(JournalRecord::Owned { run, epoch, plan_hash });
    }

    fn notify(&mut self, notice: ControllerNotice) {
        self.actions.push_back(ControllerAction::Notify(notice));
    }
}
