//! Users of several agents that wait for each other.

use wavetank_fleet::constants::RELEASE_AHEAD;
use wavetank_fleet::{
    AgentId, AgentMessage, AgentPayload, AgentSetup, AgentState, Command, Controller, ControllerAction,
    ControllerPayload, Members, PhaseUsers, Quorum, Release, RunId, RunSetup, WaitingUsers,
};
use wavetank_units::Nanos;

const POINT: u32 = 1;

/// A controller under load, with agents that send exactly what a test says.
struct Fleet {
    controller: Controller,
    now: Nanos,
    sent: Vec<(u32, u64, Command)>,
}

impl Fleet {
    fn new(agents: u32) -> Self {
        let setup = RunSetup { members: Members::Count(agents), ..RunSetup::new(3, "1", "hash") };
        let mut fleet =
            Self { controller: Controller::new(setup, Nanos::ZERO), now: Nanos::ZERO, sent: Vec::new() };
        for agent in 0..agents {
            let mut identity = AgentSetup::local("1").identity;
            (identity.name, identity.instance) = (format!("load{agent}"), u64::from(agent));
            fleet.message(agent, RunId::NONE, 0, AgentPayload::Hello(identity.hello(AgentState::Idle)));
        }
        for agent in 0..agents {
            fleet.report(agent, AgentPayload::Prepared { seq: 1 });
        }
        for agent in 0..agents {
            fleet.report(agent, AgentPayload::Accepted { seq: 2 });
        }
        fleet.now = fleet.controller.started_at().expect("all are prepared").after(Nanos::from_secs(5));
        fleet
    }

    fn message(&mut self, agent: u32, run: RunId, epoch: u64, report: AgentPayload) {
        self.controller.handle_message(AgentId(agent), AgentMessage { run, epoch, report }, self.now);
        while let Some(action) = self.controller.poll() {
            if let ControllerAction::Send { to, message } = action
                && let ControllerPayload::Command { seq, command } = message.order
            {
                self.sent.push((to.0, seq, command));
            }
        }
    }

    fn report(&mut self, agent: u32, report: AgentPayload) {
        self.message(agent, RunId(1), 3, report);
    }

    /// The agent reports that users wait; returns the releases that follow, which are accepted.
    fn waiting(&mut self, agent: u32, users: WaitingUsers) -> Vec<(u32, Release)> {
        self.sent.clear();
        self.report(agent, AgentPayload::Waiting { points: vec![users] });
        let mut releases = Vec::new();
        for (to, seq, command) in std::mem::take(&mut self.sent) {
            let Command::Release(release) = command else { panic!("only releases are due: {command:?}") };
            self.report(to, AgentPayload::Accepted { seq });
            releases.push((to, release));
        }
        releases
    }

    fn release(&self, round: Option<u32>, number: u32, of: u64) -> Release {
        let start = self.controller.started_at().expect("the run is committed");
        let at = (self.now - start).after(RELEASE_AHEAD);
        Release { point: POINT, round, number, at, of, phase: 4, by_wait: false }
    }
}

fn users(round: u32, present: u32, quorum: Quorum) -> WaitingUsers {
    let members = vec![PhaseUsers { phase: 0, users: 3 }];
    WaitingUsers { point: POINT, round, present, phase: 4, quorum, is_over: false, releases: round, members }
}

const ALL: Quorum = Quorum::Phase(0);

#[test]
fn all_continue_when_the_last_user_of_any_agent_is_there() {
    let mut fleet = Fleet::new(2);
    assert_eq!(fleet.waiting(0, users(0, 3, ALL)), [], "the other agent has not reported");
    assert_eq!(fleet.waiting(1, users(0, 2, ALL)), []);
    let release = fleet.release(Some(0), 0, 6);
    assert_eq!(fleet.waiting(1, users(0, 3, ALL)), [(0, release), (1, release)]);
    // Reports from before the release say nothing about the next round.
    assert_eq!(fleet.waiting(0, users(0, 3, ALL)), []);
    assert_eq!(fleet.waiting(0, users(1, 3, ALL)), []);
    let release = fleet.release(Some(1), 1, 6);
    assert_eq!(fleet.waiting(1, users(1, 3, ALL)), [(0, release), (1, release)]);
}

#[test]
fn a_number_of_users_may_come_from_any_agents() {
    let mut fleet = Fleet::new(3);
    let five = Quorum::Users(5);
    assert_eq!(fleet.waiting(0, users(0, 4, five)), []);
    let (waits, counts) = (fleet.release(Some(0), 0, 5), fleet.release(None, 0, 5));
    assert_eq!(fleet.waiting(2, users(0, 1, five)), [(0, waits), (1, counts), (2, waits)]);
    // The agent without waiting users counts its own rounds, and those of the fleet.
    let mut late = users(0, 5, five);
    late.releases = 1;
    let (waits, counts) = (fleet.release(Some(0), 1, 5), fleet.release(None, 1, 5));
    assert_eq!(fleet.waiting(1, late), [(0, counts), (1, waits), (2, counts)]);
}

#[test]
fn a_wait_that_is_over_ends_for_all() {
    let mut fleet = Fleet::new(2);
    assert_eq!(fleet.waiting(1, users(0, 1, ALL)), []);
    let release = Release { by_wait: true, ..fleet.release(Some(0), 0, 6) };
    assert_eq!(fleet.waiting(0, users(0, 0, Quorum::Unknown)), []);
    let over = WaitingUsers { is_over: true, ..users(0, 1, ALL) };
    let counts = Release { round: None, ..release };
    assert_eq!(fleet.waiting(1, over), [(0, counts), (1, release)]);
}

#[test]
fn users_of_an_agent_that_is_lost_are_not_waited_for() {
    let mut fleet = Fleet::new(2);
    assert_eq!(fleet.waiting(1, users(0, 2, ALL)), []);
    assert_eq!(fleet.waiting(0, users(0, 3, ALL)), []);
    // Only the first agent beats.
    let until = fleet.now.after(Nanos::from_secs(10));
    while fleet.now < until {
        fleet.now = fleet.now.after(Nanos::SECOND);
        fleet.report(0, AgentPayload::State { state: AgentState::Running });
        fleet.controller.handle_timeout(fleet.now);
        fleet.report(0, AgentPayload::State { state: AgentState::Running });
    }
    let released = fleet.sent.iter().find_map(|(to, _, command)| match command {
        Command::Release(release) => Some((*to, *release)),
        _ => None,
    });
    let (to, release) = released.expect("the users that are left continue");
    assert_eq!((to, release.of, release.round), (0, 3, Some(0)));
}

#[test]
fn an_agent_catches_up_with_a_release_of_a_former_controller() {
    let mut fleet = Fleet::new(2);
    // The first agent took part in the fleet's round 0; the second still waits in it.
    let ahead = WaitingUsers { releases: 1, ..users(1, 0, ALL) };
    assert_eq!(fleet.waiting(0, ahead), []);
    let start = fleet.controller.started_at().expect("the run is committed");
    let at = fleet.now - start;
    let late = Release { at, of: 0, ..fleet.release(Some(0), 0, 0) };
    assert_eq!(fleet.waiting(1, users(0, 3, ALL)), [(1, late)]);
}
