//! The agent on a host of its own: greetings, strict leases, other runs, spools.

use wavetank_fleet::constants::{BEAT, ORPHAN_GRACE};
use wavetank_fleet::{
    Adjustments, Agent, AgentAction, AgentMessage, AgentPayload, AgentSetup, AgentState, Command,
    ControllerMessage, ControllerPayload, DenialReason, Done, EndCause, FoundSpool, RefusalReason, RunId,
};
use wavetank_pace::Partition;
use wavetank_units::Nanos;

const RUN: RunId = RunId(9);
const OTHER: RunId = RunId(10);
const ADJUSTMENTS: Adjustments = Adjustments { received: 2, refused: 1 };

/// An agent with its clock; the controller's messages have the epoch of the test.
struct Desk {
    agent: Agent,
    now: Nanos,
}

fn setup() -> AgentSetup {
    AgentSetup { shares_process: false, spools: true, ..AgentSetup::local("1") }
}

impl Desk {
    fn new() -> Self {
        Self { agent: Agent::new(setup(), Nanos::ZERO), now: Nanos::ZERO }
    }

    fn recovered(cause: EndCause) -> Self {
        let spool = FoundSpool {
            run: RUN,
            epoch: 5,
            intervals: 3,
            unstored: vec![1],
            digest: "ab".to_owned(),
            cause,
            adjustments: ADJUSTMENTS,
        };
        Self { agent: Agent::recover(setup(), spool, Nanos::ZERO), now: Nanos::ZERO }
    }

    /// Under load since 1 s, in epoch 5 of the run.
    fn running() -> Self {
        let mut desk = Self::new();
        desk.command(RUN, 5, 1, offer());
        desk.agent.handle_prepared(Ok("hash".to_owned()), desk.now);
        let start_at = Nanos::SECOND;
        desk.command(RUN, 5, 2, Command::Commit { start_at, load_from: start_at, end_by: None });
        desk.wait(start_at);
        assert_eq!(desk.agent.state(), AgentState::Running);
        desk
    }

    fn order(&mut self, run: RunId, epoch: u64, order: ControllerPayload) -> Vec<AgentAction> {
        self.agent.handle_message(ControllerMessage { run, epoch, order }, self.now);
        std::iter::from_fn(|| self.agent.poll()).collect()
    }

    fn command(&mut self, run: RunId, epoch: u64, seq: u64, command: Command) -> Vec<AgentAction> {
        self.order(run, epoch, ControllerPayload::Command { seq, command })
    }

    /// Follows the timeouts until `until`; what the agent did.
    fn wait(&mut self, until: Nanos) -> Vec<(Nanos, AgentAction)> {
        let mut done = Vec::new();
        while let Some(at) = self.agent.poll_timeout().filter(|at| *at <= until) {
            self.now = at.max(self.now);
            self.agent.handle_timeout(self.now);
            done.extend(std::iter::from_fn(|| self.agent.poll()).map(|action| (self.now, action)));
        }
        self.now = until;
        done
    }
}

fn offer() -> Command {
    let plan_hash = "hash".to_owned();
    Command::Offer { plan_hash, share: Partition::WHOLE, orphan_grace: ORPHAN_GRACE }
}

fn reports(actions: &[AgentAction]) -> Vec<AgentPayload> {
    let report = |action: &AgentAction| match action {
        AgentAction::Send(AgentMessage { report, .. }) => Some(report.clone()),
        _ => None,
    };
    actions.iter().filter_map(report).collect()
}

/// In this state a command of this run and epoch is refused for this reason, and nothing happens.
fn check(mut desk: Desk, run: RunId, epoch: u64, command: Command, reason: RefusalReason) {
    let actions = desk.command(run, epoch, 3, command);
    let report = AgentPayload::Refused { seq: 3, reason };
    assert_eq!(actions, [AgentAction::Send(AgentMessage { run, epoch, report })]);
}

#[test]
fn commands_of_other_runs_and_earlier_epochs_are_refused() {
    let busy = RefusalReason::Busy { run: RUN };
    check(Desk::running(), OTHER, 6, offer(), busy.clone());
    check(Desk::running(), OTHER, 6, Command::Stop, busy.clone());
    check(Desk::recovered(EndCause::Plan), OTHER, 6, Command::Stop, busy);
    let older = RefusalReason::OlderEpoch { current: 5 };
    check(Desk::running(), RUN, 4, Command::Stop, older.clone());
    check(Desk::recovered(EndCause::Plan), OTHER, 5, offer(), older);
    let at = Nanos::from_secs(60);
    let rebalance = Command::Rebalance { phase: 1, at, share: Partition::WHOLE };
    check(Desk::running(), RUN, 5, rebalance, RefusalReason::Unsupported);
}

#[test]
fn a_plan_that_is_not_the_offered_one_is_refused() {
    let mut desk = Desk::new();
    desk.command(RUN, 5, 1, offer());
    desk.agent.handle_prepared(Ok("other".to_owned()), desk.now);
    let refused =
        AgentPayload::Refused { seq: 1, reason: RefusalReason::PlanHash { found: "other".to_owned() } };
    let actions: Vec<_> = std::iter::from_fn(|| desk.agent.poll()).collect();
    assert_eq!(reports(&actions), [refused]);
    assert_eq!(desk.agent.state(), AgentState::Idle);
}

#[test]
fn an_agent_introduces_itself_until_it_is_needed_and_when_its_controller_is_silent() {
    let is_hello = |action: &AgentAction| {
        matches!(action, AgentAction::Send(AgentMessage { report: AgentPayload::Hello(_), .. }))
    };
    let hellos = |desk: &mut Desk, until| {
        desk.wait(Nanos::from_secs(until)).iter().filter(|(_, action)| is_hello(action)).count()
    };
    let mut desk = Desk::new();
    assert_eq!(hellos(&mut desk, 3), 4, "immediately, and each second");
    desk.order(RUN, 1, ControllerPayload::Denied { reason: DenialReason::NotInFleet });
    assert_eq!(hellos(&mut desk, 6), 3, "another fleet may need it");
    desk.order(RUN, 1, ControllerPayload::Denied { reason: DenialReason::DuplicateName });
    assert_eq!(hellos(&mut desk, 9), 0);
    desk.agent.handle_connected(desk.now);
    assert!(std::iter::from_fn(|| desk.agent.poll()).any(|action| is_hello(&action)));

    let mut desk = Desk::running();
    desk.order(RUN, 5, ControllerPayload::Lease { seen: 0 });
    assert_eq!(hellos(&mut desk, 4), 0, "heartbeats are enough while the controller is heard");
    assert_eq!(hellos(&mut desk, 7), 3);
}

/// A suspended process of a host finds its lease expired, whatever messages wait for it.
#[test]
fn an_expired_lease_is_not_revived_by_a_message_from_before() {
    let mut desk = Desk::running();
    desk.now = Nanos::from_secs(1).after(ORPHAN_GRACE);
    let actions = desk.order(RUN, 5, ControllerPayload::Lease { seen: 0 });
    assert!(actions.contains(&AgentAction::Drain), "{actions:?}");
    assert_eq!(desk.agent.state(), AgentState::Draining);

    let mut desk = Desk::running();
    let drained = desk.wait(Nanos::from_secs(60));
    let (at, _) = drained.iter().find(|(_, action)| *action == AgentAction::Drain).expect("it drains");
    assert!(*at <= ORPHAN_GRACE.after(BEAT), "drained at {at}");
}

#[test]
fn a_restarted_agent_delivers_its_spool_and_keeps_it_until_the_archive_has_it() {
    let mut desk = Desk::recovered(EndCause::Crashed);
    // The numbers of commands continue.
    let resumed = AgentPayload::Resumed { seq: 7, state: AgentState::Sealed, adjustments: ADJUSTMENTS };
    assert_eq!(reports(&desk.command(RUN, 5, 7, Command::Resume)), [resumed]);
    let lease = desk.order(RUN, 5, ControllerPayload::Lease { seen: 0 });
    let expected =
        [AgentPayload::Sealed { seq: 0 }, AgentPayload::Unstored { seq: 1 }, AgentPayload::Sealed { seq: 2 }];
    assert_eq!(reports(&lease), expected);
    let (cause, digest) = (EndCause::Crashed, "ab".to_owned());
    let done = AgentPayload::Done(Done {
        intervals: 3,
        cause,
        first_sent: None,
        digest: digest.clone(),
        adjustments: ADJUSTMENTS,
    });
    let beat: Vec<_> = desk.wait(BEAT).into_iter().map(|(_, action)| action).collect();
    assert!(reports(&beat).contains(&done), "{beat:?}");

    let differs = desk.order(RUN, 5, ControllerPayload::Settled { digest: "cd".to_owned() });
    assert_eq!(reports(&differs), [AgentPayload::Kept { digest: digest.clone() }]);
    assert!(!differs.contains(&AgentAction::DeleteSpool) && !desk.agent.is_settled());
    let older = desk.order(RUN, 4, ControllerPayload::Settled { digest: digest.clone() });
    assert_eq!(older, [], "an earlier controller confirms nothing");
    let settled = desk.order(RUN, 5, ControllerPayload::Settled { digest: digest.clone() });
    assert_eq!(settled[0], AgentAction::DeleteSpool);
    let again = desk.order(RUN, 5, ControllerPayload::Settled { digest });
    assert_eq!(reports(&again), [AgentPayload::Cleared]);
    assert_eq!(again.len(), 1, "deleted once");
    assert!(desk.agent.is_settled() && desk.agent.poll_timeout().is_none());
}
