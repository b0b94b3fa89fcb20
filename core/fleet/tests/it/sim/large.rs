//! A fleet of many agents: nothing that each agent needs may overload or confuse the controller.

use wavetank_fleet::{AgentEnd, EndCause, FleetStatus};
use wavetank_units::Nanos;

use crate::sim::scenario::{Act, Fault, Scenario};
use crate::sim::world::World;

/// Agents of the fleet.
const AGENTS: usize = 2_000;

/// One agent dies, another one is cut off for a while, and messages arrive twice.
#[test]
fn a_large_fleet_lacks_exactly_the_agent_that_died() {
    let (dead, cut_off) = (AGENTS / 3, AGENTS / 2);
    let from = Nanos::from_secs(6);
    let scenario = Scenario {
        plan: Nanos::from_secs(20),
        margin: Nanos::from_secs(3),
        faults: vec![
            Fault::Duplicate { percent: 10 },
            Fault::Crash { agent: dead, at: from, back: None },
            Fault::Cut { agent: Some(cut_off), from, len: Nanos::from_secs(2) },
        ],
        acts: vec![(Nanos::from_secs(12), Act::Change { ahead: Nanos::from_secs(2) })],
        ..Scenario::default()
    };
    let mut world = World::new(1, AGENTS, scenario);
    world.run();
    world.judge_always();
    let outcome = world.outcome.clone().expect("the run ends");
    assert_eq!(outcome.status, FleetStatus::Incomplete);
    assert_eq!(world.changes.len(), 1, "the change was accepted");
    assert_eq!(world.lost.len(), 1, "one agent was lost: {:?}", world.lost);
    for (number, agent) in outcome.agents.iter().enumerate() {
        let has_finished = agent.end == AgentEnd::Sealed(EndCause::Plan);
        assert_eq!(has_finished, number != dead, "agent {number}: {:?}", agent.end);
    }
    world.fetch_rest();
    world.judge_archive();
}
