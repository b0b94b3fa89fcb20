//! The controller alone: what it refuses, and when it gives up.

use wavetank_fleet::constants::{BEAT, ORPHAN_DRAIN_MAX, ORPHAN_GRACE, PREPARE_MAX, STOP_MAX};
use wavetank_fleet::{
    Adjustments, AgentEnd, AgentId, AgentMessage, AgentPayload, AgentSetup, AgentState, Change,
    ChangeRefused, Command, Controller, ControllerAction, ControllerNotice, ControllerPayload, Done,
    EndCause, Hello, Loss, Members, Outcome, RunId, RunSetup,
};
use wavetank_pace::Partition;
use wavetank_units::{Nanos, Rate};

const USERS: Change = Change::Users(9);

/// A controller with agents that send exactly the messages of the test.
struct Desk {
    controller: Controller,
    now: Nanos,
    orders: Vec<(AgentId, ControllerPayload)>,
    notices: Vec<ControllerNotice>,
}

impl Desk {
    fn new(agents: u32) -> Self {
        let setup = RunSetup { members: Members::Count(agents), ..RunSetup::new(3, "1", "hash") };
        let controller = Controller::new(setup, Nanos::ZERO);
        let mut desk = Self { controller, now: Nanos::ZERO, orders: Vec::new(), notices: Vec::new() };
        for agent in 0..agents {
            desk.hello(agent, &format!("load{agent}"), "1");
        }
        desk
    }

    fn hello(&mut self, agent: u32, name: &str, version: &str) {
        let mut identity = AgentSetup::local(version).identity;
        (identity.name, identity.instance) = (name.to_owned(), u64::from(agent));
        let hello: Hello = identity.hello(AgentState::Idle);
        let message = AgentMessage { run: RunId::NONE, epoch: 0, report: AgentPayload::Hello(hello) };
        self.controller.handle_message(AgentId(agent), message, self.now);
        self.poll();
    }

    fn lost(&self, agent: u32) -> Option<&Loss> {
        let name = format!("load{agent}");
        self.notices.iter().find_map(|notice| match notice {
            ControllerNotice::Lost(loss) if loss.name == name => Some(loss),
            _ => None,
        })
    }

    /// Under load; its clock shows 5 s.
    fn running() -> Self {
        let mut desk = Self::new(1);
        desk.report(0, AgentPayload::Prepared { seq: 1 });
        desk.report(0, AgentPayload::Accepted { seq: 2 });
        let start = desk.controller.started_at().expect("all are prepared");
        desk.now = start.after(Nanos::from_secs(5));
        desk
    }

    fn poll(&mut self) {
        while let Some(action) = self.controller.poll() {
            match action {
                ControllerAction::Send { to, message } => {
                    assert_eq!(message.epoch, 3);
                    self.orders.push((to, message.order));
                }
                ControllerAction::Notify(notice) => self.notices.push(notice),
                ControllerAction::Journal(_) => {}
                ControllerAction::Archive(_) => unreachable!("there are no spools"),
            }
        }
    }

    fn report(&mut self, agent: u32, report: AgentPayload) {
        self.controller.handle_message(
            AgentId(agent),
            AgentMessage { run: RunId(1), epoch: 3, report },
            self.now,
        );
        self.poll();
    }

    fn outcome(&self) -> Option<&Outcome> {
        self.notices.iter().find_map(|notice| match notice {
            ControllerNotice::Over(outcome) => Some(outcome),
            _ => None,
        })
    }

    /// Let time pass; agents that are `alive` beat.
    fn wait(&mut self, until: Nanos, alive: &[u32]) {
        let mut beat_at = self.now.after(BEAT);
        while let Some(at) =
            self.controller.poll_timeout().map(|at| at.min(beat_at)).filter(|at| *at <= until)
        {
            self.now = at.max(self.now);
            if self.now >= beat_at {
                beat_at = self.now.after(BEAT);
                for &agent in alive {
                    self.report(agent, AgentPayload::State { state: AgentState::Idle });
                }
            }
            self.controller.handle_timeout(self.now);
            self.poll();
        }
        self.now = until;
    }

    fn commands(&self, wanted: &Command) -> usize {
        let is_wanted = |order: &ControllerPayload| matches!(order, ControllerPayload::Command { command, .. } if command == wanted);
        self.orders.iter().filter(|(_, order)| is_wanted(order)).count()
    }
}

fn done(intervals: u64, cause: EndCause) -> AgentPayload {
    let adjustments = Adjustments::default();
    AgentPayload::Done(Done { intervals, cause, first_sent: None, digest: String::new(), adjustments })
}

#[test]
fn a_change_is_ordered_a_second_ahead_or_not_at_all() {
    let check = |ahead_ms: i64, expected| {
        let mut desk = Desk::running();
        let at = Nanos::from_secs(5).after(Nanos::from_millis(ahead_ms));
        assert_eq!(desk.controller.change(at, 0, USERS, desk.now), expected, "{ahead_ms} ms ahead");
        desk.poll();
        assert_eq!(
            desk.commands(&Command::Change { at, phase: 0, change: USERS }),
            usize::from(expected.is_ok())
        );
    };
    check(1_000, Ok(()));
    check(3_600_000, Ok(()));
    check(999, Err(ChangeRefused::TooLate));
    check(-9_000, Err(ChangeRefused::TooLate));
    let later = Nanos::from_secs(100);
    let mut early = Desk::new(1);
    assert_eq!(early.controller.change(later, 0, USERS, early.now), Err(ChangeRefused::NotRunning));
    let mut ending = Desk::running();
    ending.report(0, AgentPayload::State { state: AgentState::Draining });
    assert_eq!(ending.controller.change(later, 0, USERS, ending.now), Err(ChangeRefused::NotRunning));
}

#[test]
fn unanswered_changes_are_bounded_and_leave_room_to_stop() {
    let mut desk = Desk::running();
    let change = |k: u64| Change::Rate(Rate::per_second(k));
    let mut taken = 0;
    while desk.controller.change(Nanos::from_secs(100), 0, change(taken), desk.now).is_ok() {
        taken += 1;
        assert!(taken < 100);
    }
    assert!(taken >= 20, "{taken}");
    desk.controller.drain(Nanos::SECOND, desk.now);
    desk.controller.stop(desk.now);
    desk.poll();
    assert_eq!((desk.commands(&Command::Drain), desk.commands(&Command::Stop)), (1, 1));
}

#[test]
fn strangers_and_other_epochs_are_not_heard() {
    let mut desk = Desk::new(1);
    desk.controller.handle_message(
        AgentId(0),
        AgentMessage { run: RunId(1), epoch: 2, report: AgentPayload::Prepared { seq: 1 } },
        desk.now,
    );
    desk.report(7, AgentPayload::Prepared { seq: 1 });
    // An answer to a question that was never asked.
    desk.report(0, AgentPayload::Prepared { seq: 9 });
    assert_eq!(desk.controller.started_at(), None);
    desk.report(0, AgentPayload::Prepared { seq: 1 });
    assert!(desk.controller.started_at().is_some());
}

#[test]
fn one_unprepared_agent_keeps_all_from_starting() {
    let mut desk = Desk::new(3);
    desk.report(0, AgentPayload::Prepared { seq: 1 });
    desk.report(2, AgentPayload::Prepared { seq: 1 });
    desk.wait(PREPARE_MAX.after(Nanos(-1)), &[0, 1, 2]);
    assert_eq!((desk.controller.started_at(), desk.commands(&Command::Stop)), (None, 0));
    desk.wait(PREPARE_MAX, &[0, 1, 2]);
    assert!(desk.commands(&Command::Stop) >= 3, "all receive a stop");
    assert_eq!(desk.outcome(), None, "and waited for");
    for agent in 0..3 {
        desk.report(agent, AgentPayload::Accepted { seq: 2 });
        desk.report(agent, AgentPayload::Accepted { seq: 1 });
        desk.report(agent, done(0, EndCause::Command));
    }
    let outcome = desk.outcome().expect("all have ended");
    assert!(outcome.started_at.is_none() && !outcome.is_complete());
}

#[test]
fn an_agent_that_lives_but_does_not_end_is_given_up() {
    let mut desk = Desk::running();
    desk.controller.drain(Nanos::from_secs(10), desk.now);
    let drained = desk.now.after(Nanos::from_secs(10));
    desk.wait(drained.after(Nanos(-1)), &[0]);
    assert_eq!(desk.commands(&Command::Stop), 0);
    desk.wait(drained.after(STOP_MAX).after(Nanos(-1)), &[0]);
    assert!(desk.commands(&Command::Stop) > 10, "repeated while unanswered");
    assert_eq!(desk.outcome(), None);
    desk.wait(drained.after(STOP_MAX), &[0]);
    let outcome = desk.outcome().expect("the wait is limited");
    assert_eq!(outcome.agents[0].end, AgentEnd::Unfinished);
    assert!(!outcome.is_complete());
    assert_eq!(desk.controller.poll_timeout(), None);
}

#[test]
fn a_silent_agent_is_lost_after_three_beats_and_may_come_back() {
    let mut desk = Desk::running();
    let begin = desk.now;
    desk.wait(begin, &[]);
    desk.report(0, AgentPayload::State { state: AgentState::Running });
    desk.report(0, AgentPayload::Sealed { seq: 0 });
    desk.wait(begin.after(Nanos::from_secs(3)), &[]);
    assert_eq!(desk.lost(0), None);
    desk.wait(begin.after(Nanos::from_secs(5)), &[]);
    let loss = desk.lost(0).expect("noticed within five seconds");
    assert_eq!((loss.share, loss.last_interval), (Partition::WHOLE, Some(0)));
    assert!(loss.at <= Nanos::from_secs(10), "on the run's clock: {}", loss.at);
    // The only agent: the run is over when it cannot send load any more.
    let gone = begin.after(ORPHAN_GRACE).after(ORPHAN_DRAIN_MAX);
    desk.wait(gone, &[]);
    assert_eq!(desk.outcome(), None);
    desk.wait(gone.after(Nanos::from_secs(4)), &[]);
    assert_eq!(desk.outcome().expect("no agent is left").agents[0].end, AgentEnd::Lost);

    let mut desk = Desk::new(2);
    desk.report(0, AgentPayload::Prepared { seq: 1 });
    desk.report(1, AgentPayload::Prepared { seq: 1 });
    for agent in 0..2 {
        desk.report(agent, AgentPayload::Accepted { seq: 2 });
    }
    desk.wait(Nanos::from_secs(20), &[0]);
    assert!(desk.lost(1).is_some() && desk.outcome().is_none());
    for seq in [1, 0, 0, 2] {
        desk.report(1, AgentPayload::Sealed { seq });
    }
    for agent in 0..2 {
        desk.report(agent, done(u64::from(agent) * 3, EndCause::Plan));
    }
    assert!(desk.notices.contains(&ControllerNotice::Back(AgentId(1))));
    let is_delivered = |notice: &&ControllerNotice| matches!(notice, ControllerNotice::Delivered { .. });
    let delivered: Vec<_> = desk.notices.iter().filter(is_delivered).collect();
    let expected = [0, 1, 2].map(|seq| ControllerNotice::Delivered { agent: AgentId(1), seq });
    assert_eq!(delivered, expected.iter().collect::<Vec<_>>());
    assert!(desk.outcome().expect("both are done").is_complete(), "nothing is missing");
}
