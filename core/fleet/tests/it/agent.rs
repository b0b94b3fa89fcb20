//! The agent alone: what each input makes it do.

use wavetank_fleet::constants::{BEAT, ORPHAN_DRAIN_MAX, ORPHAN_GRACE, UNANSWERED_MAX};
use wavetank_fleet::{
    Adjustments, Agent, AgentAction, AgentMessage, AgentPayload, AgentSetup, AgentState, Change, Command,
    ControllerMessage, ControllerPayload, Done, EndCause, RefusalReason, RunId,
};
use wavetank_pace::Partition;
use wavetank_units::Nanos;

/// An agent with its clock, which receives commands in one epoch.
struct Desk {
    agent: Agent,
    now: Nanos,
    run: RunId,
    epoch: u64,
    seq: u64,
}

impl Desk {
    fn new() -> Self {
        Self::with(Agent::new(AgentSetup::local("1"), Nanos::ZERO))
    }

    fn with(agent: Agent) -> Self {
        Self { agent, now: Nanos::ZERO, run: RunId(9), epoch: 5, seq: 0 }
    }

    /// An agent in this state; its run's clock began at 10 s and shows 1 s.
    fn in_state(state: AgentState) -> Self {
        let mut desk = Self::new();
        if state >= AgentState::Prepared {
            desk.command(prepare());
            desk.agent.handle_prepared(Ok("hash".to_owned()), desk.now);
        }
        desk.now = Nanos::from_secs(10);
        if state >= AgentState::Committed {
            desk.command(Command::Commit { start_at: desk.now, load_from: desk.now, end_by: None });
        }
        if state >= AgentState::Running {
            desk.agent.handle_timeout(desk.now);
        }
        desk.now = Nanos::from_secs(11);
        if state >= AgentState::Draining {
            desk.agent.handle_draining(desk.now);
        }
        if state >= AgentState::Sealed {
            desk.agent.handle_finished("", desk.now);
        }
        desk.done();
        assert_eq!(desk.agent.state(), state);
        desk
    }

    fn order(&mut self, order: ControllerPayload) -> Vec<AgentAction> {
        self.agent.handle_message(ControllerMessage { run: self.run, epoch: self.epoch, order }, self.now);
        self.done()
    }

    fn command(&mut self, command: Command) -> Vec<AgentAction> {
        self.seq += 1;
        self.order(ControllerPayload::Command { seq: self.seq, command })
    }

    fn done(&mut self) -> Vec<AgentAction> {
        std::iter::from_fn(|| self.agent.poll()).collect()
    }

    /// Follow the timeouts until `until`; everything done on the way that is not a message.
    fn wait(&mut self, until: Nanos) -> Vec<(Nanos, AgentAction)> {
        let mut acted = Vec::new();
        while let Some(at) = self.agent.poll_timeout().filter(|at| *at <= until) {
            let at = at.max(self.now);
            self.now = at;
            self.agent.handle_timeout(at);
            assert!(self.agent.poll_timeout().is_none_or(|next| next > at), "a timeout that does not pass");
            let done = self.done().into_iter().filter(|action| !matches!(action, AgentAction::Send(_)));
            acted.extend(done.map(|action| (at, action)));
        }
        self.now = until;
        acted
    }
}

fn prepare() -> Command {
    let plan_hash = "hash".to_owned();
    Command::Offer { plan_hash, share: Partition::WHOLE, orphan_grace: ORPHAN_GRACE }
}

fn done(intervals: u64, cause: EndCause) -> AgentPayload {
    let adjustments = Adjustments::default();
    AgentPayload::Done(Done { intervals, cause, first_sent: None, digest: String::new(), adjustments })
}

fn commit(start_ms: i64) -> Command {
    let start_at = Nanos::from_millis(start_ms);
    Command::Commit { start_at, load_from: start_at, end_by: None }
}

fn change(at_ms: i64) -> Command {
    Command::Change { at: Nanos::from_millis(at_ms), phase: 0, change: Change::Users(3) }
}

fn reports(actions: &[AgentAction]) -> Vec<AgentPayload> {
    let report = |action: &AgentAction| match action {
        AgentAction::Send(AgentMessage { report, .. }) => Some(report.clone()),
        _ => None,
    };
    actions.iter().filter_map(report).collect()
}

/// In `state`, `command` is answered by `expected` and makes the host do `acts`.
fn check(state: AgentState, command: Command, expected: &AgentPayload, acts: &[AgentAction]) {
    let mut desk = Desk::in_state(state);
    let actions = desk.command(command.clone());
    assert!(reports(&actions).contains(expected), "{command:?} when {state:?}: {actions:?}");
    let acted: Vec<_> =
        actions.into_iter().filter(|action| !matches!(action, AgentAction::Send(_))).collect();
    assert_eq!(acted, acts, "{command:?} when {state:?}");
    // Again: the same answer, and nothing happens.
    let again = desk.order(ControllerPayload::Command { seq: desk.seq, command });
    assert_eq!(reports(&again), std::slice::from_ref(expected));
    assert_eq!(again.len(), 1);
}

#[test]
fn commands_are_obeyed_where_they_make_sense_and_once() {
    use AgentState::{Committed, Draining, Idle, Prepared, Running, Sealed};
    let accepted = |seq| AgentPayload::Accepted { seq };
    let refused = |seq, reason| AgentPayload::Refused { seq, reason };
    for state in [Prepared, Committed, Running, Draining, Sealed] {
        let seq = if state == Prepared { 2 } else { 3 };
        check(state, prepare(), &refused(seq, RefusalReason::WrongState(state)), &[]);
    }
    for state in [Idle, Committed, Running, Draining, Sealed] {
        let seq = if state == Idle { 1 } else { 3 };
        check(state, commit(90_000), &refused(seq, RefusalReason::WrongState(state)), &[]);
    }
    check(Prepared, commit(11_000), &accepted(2), &[AgentAction::StartAt(Nanos::from_secs(11))]);
    check(Prepared, commit(10_999), &refused(2, RefusalReason::TooLate), &[]);
    let changed = AgentAction::Change { at: Nanos::from_millis(1_050), phase: 0, change: Change::Users(3) };
    for state in [Committed, Running] {
        check(state, change(1_050), &accepted(3), std::slice::from_ref(&changed));
        check(state, change(1_049), &refused(3, RefusalReason::TooLate), &[]);
        check(state, Command::Drain, &accepted(3), &[AgentAction::Drain]);
    }
    for state in [Draining, Sealed] {
        // The load ended at 1 s of the run's clock.
        check(state, change(1_000), &accepted(3), &[]);
        check(state, change(999), &refused(3, RefusalReason::WrongState(state)), &[]);
        check(state, Command::Drain, &accepted(3), &[]);
    }
    check(Idle, change(9_000), &refused(1, RefusalReason::WrongState(Idle)), &[]);
    check(Prepared, Command::Drain, &accepted(2), &[AgentAction::Stop]);
    for state in [Committed, Running, Draining] {
        check(state, Command::Stop, &accepted(3), &[AgentAction::Stop]);
    }
    check(Sealed, Command::Stop, &accepted(3), &[]);
    for command in [Command::Stop, Command::Drain] {
        check(Idle, command.clone(), &accepted(1), &[]);
        let end = done(0, EndCause::NotStarted);
        assert!(reports(&Desk::new().command(command)).contains(&end));
    }
}

#[test]
fn a_host_that_cannot_prepare_is_asked_once_and_says_why() {
    let mut desk = Desk::new();
    let asked = AgentAction::Prepare { plan_hash: "hash".to_owned(), share: Partition::WHOLE };
    assert_eq!(desk.command(prepare()), [asked]);
    assert_eq!(
        desk.order(ControllerPayload::Command { seq: 1, command: prepare() }),
        [],
        "it is busy with it"
    );
    desk.agent.handle_prepared(Err(vec!["too few files".to_owned()]), desk.now);
    let refused =
        AgentPayload::Refused { seq: 1, reason: RefusalReason::Host(vec!["too few files".to_owned()]) };
    assert_eq!(reports(&desk.done()), std::slice::from_ref(&refused));
    assert_eq!(reports(&desk.order(ControllerPayload::Command { seq: 1, command: prepare() })), [refused]);
    assert_eq!(desk.agent.state(), AgentState::Idle);
}

/// A command without an answer keeps its controller waiting until it gives the agent up.
#[test]
fn an_end_while_preparing_leaves_no_command_unanswered() {
    let accepted = AgentPayload::Accepted { seq: 1 };
    let mut stopped = Desk::new();
    stopped.command(prepare());
    assert!(reports(&stopped.command(Command::Stop)).contains(&accepted));
    let mut failed = Desk::new();
    failed.command(prepare());
    failed.agent.handle_finished("", failed.now);
    assert!(reports(&failed.done()).contains(&accepted), "its host fell over meanwhile");
    for mut desk in [stopped, failed] {
        desk.agent.handle_prepared(Ok("hash".to_owned()), desk.now);
        assert_eq!(desk.done(), [], "too late");
        assert_eq!(
            reports(&desk.order(ControllerPayload::Command { seq: 1, command: prepare() })),
            std::slice::from_ref(&accepted)
        );
    }
}

#[test]
fn a_command_waits_for_its_missing_predecessor() {
    let mut desk = Desk::in_state(AgentState::Running);
    assert_eq!(desk.order(ControllerPayload::Command { seq: 4, command: Command::Stop }), []);
    assert_eq!(desk.order(ControllerPayload::Command { seq: 3, command: change(9_000) }).len(), 2);
    assert!(
        desk.order(ControllerPayload::Command { seq: 4, command: Command::Stop })
            .contains(&AgentAction::Stop)
    );
}

#[test]
fn answers_are_remembered_as_far_back_as_a_controller_may_ask() {
    let mut desk = Desk::in_state(AgentState::Running);
    for _ in 0..UNANSWERED_MAX {
        desk.command(change(1));
    }
    let oldest = desk.seq - UNANSWERED_MAX + 1;
    let refused = AgentPayload::Refused { seq: oldest, reason: RefusalReason::TooLate };
    assert_eq!(
        reports(&desk.order(ControllerPayload::Command { seq: oldest, command: change(1) })),
        [refused]
    );
}

#[test]
fn an_older_epoch_commands_nothing_and_extends_no_lease() {
    let mut desk = Desk::in_state(AgentState::Running);
    let begin = desk.now;
    desk.epoch = 4;
    desk.seq = 0;
    let answer = desk.command(Command::Stop);
    let refused = AgentPayload::Refused { seq: 1, reason: RefusalReason::OlderEpoch { current: 5 } };
    assert_eq!(answer, [AgentAction::Send(AgentMessage { run: RunId(9), epoch: 4, report: refused })]);
    for second in 1..60 {
        desk.now = begin.after(Nanos::from_secs(second));
        desk.agent.handle_timeout(desk.now);
        desk.order(ControllerPayload::Lease { seen: 0 });
    }
    assert_ne!(desk.agent.state(), AgentState::Running, "leases of an older epoch do not count");
}

#[test]
fn a_newer_epoch_takes_over_what_runs() {
    let mut desk = Desk::in_state(AgentState::Running);
    desk.epoch = 6;
    desk.seq = 0;
    let refused = AgentPayload::Refused { seq: 1, reason: RefusalReason::WrongState(AgentState::Running) };
    assert_eq!(reports(&desk.command(prepare())), [refused]);
    assert!(desk.command(Command::Stop).contains(&AgentAction::Stop));
    desk.agent.handle_finished("", desk.now);
    desk.done();
    // After its end, the next run finds a fresh agent.
    (desk.run, desk.epoch) = (RunId(10), 7);
    desk.seq = 0;
    assert!(matches!(desk.command(prepare())[..], [.., AgentAction::Prepare { .. }]));
}

#[test]
fn an_orphan_drains_then_stops_and_a_lease_saves_it() {
    let mut desk = Desk::in_state(AgentState::Running);
    // The last message was the commitment, at 10 s; heartbeats are sent each second since the first
    // contact.
    let expires = Nanos::from_secs(10).after(ORPHAN_GRACE);
    let acted = desk.wait(Nanos::from_secs(120));
    let (drained, stopped) = (acted[0].0, acted[1].0);
    assert_eq!((&acted[0].1, &acted[1].1, acted.len()), (&AgentAction::Drain, &AgentAction::Stop, 2));
    assert!(drained >= expires && drained <= expires.after(BEAT));
    assert_eq!(stopped, drained.after(ORPHAN_DRAIN_MAX));
    desk.agent.handle_finished("", desk.now);
    assert!(reports(&desk.done()).contains(&done(0, EndCause::Orphaned)));
    assert_eq!(desk.wait(Nanos::from_secs(300)), [], "no controller is left to report to");
    assert_eq!(desk.agent.poll_timeout(), None);

    let mut desk = Desk::in_state(AgentState::Running);
    for _ in 0..100 {
        desk.order(ControllerPayload::Lease { seen: 0 });
        assert_eq!(desk.wait(desk.now.after(Nanos::from_secs(29))), []);
    }
}

#[test]
fn the_hard_end_of_a_run_needs_no_command() {
    let mut desk = Desk::in_state(AgentState::Prepared);
    let at = |seconds| Nanos::from_secs(seconds);
    desk.command(Command::Commit { start_at: at(12), load_from: at(11), end_by: Some(at(20)) });
    let acted = desk.wait(at(29));
    assert_eq!(acted, [(at(20), AgentAction::Drain)]);
    assert_eq!(desk.wait(at(31)), [(at(20).after(ORPHAN_DRAIN_MAX), AgentAction::Stop)]);
    desk.agent.handle_finished("", desk.now);
    assert!(reports(&desk.done()).contains(&done(0, EndCause::Overdue)));
}

#[test]
fn intervals_are_reported_until_they_are_seen() {
    let mut desk = Desk::in_state(AgentState::Running);
    for seq in 0..3 {
        desk.agent.handle_sealed(seq, desk.now);
        assert_eq!(reports(&desk.done()), [AgentPayload::Sealed { seq }]);
    }
    assert_eq!(desk.order(ControllerPayload::Lease { seen: 1 }), [], "they may be in transit");
    let sealed = |seq| AgentPayload::Sealed { seq };
    assert_eq!(reports(&desk.order(ControllerPayload::Lease { seen: 1 })), [sealed(1), sealed(2)]);
    assert_eq!(desk.order(ControllerPayload::Lease { seen: 3 }), []);
    desk.agent.handle_finished("", desk.now);
    let end = done(3, EndCause::Plan);
    assert_eq!(reports(&desk.done()), [AgentPayload::State { state: AgentState::Sealed }, end]);
    assert!(desk.agent.poll_timeout().is_some(), "it repeats the report until it is received");
    desk.order(ControllerPayload::Settled { digest: String::new() });
    assert_eq!(desk.agent.poll_timeout(), None);
}
