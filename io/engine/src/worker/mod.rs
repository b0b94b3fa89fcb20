//! [`Worker`]: one load thread. Each turn handles due timers and ready events, then sleeps.

mod assigned_slots;
mod commands;
mod hold_manager;
mod holding;
mod journeys;
mod own_work;
mod rendezvous;
mod sealing;
mod session_gaps;
mod slot_assignment;
mod user_lifecycle;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use wavetank_driver::{Driver, Errno, Event};
use wavetank_pace::Partition;
use wavetank_plan::Plan;
use wavetank_plan::constants::{LATE_TOLERANCE, WORK_PER_TURN_MAX};
use wavetank_units::Nanos;

use crate::completed::CompletedRequest;
use crate::exchange::Exchanges;
use crate::logs::Logs;
use crate::messages::{Command, Message};
use crate::offered::{OfferedRequest, Owner};
use crate::outbox::Outbox;
use crate::pacer::{Due, Pacer};
use crate::preconnect::Preconnect;
use crate::recorder::Recorder;
use crate::rendezvous_waiters::RendezvousWaiters;
use crate::sessions::Sessions;
use crate::sleeper::HybridSleep;
use crate::users::Users;
use assigned_slots::SlotAssignments;
use hold_manager::HoldManager;
use own_work::OwnWork;

/// The maximum number of events that share one clock reading, if all of them were there when the
/// wait ended. Messages sent in response to them have the same time stamp (see ARCHITECTURE.md,
/// Time).
const EVENTS_PER_STAMP: usize = 8;

/// After a longer time without a look at its sockets, a thread asks the kernel when data came.
const UNSEEN_MIN: u64 = LATE_TOLERANCE.0.unsigned_abs();

/// The parts of one load thread.
pub(crate) struct WorkerParts<D> {
    pub(crate) exchanges: Exchanges<D>,
    /// When the run was prepared: the start of every thread's first interval.
    pub(crate) prepared: Nanos,
    pub(crate) plan: Arc<Plan>,
    pub(crate) thread: u16,
    pub(crate) share: Partition,
    pub(crate) users: Users,
    pub(crate) sessions: Sessions,
    pub(crate) gathering: RendezvousWaiters,
    pub(crate) sleeper: HybridSleep,
    pub(crate) commands: Receiver<Command>,
    pub(crate) messages: SyncSender<Message>,
}

/// The state of a load thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Connections are being opened ahead of the load.
    Opening,
    /// The thread waits for the start.
    Ready,
    /// The plan is being executed.
    Running,
    /// No requests will follow, and none is in flight.
    Drained,
}

/// One load thread; see the module documentation.
pub(crate) struct Worker<D> {
    exchanges: Exchanges<D>,
    users: Users,
    sessions: Sessions,
    pacer: Pacer,
    holding: HoldManager,
    gathering: RendezvousWaiters,
    logs: Logs,
    /// A journey of this thread requests the end of the run.
    end_is_wanted: bool,
    slots: SlotAssignments,
    opening: Preconnect,
    own_work: OwnWork,
    /// When the thread last looked at its sockets.
    looked_at: Nanos,
    rec: Recorder,
    sleeper: HybridSleep,
    plan: Arc<Plan>,
    thread: u16,
    share: Partition,
    /// When a larger share starts, and how many more connections it allows.
    connections_due: Option<(Nanos, u32)>,
    commands: Receiver<Command>,
    outbox: Outbox,
    seal_at: Nanos,
    stage: Stage,
    finish_at: Option<Nanos>,
}

impl<D: Driver> Worker<D> {
    /// Prepares the thread. Connections needed before the load are opened from now on.
    pub(crate) fn new(parts: WorkerParts<D>) -> Self {
        let WorkerParts { exchanges, prepared, plan, thread, share, users, sessions, gathering, .. } = parts;
        let (commands, messages, sleeper) = (parts.commands, parts.messages, parts.sleeper);
        Self {
            opening: Preconnect::new(&plan, share, prepared),
            own_work: OwnWork::default(),
            looked_at: prepared,
            rec: Recorder::new(&plan, thread, prepared),
            seal_at: Nanos::MAX,
            pacer: Pacer::idle(),
            holding: HoldManager::new(&plan, share),
            gathering,
            logs: Logs::new(&plan),
            end_is_wanted: false,
            slots: SlotAssignments::default(),
            stage: Stage::Opening,
            users,
            sessions,
            sleeper,
            outbox: Outbox::new(messages),
            finish_at: None,
            exchanges,
            plan,
            thread,
            share,
            connections_due: None,
            commands,
        }
    }

    /// Returns the present instant. The run's clock starts when the start is agreed.
    #[inline]
    fn now(&self) -> Nanos {
        self.exchanges.connections.driver.now()
    }

    /// Runs the thread to its end.
    pub(crate) fn run(mut self) -> Result<(), Errno> {
        let mut began = self.now();
        self.looked_at = began;
        while self.finish_at.is_none_or(|at| began < at) {
            // The clock is read after operations that take time, and once around each sleep.
            let mut before = began;
            if self.due(began) {
                before = self.now();
                self.rec.turn(before.since(began));
            }
            let until = self.next_wake(before);
            self.own_work = OwnWork::default();
            let ready = self.exchanges.wait(before, until, &mut self.rec)?;
            let after = self.now();
            // A thread that was at work, or did not run, has seen nothing since it last looked.
            let looked_at = std::mem::replace(&mut self.looked_at, after);
            let unseen_since = (after.since(looked_at) > UNSEEN_MIN).then_some(looked_at);
            began = self.work_began(before, until, after, ready);
            if ready {
                let now = self.events(after, unseen_since);
                self.rec.turn(now.since(began));
                began = now;
            } else {
                self.sleeper.woke(after);
            }
        }
        self.end();
        Ok(())
    }

    /// Returns when the work that continues at `after` began. The thread has waited since `before`
    /// and wanted to wait until `until`. Sleeping is not work, but a stall is recorded.
    #[inline]
    fn work_began(&mut self, before: Nanos, until: Nanos, after: Nanos, ready: bool) -> Nanos {
        let worked = self.exchanges.connections.driver.worked_until().unwrap_or(before);
        if ready && !HybridSleep::slept(worked, after) {
            return before;
        }
        if worked > before {
            self.rec.turn(worked.since(before));
        }
        if let Some(ns) = HybridSleep::stood_still(worked, until, after) {
            self.rec.stalled(ns);
        }
        after
    }

    /// Returns when to wake up at the latest.
    fn next_wake(&mut self, now: Nanos) -> Nanos {
        let nap = now.after(HybridSleep::NAP).min(self.seal_at).min(self.finish_at.unwrap_or(Nanos::MAX));
        let connections = &self.exchanges.connections;
        let held = self.holding.has_work(connections.can_preopen());
        let unsettled = self.sessions.has_multi_step() && !connections.outcomes.is_empty();
        if !self.pacer.ready.is_empty() || connections.is_opening_more() || held || unsettled {
            return now;
        }
        let timer = self.exchanges.connections.next_timer();
        // Openings that wait for others are woken by those.
        let opening = self.opening.next_deadline().filter(|_| self.exchanges.connections.can_preopen());
        let pause = self.exchanges.next_pause_end();
        let reopening = self.holding.next();
        let coarse = [timer, opening, pause, reopening].into_iter().flatten().fold(nap, Nanos::min);
        let arrival = self.pacer.next_due();
        let exact = if self.sessions.has_multi_step() { self.earlier_pause_end(arrival) } else { arrival };
        self.sleeper.sleep_deadline(now, exact, coarse)
    }

    /// Handles everything that is due by the clock. Returns whether there was anything.
    fn due(&mut self, now: Nanos) -> bool {
        let mut worked = self.seal_until(now);
        if self.stage == Stage::Opening || self.opening.next_deadline().is_some_and(|at| at <= now) {
            worked |= self.open_ahead(now);
        }
        // Timeouts are compared with the last look at the sockets: a response that came since then
        // is read first.
        worked |= self.exchanges.connections.expire(self.looked_at, &mut self.rec);
        for _ in 0..WORK_PER_TURN_MAX {
            let Some(due) = self.pacer.pop_due(Nanos(now.0 + 1)) else { break };
            worked = true;
            self.offer(due);
        }
        if self.sessions.has_multi_step() {
            worked |= self.resume_paused(now);
        }
        for _ in 0..WORK_PER_TURN_MAX {
            let Some(offered) = self.pacer.ready.pop_front() else { break };
            worked = true;
            let now = self.now();
            self.begin(offered, now);
        }
        while let Some(resolved) = self.exchanges.take_paused(now) {
            worked = true;
            self.resolved(resolved);
        }
        worked |= self.exchanges.connections.continue_opening(&mut self.rec);
        if self.users.has_holding_users() || self.holding.has_work(false) {
            worked |= self.service_holds(now);
        }
        self.drain_outcomes();
        self.check_drained(now);
        self.outbox.flush();
        worked
    }

    /// Opens the next connection ahead of the load. When all are open or failed, it reports that.
    fn open_ahead(&mut self, now: Nanos) -> bool {
        if !self.exchanges.connections.can_preopen() {
            return false;
        }
        if let Some((slot, phase)) = self.opening.pop(now) {
            self.preopen_slot(slot, phase);
            return true;
        }
        let opened = self.opening.next_deadline().is_none() && !self.exchanges.connections.is_opening();
        if self.stage == Stage::Opening && opened {
            self.stage = Stage::Ready;
            self.outbox.send(Message::Ready(self.thread, self.rec.connected_now()));
        }
        false
    }

    /// Starts the run's clock at `zero`. Until the first phase there is one interval, the same on
    /// all threads.
    fn start(&mut self, zero: Nanos) {
        self.pacer = Pacer::new(&self.plan, self.share, zero);
        self.opening.start(zero);
        self.exchanges.resolved_last = zero;
        self.seal_at = self.pacer.first_edge();
        self.stage = Stage::Running;
    }

    fn offer(&mut self, due: Due) {
        match due {
            Due::Arrival(offered, _) if self.sessions.is_plain(offered.key.scenario) => {
                if self.exchanges.admit(offered, &mut self.rec) {
                    self.pacer.ready.push_back(offered);
                }
            }
            Due::Arrival(offered, number) => self.session_arrives(offered, number),
            Due::PhaseStart { track, at } => {
                let phase = self.users.phase_at(track, self.pacer.to_run_time(at));
                self.exchanges.connections.start_phase(phase);
                self.start_users(track, at);
                self.on_phase_change(track, at);
            }
            Due::UserCount { track, at, users } => self.set_user_count(track, at, users),
            Due::TrackEnd { track } => {
                let holders = self.users.end_track(track);
                self.retire(holders);
            }
        }
    }

    #[inline]
    fn begin(&mut self, offered: OfferedRequest, now: Nanos) {
        let slot = match offered.owner {
            Owner::User(user) => Some(self.users.slot(user)),
            Owner::Arrival if self.exchanges.connections.has_dedicated_connection(offered.key.scenario) => {
                return self.begin_transient(offered, now);
            }
            Owner::Arrival | Owner::Transient(_) => None,
            Owner::Session(session) => return self.begin_session_request(session, offered, now),
        };
        if let Some(resolved) = self.exchanges.begin(offered, slot, now, &mut self.rec) {
            self.resolved(resolved);
        }
    }

    /// Continues with the user of a completed request. After a success it continues immediately,
    /// otherwise in the next turn. A target that refuses everything can then not block the loop.
    #[expect(clippy::inline_always, reason = "one caller that is not cold; a call costs more than its work")]
    #[inline(always)]
    fn on_completed(&mut self, resolved: CompletedRequest) {
        let user = match resolved.owner {
            Owner::User(user) => user,
            Owner::Session(session) => return self.on_session_response(session, resolved),
            Owner::Transient(slot) => return self.on_slot_left(slot, resolved.at),
            Owner::Arrival => return,
        };
        if self.users.has_holding_users() && self.is_blocked(user) {
            return;
        }
        let alone = self.pacer.ready.is_empty();
        if let Some(offered) = self.start_iteration(user, resolved.at)
            && resolved.done
            && alone
        {
            self.pacer.ready.pop_back();
            let now = self.exchanges.connections.fresh(resolved.at);
            self.begin(offered, now);
        }
    }

    /// Handles all events of connections.
    #[inline]
    fn drain_outcomes(&mut self) {
        if self.sessions.has_multi_step() {
            self.settle_sessions();
        } else {
            while let Some(resolved) = self.exchanges.poll(&mut self.rec) {
                self.on_completed(resolved);
            }
        }
        if !self.exchanges.connections.held.is_empty() {
            self.drain_hold_events();
        }
    }

    /// Handles ready events, at most one turn's work. Returns when that was done.
    ///
    /// `unseen_since`: the thread had not looked since then, which is long, and events may have
    /// happened long before it saw them.
    fn events(&mut self, began: Nanos, mut unseen_since: Option<Nanos>) -> Nanos {
        let mut at = began;
        for number in 1..=WORK_PER_TURN_MAX {
            let Some(event) = self.exchanges.connections.next_event() else { break };
            if event == Event::Woken {
                self.take_commands();
                continue;
            }
            if !D::REPORTED_BY_WAIT || number % EVENTS_PER_STAMP == 0 {
                at = self.now();
            }
            if at >= self.seal_at {
                self.seal_until(at);
            }
            let mut happened = at;
            if let Some(since) = unseen_since
                && let Some(instant) = self.exchanges.connections.happened(&event, at, since)
            {
                happened = instant;
                // Later events of the batch are younger.
                unseen_since = unseen_since.filter(|_| happened < at);
            }
            self.exchanges.connections.handle(event, happened, &mut self.rec);
            if !self.own_work.delays_stamps() {
                self.drain_outcomes();
            }
        }
        if self.own_work.delays_stamps() {
            self.drain_outcomes();
        }
        // After a send, the clock was read; other work took an unknown time.
        let sent = self.exchanges.connections.fresh(at);
        if sent > at { sent } else { self.now() }
    }
}
