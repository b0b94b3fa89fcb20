//! [`Worker`]: one load thread. Each turn: what is due, what is ready, then sleep.

mod between;
mod coming;
mod holding;
mod journeys;
mod meeting;
mod sealing;
mod seating;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError};

use wavetank_driver::{Clock, Driver, Errno, Event};
use wavetank_pace::Share;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_plan::{Nanos, Plan};

use crate::exchange::Exchanges;
use crate::gathering::Gathering;
use crate::logs::Logs;
use crate::messages::{Change, Command, Message};
use crate::offered::{Offered, Owner};
use crate::opening::Opening;
use crate::outbox::Outbox;
use crate::pacer::{Due, Pacer};
use crate::recorder::Recorder;
use crate::resolved::Resolved;
use crate::sessions::Sessions;
use crate::sleeper::Sleeper;
use crate::users::Users;
use holding::Holding;
use seating::Seating;

/// Events that may be stamped with one reading of the clock where they all were there when the wait ended:
/// what is sent in answer to them is stamped so, too (see ARCHITECTURE.md, Time).
const EVENTS_PER_STAMP: usize = 8;

/// What one load thread is made from.
pub(crate) struct Parts<D> {
    pub(crate) exchanges: Exchanges<D>,
    pub(crate) clock: Clock,
    /// When the run was prepared: the begin of every thread's first interval.
    pub(crate) prepared: Nanos,
    pub(crate) plan: Arc<Plan>,
    pub(crate) thread: u16,
    pub(crate) share: Share,
    pub(crate) users: Users,
    pub(crate) sessions: Sessions,
    pub(crate) gathering: Gathering,
    pub(crate) sleeper: Sleeper,
    pub(crate) commands: Receiver<Command>,
    pub(crate) messages: SyncSender<Message>,
}

/// How far a load thread has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Connections are being opened ahead of the load.
    Opening,
    /// The start is awaited.
    Ready,
    /// The plan is carried out.
    Running,
    /// Nothing follows and nothing is under way.
    Drained,
}

/// See the module's description.
pub(crate) struct Worker<D> {
    exchanges: Exchanges<D>,
    users: Users,
    sessions: Sessions,
    pacer: Pacer,
    holding: Holding,
    gathering: Gathering,
    logs: Logs,
    /// A journey of this thread wants the run to end.
    end_is_wanted: bool,
    seating: Seating,
    opening: Opening,
    rec: Recorder,
    sleeper: Sleeper,
    /// The process's clock; the run's begins when the start is agreed.
    clock: Clock,
    plan: Arc<Plan>,
    thread: u16,
    share: Share,
    commands: Receiver<Command>,
    outbox: Outbox,
    seal_at: Nanos,
    /// Users to be at an instant, from a change command.
    users_from: Option<(Nanos, u64)>,
    stage: Stage,
    finish_at: Option<Nanos>,
}

impl<D: Driver> Worker<D> {
    /// Prepare: connections that are to be open before the load are opened from now on.
    pub(crate) fn new(parts: Parts<D>) -> Self {
        let Parts { exchanges, clock, prepared, plan, thread, share, users, sessions, gathering, .. } = parts;
        let (commands, messages, sleeper) = (parts.commands, parts.messages, parts.sleeper);
        Self {
            opening: Opening::new(&plan, share, prepared),
            rec: Recorder::new(&plan, thread, prepared),
            seal_at: Nanos::MAX,
            pacer: Pacer::idle(),
            holding: Holding::new(&plan, share),
            gathering,
            logs: Logs::new(&plan),
            end_is_wanted: false,
            seating: Seating::default(),
            stage: Stage::Opening,
            users,
            sessions,
            sleeper,
            outbox: Outbox::new(messages),
            users_from: None,
            finish_at: None,
            exchanges,
            clock,
            plan,
            thread,
            share,
            commands,
        }
    }

    /// Run to the end.
    pub(crate) fn run(mut self) -> Result<(), Errno> {
        let mut began = self.clock.now();
        while self.finish_at.is_none_or(|at| began < at) {
            // The clock is read where something took time, and once around each sleep.
            let mut before = began;
            if self.due(began) {
                before = self.clock.now();
                self.rec.turn(before.since(began));
            }
            let until = self.next_wake(before);
            let ready = self.exchanges.wait(before, until, &mut self.rec)?;
            let after = self.clock.now();
            began = self.work_began(before, until, after, ready);
            if ready {
                let now = self.events(after);
                self.rec.turn(now.since(began));
                began = now;
            } else {
                self.sleeper.woke(after);
            }
        }
        self.end();
        Ok(())
    }

    /// When the work began that goes on at `after`, the end of a wait since `before` that was to last until `until`:
    /// sleeping is none, but standing still is told.
    #[inline]
    fn work_began(&mut self, before: Nanos, until: Nanos, after: Nanos, ready: bool) -> Nanos {
        let worked = self.exchanges.connections.driver.worked_until().unwrap_or(before);
        if ready && !Sleeper::slept(worked, after) {
            return before;
        }
        if worked > before {
            self.rec.turn(worked.since(before));
        }
        if let Some(ns) = Sleeper::stood_still(worked, until, after) {
            self.rec.stood_still(ns);
        }
        after
    }

    /// When to wake at the latest.
    fn next_wake(&mut self, now: Nanos) -> Nanos {
        let nap = now.after(Sleeper::NAP).min(self.seal_at).min(self.finish_at.unwrap_or(Nanos::MAX));
        let connections = &self.exchanges.connections;
        let held = self.holding.has_work(connections.may_open_ahead());
        if !self.pacer.ready.is_empty() || connections.is_opening_more() || held {
            return now;
        }
        let timer = self.exchanges.connections.next_timer();
        // What must wait for others is woken by them.
        let opening = self.opening.next().filter(|_| self.exchanges.connections.may_open_ahead());
        let pause = self.exchanges.next_pause_end();
        let reopening = self.holding.next();
        let coarse = [timer, opening, pause, reopening].into_iter().flatten().fold(nap, Nanos::min);
        let arrival = self.pacer.next_arrival();
        let exact = if self.sessions.is_any() { self.earlier_pause_end(arrival) } else { arrival };
        self.sleeper.until(now, exact, coarse)
    }

    /// Everything that falls due by the clock. Whether there was anything.
    fn due(&mut self, now: Nanos) -> bool {
        let mut worked = self.seal_until(now);
        if self.stage == Stage::Opening || self.opening.next().is_some_and(|at| at <= now) {
            worked |= self.open_ahead(now);
        }
        if let Some((from, users)) = self.users_from.filter(|&(from, _)| from <= now) {
            self.users_from = None;
            let at = self.pacer.on_run_clock(from);
            if let Some(track) = self.users.closed_track_at(at) {
                self.users.want(track, self.users.mine(track, users));
                self.start_users(track, from);
            }
        }
        worked |= self.exchanges.connections.expire(now, &mut self.rec);
        for _ in 0..WORK_PER_TURN_MAX {
            let Some(due) = self.pacer.pop_arrival(Nanos(now.0 + 1)) else { break };
            worked = true;
            self.offer(due);
        }
        if self.sessions.is_any() {
            worked |= self.go_on_after_pauses(now);
        }
        for _ in 0..WORK_PER_TURN_MAX {
            let Some(offered) = self.pacer.ready.pop_front() else { break };
            worked = true;
            let now = self.clock.now();
            self.begin(offered, now);
        }
        while let Some(resolved) = self.exchanges.take_paused(now) {
            worked = true;
            self.resolved(resolved);
        }
        worked |= self.exchanges.connections.go_on_opening(&mut self.rec);
        if self.users.any_holds() || self.holding.has_work(false) {
            worked |= self.see_to_held(now);
        }
        self.settle();
        self.check_drained(now);
        self.outbox.flush();
        worked
    }

    /// The next connection ahead of the load; when all are open or failed, tell.
    fn open_ahead(&mut self, now: Nanos) -> bool {
        if !self.exchanges.connections.may_open_ahead() {
            return false;
        }
        if let Some((seat, phase)) = self.opening.pop(now) {
            self.open_this_ahead(seat, phase);
            return true;
        }
        let opened = self.opening.next().is_none() && !self.exchanges.connections.is_opening();
        if self.stage == Stage::Opening && opened {
            self.stage = Stage::Ready;
            self.outbox.send(Message::Ready(self.thread, self.rec.connected_now()));
        }
        false
    }

    /// The run's clock begins at `zero`. Until the first phase there is one interval, alike on all threads.
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
                if self.exchanges.offer(offered, &mut self.rec) {
                    self.pacer.ready.push_back(offered);
                }
            }
            Due::Arrival(offered, number) => self.session_arrives(offered, number),
            Due::Join { track, at } => {
                self.start_users(track, at);
                self.others_wanted(track, at);
            }
            Due::Wanted { track, at, users } => self.want_users(track, at, users),
            Due::Over { track } => {
                let holders = self.users.end_track(track);
                self.dismiss(holders);
            }
        }
    }

    #[inline]
    fn begin(&mut self, offered: Offered, now: Nanos) {
        let seat = match offered.owner {
            Owner::User(user) => Some(self.users.seat(user)),
            Owner::Arrival if self.exchanges.connections.is_own(offered.key.scenario) => {
                return self.begin_of_guest(offered, now);
            }
            Owner::Arrival | Owner::Guest(_) => None,
            Owner::Session(session) => return self.begin_of_session(session, offered, now),
        };
        if let Some(resolved) = self.exchanges.begin(offered, seat, now, &mut self.rec) {
            self.resolved(resolved);
        }
    }

    /// A user whose request ended goes on; if it was done, at once, else in the next turn, so that a
    /// target that refuses everything cannot hold the loop.
    #[expect(clippy::inline_always, reason = "one caller that is not cold; a call costs more than its work")]
    #[inline(always)]
    fn take_in(&mut self, resolved: Resolved) {
        let user = match resolved.owner {
            Owner::User(user) => user,
            Owner::Session(session) => return self.resolved_of_session(session, resolved),
            Owner::Guest(seat) => return self.see_off(seat, resolved.at),
            Owner::Arrival => return,
        };
        if self.users.any_holds() && self.must_wait(user) {
            return;
        }
        let alone = self.pacer.ready.is_empty();
        if let Some(offered) = self.iterate(user, resolved.at)
            && resolved.done
            && alone
        {
            self.pacer.ready.pop_back();
            let now = self.exchanges.connections.fresh(resolved.at);
            self.begin(offered, now);
        }
    }

    /// Take in all that connections have told.
    #[inline]
    fn settle(&mut self) {
        if self.sessions.is_any() {
            self.settle_sessions();
        } else {
            while let Some(resolved) = self.exchanges.poll(&mut self.rec) {
                self.take_in(resolved);
            }
        }
        if !self.exchanges.connections.held.is_empty() {
            self.heard_of_held();
        }
    }

    /// Take in what is ready, at most a turn's work. Returns when that was done.
    fn events(&mut self, began: Nanos) -> Nanos {
        let mut at = began;
        for number in 1..=WORK_PER_TURN_MAX {
            let Some(event) = self.exchanges.connections.next_event() else { break };
            if event == Event::Woken {
                self.take_commands();
                continue;
            }
            if !D::TOLD_BY_WAIT || number % EVENTS_PER_STAMP == 0 {
                at = self.clock.now();
            }
            if at >= self.seal_at {
                self.seal_until(at);
            }
            self.exchanges.connections.handle(event, at, &mut self.rec);
            self.settle();
        }
        // After a send the clock was read; anything else took time that is not known yet.
        let sent = self.exchanges.connections.fresh(at);
        if sent > at { sent } else { self.clock.now() }
    }

    /// Whoever sends a command wakes the driver as well.
    fn take_commands(&mut self) {
        loop {
            match self.commands.try_recv() {
                Ok(Command::Start(zero)) => self.start(zero),
                Ok(Command::Change(at, Change::Rate(rate))) => self.pacer.change_rate(at, rate),
                Ok(Command::Change(at, Change::Users(users))) => {
                    self.users_from = Some((self.pacer.on_thread_clock(at), users));
                }
                Ok(Command::Drain(at)) => self.pacer.end_at(self.pacer.on_thread_clock(at)),
                Ok(Command::Lead(ways)) => self.exchanges.connections.lead(&ways),
                Ok(Command::Finish(at)) => self.finish_at = Some(self.pacer.on_thread_clock(at)),
                Err(TryRecvError::Disconnected) => return self.finish_at = Some(self.clock.now()),
                Err(TryRecvError::Empty) => return,
            }
        }
    }

    /// Seal what is left and say goodbye.
    fn end(mut self) {
        // A second may have been sealed while the command was on its way.
        let now = self.finish_at.unwrap_or_else(|| self.clock.now()).max(self.rec.began());
        self.seal_until(now);
        while let Some(due) = self.pacer.pop_arrival(now) {
            self.offer(due);
        }
        for offered in self.pacer.ready.drain(..) {
            self.rec.cut(offered.key, now.since(offered.intended));
        }
        let sessions = &mut self.sessions;
        self.exchanges.cut(now, &mut self.rec, |rec, place, sent| {
            if let Some((phase, place, number)) = sessions.at(place).and_then(|id| sessions.take_left(id)) {
                rec.met_sent(phase, place, number, sent);
            }
        });
        let sealed = self.sealed(now, None);
        self.outbox.close([sealed, Message::Finished(self.thread)]);
    }
}
