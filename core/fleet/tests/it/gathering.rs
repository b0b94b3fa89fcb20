//! P13: what keeps a run from starting is refused before anything is sent; and P1: shares.

use wavetank_fleet::constants::GATHER_MAX;
use wavetank_fleet::{
    AgentId, AgentMessage, AgentPayload, AgentSetup, AgentState, Capabilities, Command, Controller,
    ControllerAction, ControllerNotice, ControllerPayload, DenialReason, Hello, Member, Members, Outcome,
    RefusalReason, RunId, RunSetup, StartProblem,
};
use wavetank_pace::{ArrivalSource, Partition, Schedule, ScheduleSpec};
use wavetank_plan::{Arrivals, RateCurve};
use wavetank_units::{Nanos, Rate};

/// A controller of a fleet, to which agents report.
struct Desk {
    controller: Controller,
    now: Nanos,
    orders: Vec<(AgentId, ControllerPayload)>,
    outcome: Option<Outcome>,
    /// Repeated each second until a share is offered.
    hellos: Vec<(u32, Hello)>,
}

impl Desk {
    fn new(members: Members) -> Self {
        let setup = RunSetup::fleet(RunId(1), 3, "2.0.0", "hash", members);
        let controller = Controller::new(setup, Nanos::ZERO);
        Self { controller, now: Nanos::ZERO, orders: Vec::new(), outcome: None, hellos: Vec::new() }
    }

    fn named(names: &[&str]) -> Self {
        Self::new(Members::Named(names.iter().copied().map(Member::new).collect()))
    }

    fn hello(&mut self, agent: u32, name: &str, version: &str, capabilities: Capabilities) {
        let mut identity = AgentSetup::local(version).identity;
        (identity.name, identity.instance) = (name.to_owned(), u64::from(agent) + 1);
        identity.capabilities = capabilities;
        let hello = identity.hello(AgentState::Idle);
        self.hellos.push((agent, hello.clone()));
        self.report(agent, RunId::NONE, AgentPayload::Hello(hello));
    }

    fn report(&mut self, agent: u32, run: RunId, report: AgentPayload) {
        let epoch = if run == RunId::NONE { 0 } else { 3 };
        self.controller.handle_message(AgentId(agent), AgentMessage { run, epoch, report }, self.now);
        self.poll();
    }

    fn poll(&mut self) {
        while let Some(action) = self.controller.poll() {
            match action {
                ControllerAction::Send { to, message } => self.orders.push((to, message.order)),
                ControllerAction::Notify(ControllerNotice::Over(outcome)) => self.outcome = Some(outcome),
                ControllerAction::Notify(_) | ControllerAction::Journal(_) => {}
                ControllerAction::Archive(_) => unreachable!("nothing was sent"),
            }
        }
    }

    fn wait(&mut self, until: Nanos) {
        while let Some(at) = self.controller.poll_timeout().filter(|at| *at <= until) {
            self.now = at;
            if self.offers().is_empty() {
                for (agent, hello) in self.hellos.clone() {
                    self.report(agent, RunId::NONE, AgentPayload::Hello(hello));
                }
            }
            self.controller.handle_timeout(at);
            self.poll();
        }
        self.now = until;
    }

    fn offers(&self) -> Vec<(AgentId, Partition)> {
        let offer = |(to, order): &(AgentId, ControllerPayload)| match order {
            ControllerPayload::Command { command: Command::Offer { share, .. }, .. } => Some((*to, *share)),
            _ => None,
        };
        self.orders.iter().filter_map(offer).collect()
    }

    /// The rows of a run that did not start.
    fn refusals(&self) -> Vec<(String, StartProblem)> {
        let outcome = self.outcome.as_ref().expect("the run is over");
        assert_eq!(outcome.started_at, None);
        assert!(self.orders.iter().all(|(_, order)| !matches!(
            order,
            ControllerPayload::Command { command: Command::Commit { .. }, .. }
        )));
        outcome.refusals.iter().map(|row| (row.name.clone(), row.reason.clone())).collect()
    }
}

fn host(cores: u32) -> Capabilities {
    Capabilities { cores, ..Capabilities::default() }
}

/// A fleet of these names, to which these agents (name, version) report, does not start for these
/// reasons, and nothing is offered.
fn check(names: &[&str], agents: &[(&str, &str)], expected: &[(&str, StartProblem)]) {
    let mut desk = Desk::named(names);
    for ((name, version), agent) in agents.iter().zip(0..) {
        desk.hello(agent, name, version, host(1));
    }
    desk.wait(GATHER_MAX);
    let expected: Vec<_> =
        expected.iter().map(|(name, reason)| ((*name).to_owned(), reason.clone())).collect();
    assert_eq!(desk.refusals(), expected, "{agents:?}");
    assert_eq!(desk.offers(), [], "nothing is offered");
}

#[test]
fn agents_that_do_not_fit_are_refused_by_name_before_any_offer() {
    let denied = StartProblem::Denied;
    let old = || denied(DenialReason::Version { expected: "2.0.0".to_owned() });
    check(&["a", "b"], &[("a", "2.0.0"), ("b", "1.9.9")], &[("b", old())]);
    check(&["a", "b"], &[("a", "1.9.9"), ("b", "1.9.9")], &[("a", old()), ("b", old())]);
    let duplicate = || denied(DenialReason::DuplicateName);
    check(&["a", "b"], &[("a", "2.0.0"), ("a", "2.0.0")], &[("a", duplicate())]);
    check(&["a", "b"], &[("a", "2.0.0")], &[("b", StartProblem::Missing)]);
    check(&["a"], &[("stranger", "2.0.0")], &[("a", StartProblem::Missing)]);
}

#[test]
fn too_few_agents_are_counted() {
    let mut desk = Desk::new(Members::Count(3));
    desk.hello(0, "a", "2.0.0", host(1));
    desk.hello(1, "b", "2.0.0", host(1));
    desk.wait(GATHER_MAX);
    let too_few = StartProblem::TooFew { found: 2, required: 3 };
    assert_eq!(desk.refusals(), [(String::new(), too_few)]);
    assert_eq!(desk.offers(), []);

    // Where any agent will do, another one takes the place of an old one.
    let mut desk = Desk::new(Members::Count(2));
    desk.hello(0, "a", "1.0.0", host(1));
    desk.hello(1, "b", "2.0.0", host(1));
    assert_eq!(desk.offers(), []);
    desk.hello(2, "c", "2.0.0", host(1));
    assert_eq!(desk.offers().len(), 2);
}

/// A hundred and fifty agents report at the same instant, one of them twice and one of them old.
#[test]
fn a_large_fleet_gathers_and_one_duplicate_keeps_it_from_starting() {
    let names: Vec<String> = (0..150).map(|k| format!("load{k}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut desk = Desk::named(&names);
    for (name, agent) in names.iter().zip(0..) {
        desk.hello(agent, name, "2.0.0", host(4));
    }
    let offers = desk.offers();
    assert_eq!(offers.len(), 150);
    for index in 0..300 {
        assert_eq!(offers.iter().filter(|(_, share)| share.contains(index)).count(), 1);
    }
    // Numbers in names are compared as numbers.
    assert_eq!(offers[2].0, AgentId(2));
    // A duplicate that reports after the offer.
    desk.hello(999, "load7", "2.0.0", host(4));
    let stops = desk
        .orders
        .iter()
        .filter(|(_, order)| matches!(order, ControllerPayload::Command { command: Command::Stop, .. }));
    assert_eq!(stops.count(), 150);
    desk.wait(Nanos::from_secs(60));
    let duplicate = StartProblem::Denied(DenialReason::DuplicateName);
    assert_eq!(desk.refusals(), [("load7".to_owned(), duplicate)]);

    let mut desk = Desk::named(&names);
    for (name, agent) in names.iter().zip(0..) {
        desk.hello(agent, name, if agent == 149 { "1.0.0" } else { "2.0.0" }, host(4));
    }
    let old = StartProblem::Denied(DenialReason::Version { expected: "2.0.0".to_owned() });
    assert_eq!(desk.refusals(), [("load149".to_owned(), old)]);
}

#[test]
fn a_host_that_cannot_is_one_row_with_all_its_reasons() {
    let mut desk = Desk::named(&["a", "b"]);
    desk.hello(0, "a", "2.0.0", host(1));
    desk.hello(1, "b", "2.0.0", host(1));
    let lines = vec!["too few files".to_owned(), "no memory".to_owned()];
    let reason = RefusalReason::Host(lines);
    desk.report(1, RunId(1), AgentPayload::Refused { seq: 1, reason: reason.clone() });
    let other = RefusalReason::PlanHash { found: "other".to_owned() };
    desk.report(0, RunId(1), AgentPayload::Refused { seq: 1, reason: other.clone() });
    desk.wait(Nanos::from_secs(60));
    let expected =
        [("b".to_owned(), StartProblem::Refused(reason)), ("a".to_owned(), StartProblem::Refused(other))];
    assert_eq!(desk.refusals(), expected);
    assert_eq!(expected[0].1.to_string(), "too few files; no memory");
}

/// P1: together the agents of an unequal fleet send the schedule of a single host, arrival by
/// arrival.
#[test]
fn a_fleet_sends_the_schedule_of_one_host() {
    let rate = RateCurve::constant(Rate::per_second(997), None);
    for arrivals in [Arrivals::Even, Arrivals::Poisson] {
        for cores in [&[1][..], &[4, 4], &[8, 3, 1], &[1, 2, 3, 4, 5, 64]] {
            let mut desk = Desk::new(Members::Count(cores.len() as u32));
            for (cores, agent) in cores.iter().zip(0..) {
                desk.hello(agent, &format!("load{agent}"), "2.0.0", host(*cores));
            }
            let list = |share| {
                let line = ArrivalSource::Rate(&rate, arrivals);
                let (start, end) = (Nanos::ZERO, Some(Nanos::from_secs(3)));
                let spec = ScheduleSpec { seed: 7, phase: 0, start, end, line, count_max: None, share };
                let mut schedule = Schedule::new(spec);
                std::iter::from_fn(move || schedule.pop()).collect::<Vec<_>>()
            };
            let offers = desk.offers();
            let mut fleet: Vec<_> = offers.iter().flat_map(|(_, share)| list(*share)).collect();
            fleet.sort_unstable();
            assert_eq!(fleet, list(Partition::WHOLE), "{cores:?}");
            for total in [0, 1, 2, 10, 999, 12_345] {
                let users: u64 = offers.iter().map(|(_, share)| share.count_below(total)).sum();
                assert_eq!(users, total, "users of {cores:?}");
            }
        }
    }
}
