//! Users of several agents that wait for each other, in whole fleets with faults.

use wavetank_fleet::constants::RELEASE_AHEAD;
use wavetank_fleet::{FleetStatus, LossPolicy};
use wavetank_pace::Philox;
use wavetank_units::Nanos;

use crate::sim::check;
use crate::sim::scenario::{Fault, Meetings, Scenario, up_to};
use crate::sim::users::Met;
use crate::sim::world::{World, name};

const ROUNDS: u32 = 4;

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

/// A load of 40 s in which all users meet `ROUNDS` times, in the first seconds of it.
fn scenario(faults: Vec<Fault>) -> Scenario {
    let meetings = Some(Meetings { rounds: ROUNDS, think_max_ms: 900, wait: Nanos::from_secs(30), of: None });
    Scenario { plan: Nanos::from_secs(40), margin: ms(1_000), meetings, faults, ..Scenario::default() }
}

/// The rounds of each agent's users.
fn met(world: &World) -> Vec<Vec<Met>> {
    let of = |host: &crate::sim::host::Host| host.users.as_ref().map(|users| users.met.clone());
    world.records().into_iter().map(|host| of(host).expect("it had users")).collect()
}

/// The instant of the run's clock that an agent's clock shows as `at`.
fn run_time(world: &World, number: usize, at: Nanos) -> Nanos {
    at - world.records()[number].zero.expect("it ran")
}

/// All users met in every round, and none continued before the last of them had come.
fn judge_complete(world: &World) {
    let all = met(world);
    let users: u64 = (1..=all.len() as u64).sum();
    for round in 0..ROUNDS as usize {
        let last = (0..all.len()).map(|number| run_time(world, number, all[number][round].complete_at)).max();
        for (number, met) in all.iter().enumerate() {
            assert_eq!(met.len(), ROUNDS as usize, "agent {number}: {met:?}");
            let Met { release, users: released, .. } = met[round];
            assert_eq!((release.of, release.by_wait), (users, false), "{release:?}");
            assert_eq!(u64::from(released), number as u64 + 1, "all users of agent {number}");
            // Clocks may differ by the tolerance of the start.
            assert!(Some(release.at.after(ms(5))) >= last, "before the last user came: {release:?}");
        }
    }
}

#[test]
fn users_of_all_agents_meet_in_every_round() {
    check(
        0..100,
        |_: &mut Philox, _| scenario(Vec::new()),
        |world| {
            judge_complete(world);
            for (number, met) in met(world).into_iter().enumerate() {
                for Met { release, received_at, complete_at, .. } in met {
                    let received = run_time(world, number, received_at);
                    assert!(received <= release.at, "it arrived in time: {release:?}");
                    let waited = release.at - run_time(world, number, complete_at);
                    assert!(waited <= RELEASE_AHEAD.after(ms(1_000)), "{release:?} after {waited}");
                }
            }
        },
    );
}

/// Lost, repeated and late messages delay a release, and change nothing else.
#[test]
fn disorder_changes_no_round() {
    let disorder = |random: &mut Philox, _: usize| {
        let mut faults = vec![Fault::Duplicate { percent: 60 }, Fault::Lose { percent: random.below(30) }];
        if random.below(2) == 0 {
            faults.push(Fault::Delay { from: ms(2_500), max: ms(400) });
        }
        Scenario { margin: Nanos::from_secs(3), ..scenario(faults) }
    };
    let (mut runs, mut complete) = (0, 0);
    let all = check(0..150, disorder, |world| {
        runs += 1;
        if world.outcome.as_ref().is_some_and(|outcome| outcome.status == FleetStatus::Complete) {
            complete += 1;
            judge_complete(world);
        }
    });
    assert!(!all || complete * 100 >= runs * 90, "{complete} of {runs} complete");
}

/// Nothing passes for a while: the users wait, and then continue together.
#[test]
fn a_cut_link_delays_a_round() {
    let cut = |random: &mut Philox, agents: usize| {
        let agent = random.below(agents as u64) as usize;
        // It ends before the agent is thought lost.
        scenario(vec![Fault::Cut {
            agent: Some(agent),
            from: ms(1_500).after(up_to(random, 2_000)),
            len: ms(1_900),
        }])
    };
    check(0..80, cut, |world| judge_complete(world));
}

/// An agent dies while users wait: those of the others continue without its users.
#[test]
fn users_of_an_agent_that_dies_are_not_waited_for() {
    let crash = |random: &mut Philox, agents: usize| {
        let agent = random.below(agents as u64) as usize;
        let faults = vec![Fault::Crash { agent, at: ms(1_500).after(up_to(random, 1_500)), back: None }];
        Scenario { on_loss: LossPolicy::Incomplete, ..scenario(faults) }
    };
    let mut waited = 0;
    let all = check(0..100, crash, |world| {
        let loss = world.lost.first().expect("it is noticed").1.clone();
        let all = met(world);
        let users: u64 = (1..=all.len() as u64).sum();
        let dead = (0..all.len()).find(|number| name(*number) == loss.name).expect("an agent");
        let lost = dead as u64 + 1;
        for (number, met) in all.iter().enumerate().filter(|(number, _)| *number != dead) {
            assert_eq!(met.len(), ROUNDS as usize, "agent {number}: {met:?}");
            for Met { release, waited_from, .. } in met {
                assert!(!release.by_wait, "{release:?}");
                let is_after = release.at > loss.at.after(RELEASE_AHEAD);
                let of = if is_after { users - lost } else { users };
                assert_eq!(release.of, of, "{release:?}, loss at {}", loss.at);
                let wait = release.at - run_time(world, number, *waited_from);
                assert!(wait <= Nanos::from_secs(6), "{release:?} after {wait}");
                waited += u32::from(wait > Nanos::from_secs(2));
            }
        }
    });
    assert!(!all || waited > 20, "users waited for the dead {waited} times only");
}

/// A wait without enough users ends for all agents together.
#[test]
fn a_wait_that_is_too_long_ends_for_all() {
    let lonely = |_: &mut Philox, _: usize| {
        let meetings = Meetings { rounds: 1, think_max_ms: 900, wait: ms(4_000), of: Some(1_000) };
        Scenario { meetings: Some(meetings), ..scenario(Vec::new()) }
    };
    check(0..50, lonely, |world| {
        for (number, met) in met(world).into_iter().enumerate() {
            let [Met { release, waited_from, .. }] = met[..] else { panic!("agent {number}: {met:?}") };
            assert!(release.by_wait && release.of == 1_000, "{release:?}");
            assert!(release.at - run_time(world, number, waited_from) <= ms(6_000), "{release:?}");
        }
    });
}

/// Users of any agents may be the ones that continue.
#[test]
fn a_number_of_users_continues_whichever_agents_have_them() {
    let some = |random: &mut Philox, agents: usize| {
        // All users together have enough visits for whole rounds.
        let users: u64 = (1..=agents as u64).sum();
        let of = 1 + random.below(users);
        let meetings = Meetings { rounds: 3, think_max_ms: 900, wait: ms(3_000), of: Some(of) };
        Scenario { meetings: Some(meetings), ..scenario(Vec::new()) }
    };
    check(0..80, some, |world| {
        let all = met(world);
        let visits: u64 = all.iter().flatten().map(|met| u64::from(met.users)).sum();
        assert_eq!(visits, 3 * (1..=all.len() as u64).sum::<u64>(), "each visit ends once");
        let mut rounds = std::collections::BTreeMap::new();
        for Met { release, users, .. } in all.iter().flatten() {
            let round = rounds.entry(release.number).or_insert((0, *release));
            round.0 += u64::from(*users);
        }
        for (users, release) in rounds.values() {
            assert!(release.by_wait || *users >= release.of, "{users} users: {release:?}");
        }
    });
}
