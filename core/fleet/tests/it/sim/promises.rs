//! One promise each, in runs made for it.

use std::collections::BTreeMap;

use wavetank_fleet::{AgentEnd, EndCause, FleetStatus, LossPolicy};
use wavetank_pace::Philox;
use wavetank_units::Nanos;

use crate::sim::check;
use crate::sim::scenario::{Fault, Scenario, calm, up_to};
use crate::sim::world::{World, name};

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

fn any(random: &mut Philox, agents: usize) -> usize {
    random.below(agents as u64) as usize
}

/// The run is complete, and every interval is in the archive.
fn judge_complete(world: &mut World) {
    let outcome = world.outcome.as_ref().expect("the run ends");
    assert_eq!(outcome.status, FleetStatus::Complete, "{outcome:?}");
    let longest = world.disks.iter().map(|disk| disk.sealed).max();
    assert_eq!(Some(world.sealed), longest, "every interval of the fleet is sealed");
    for (number, host) in world.records().into_iter().enumerate() {
        let zero = host.zero.expect("it ran");
        assert!(host.load_to.is_some_and(|to| to >= zero.after(host.plan)), "agent {number}: load was cut");
        assert!(world.disks[number].deleted, "agent {number}: its spool is not needed any more");
    }
    world.judge_archive();
}

#[test]
fn a_calm_run_is_complete_and_every_interval_archived_once() {
    check(0..300, calm, |world| {
        let outcome = world.outcome.clone().expect("a calm run ends");
        for (agent, host) in outcome.agents.iter().zip(&world.hosts) {
            assert_eq!(agent.end, AgentEnd::Sealed(EndCause::Plan));
            assert_eq!(agent.intervals, host.sealed);
        }
        let skew = outcome.start_skew.expect("all agents measured their start");
        // Offsets are measured again each ten seconds, so drift blurs the report a little.
        assert!(skew <= outcome.start_uncertainty.after(ms(10)), "{skew}");
        assert!(world.lost.is_empty());
        judge_complete(world);
    });
}

/// P2, P11: clocks with any offset and with drift, and messages that are slower one way.
#[test]
fn agents_start_together_or_the_run_is_refused() {
    let (mut started, mut refused) = (0, 0);
    let scenario = |random: &mut Philox, agents| {
        let extra = Nanos::from_micros(random.below(10_000) as i64);
        Scenario { faults: vec![Fault::Asymmetric { extra }], ..calm(random, agents) }
    };
    let all = check(0..300, scenario, |world| {
        let outcome = world.outcome.as_ref().expect("it ends");
        if outcome.started_at.is_some() {
            started += 1;
            assert_eq!(outcome.status, FleetStatus::Complete, "{outcome:?}");
        } else {
            refused += 1;
            assert!(!outcome.refusals.is_empty(), "one row for each uncertain host");
        }
    });
    assert!(!all || (started > 50 && refused > 50), "{started} started, {refused} refused");
}

/// P10: duplicates, delays and disorder change nothing; the archive is the same as without them.
#[test]
fn duplicates_delays_and_disorder_change_nothing() {
    let archives = |faults: &[Fault]| {
        let mut archives = BTreeMap::new();
        let scenario = |random: &mut Philox, agents| Scenario {
            faults: faults.to_vec(),
            // Time enough for the commitment to arrive; a change may be too late.
            margin: ms(1_000),
            acts: Vec::new(),
            delay_max: Nanos::from_micros(100),
            ..calm(random, agents)
        };
        let mut number = 0;
        check(0..150, scenario, |world| {
            judge_complete(world);
            archives.insert(number, world.disk.archive.clone());
            number += 1;
        });
        archives
    };
    let calm = archives(&[]);
    let duplicate = Fault::Duplicate { percent: 60 };
    assert_eq!(archives(&[duplicate]), calm);
    // Before the start, late messages would only make the clocks too uncertain.
    let delay = Fault::Delay { from: ms(2_000), max: ms(900) };
    assert_eq!(archives(&[delay, duplicate]), calm);
}

/// Late messages make clocks uncertain, but nothing else.
#[test]
fn disorder_after_the_start_changes_nothing() {
    let scenario = |random: &mut Philox, agents| {
        let faults = vec![Fault::Duplicate { percent: 60 }, Fault::Lose { percent: 25 }];
        Scenario { faults, acts: Vec::new(), margin: Nanos::from_secs(3), ..calm(random, agents) }
    };
    let (mut runs, mut complete) = (0, 0);
    let all = check(0..200, scenario, |world| {
        runs += 1;
        complete += u32::from(world.outcome.as_ref().is_some_and(wavetank_fleet::Outcome::is_complete));
        world.fetch_rest();
        world.judge_archive();
    });
    assert!(!all || complete * 100 >= runs * 95, "{complete} of {runs} complete");
}

/// P3: an agent without its controller ends by itself.
#[test]
fn an_agent_without_a_controller_ends_by_itself() {
    let scenario = |random: &mut Philox, _agents: usize| Scenario {
        plan: Nanos::from_secs(300),
        faults: vec![Fault::CrashController { at: up_to(random, 20_000), back: None }],
        ..Scenario::default()
    };
    check(0..100, scenario, |world| {
        assert!(world.outcome.is_none());
        world.judge_orphans(world.controller_died.expect("it died"));
        world.fetch_rest();
        world.judge_archive();
    });
}

/// P4: a lost agent is noticed, with its share, phase and last interval.
#[test]
fn a_lost_agent_is_noticed_and_leaves_the_run_incomplete() {
    let scenario = |random: &mut Philox, agents: usize| {
        let at = ms(2_000) + up_to(random, 5_000);
        let faults = vec![Fault::Crash { agent: any(random, agents), at, back: None }];
        Scenario { plan: Nanos::from_secs(20), second_phase: Some(ms(4_000)), faults, ..Scenario::default() }
    };
    check(0..100, scenario, |world| {
        let outcome = world.outcome.clone().expect("it ends");
        assert_eq!(outcome.status, FleetStatus::Incomplete);
        let lost: Vec<_> = outcome.agents.iter().filter(|agent| agent.end == AgentEnd::Lost).collect();
        assert_eq!((lost.len(), outcome.losses.len()), (1, 1));
        let (at, loss) = &world.lost[0];
        assert_eq!(loss.name, lost[0].name);
        assert_eq!(loss.share, lost[0].share);
        let number = (0..world.hosts.len()).find(|number| name(*number) == loss.name).expect("of the fleet");
        let host = &world.hosts[number];
        let crashed = world.clocks[number].world(host.gone.expect("it crashed"));
        assert!(*at <= crashed.after(Nanos::from_secs(5)), "noticed after {}", *at - crashed);
        assert_eq!(loss.phase, Some(u16::from(loss.at >= ms(4_000))));
        assert_eq!(loss.last_interval.map_or(0, |last| last + 1), lost[0].intervals);
        for agent in outcome.agents.iter().filter(|agent| agent.end != AgentEnd::Lost) {
            assert_eq!(agent.end, AgentEnd::Sealed(EndCause::Plan));
        }
        world.fetch_rest();
        world.judge_archive();
    });
}

/// P5: loss × policy.
#[test]
fn a_loss_means_what_the_policy_says() {
    for (on_loss, expected) in [
        (LossPolicy::Incomplete, FleetStatus::Incomplete),
        // The first of three agents has a sixth of the load, and its share is rounded.
        (LossPolicy::Tolerate { percent: 20 }, FleetStatus::Tolerated),
        (LossPolicy::Tolerate { percent: 10 }, FleetStatus::Incomplete),
        (LossPolicy::Abort, FleetStatus::Aborted),
    ] {
        let scenario = |random: &mut Philox, _agents: usize| {
            let at = ms(2_000) + up_to(random, 5_000);
            let faults = vec![Fault::Crash { agent: 0, at, back: None }];
            Scenario { plan: Nanos::from_secs(20), on_loss, faults, ..Scenario::default() }
        };
        check(0..30, scenario, |world| {
            if world.hosts.len() == 3 {
                let outcome = world.outcome.as_ref().expect("it ends");
                assert_eq!(outcome.status, expected, "{on_loss:?}");
                let cut =
                    world.hosts[1].load_to < world.hosts[1].zero.map(|zero| zero.after(world.hosts[1].plan));
                assert_eq!(cut, on_loss == LossPolicy::Abort);
            }
        });
    }
}

/// P5: shares move only at the start of a phase, and only from an agent that cannot send any more.
#[test]
fn shares_of_a_lost_agent_go_to_the_others_at_the_next_phase() {
    let scenario = |random: &mut Philox, agents: usize| {
        let agent = any(random, agents);
        let fault = match random.below(4) {
            0 => Fault::Crash { agent, at: ms(5_000), back: None },
            // It returns with its spool.
            1 => Fault::Crash { agent, at: ms(5_000), back: Some(ms(20_000)) },
            2 => Fault::Cut { agent: Some(agent), from: ms(5_000), len: Nanos::from_secs(90) },
            _ => Fault::Suspend { agent, at: ms(5_000), len: Nanos::from_secs(80) },
        };
        let second_phase = Some(Nanos::from_secs(60));
        let plan = Nanos::from_secs(100);
        Scenario { plan, second_phase, rebalance: true, faults: vec![fault], ..Scenario::default() }
    };
    check(0..60, scenario, |world| {
        let outcome = world.outcome.clone().expect("it ends");
        if world.hosts.len() > 1 {
            assert_eq!(outcome.rebalanced, [1], "{outcome:?}");
            assert_eq!(world.rebalanced, [1]);
        }
        assert_eq!(outcome.status, FleetStatus::Incomplete);
        world.fetch_rest();
        world.judge_archive();
    });
}

/// P6, P7, P9: the controller dies at each record of its journal, and another one continues.
#[test]
fn a_controller_that_dies_at_any_record_is_continued() {
    for number in 0..12 {
        for durable in [false, true] {
            let scenario = |random: &mut Philox, _agents: usize| {
                let back = up_to(random, 10_000);
                let faults = vec![Fault::CrashAtRecord { number, durable, back }];
                Scenario { plan: Nanos::from_secs(20), faults, ..Scenario::default() }
            };
            check(0..4, scenario, |world| {
                let outcome = world.outcome.as_ref().expect("the run ends");
                assert!(
                    matches!(outcome.status, FleetStatus::Complete | FleetStatus::NotStarted),
                    "record {number}: {outcome:?}"
                );
                world.fetch_rest();
                world.judge_archive();
            });
        }
    }
}

/// P3, P9: a former owner that was suspended commands nothing.
#[test]
fn a_replaced_controller_is_not_obeyed() {
    let scenario = |random: &mut Philox, _agents: usize| {
        let faults = vec![Fault::ReplaceController {
            at: ms(3_000) + up_to(random, 5_000),
            len: ms(5_000) + up_to(random, 20_000),
        }];
        Scenario { plan: Nanos::from_secs(40), faults, ..Scenario::default() }
    };
    check(0..60, scenario, judge_complete);
}

/// P8: a broker that is away for less than the grace changes no load and no result.
#[test]
fn a_cut_shorter_than_the_grace_changes_nothing() {
    let scenario = |random: &mut Philox, agents: usize| {
        let agent = (random.below(2) == 0).then(|| any(random, agents));
        let cut = Fault::Cut { agent, from: ms(2_500) + up_to(random, 5_000), len: up_to(random, 28_000) };
        Scenario { plan: Nanos::from_secs(45), faults: vec![cut], ..Scenario::default() }
    };
    check(0..100, scenario, judge_complete);
}

/// P12: a full disk marks the run and does not touch the load.
#[test]
fn a_full_disk_marks_the_run_and_not_the_load() {
    let scenario = |random: &mut Philox, agents: usize| {
        let faults = vec![Fault::DiskFull { agent: any(random, agents), seq: random.below(5) }];
        Scenario { plan: Nanos::from_secs(8), faults, ..Scenario::default() }
    };
    check(0..60, scenario, |world| {
        let outcome = world.outcome.as_ref().expect("it ends");
        assert_eq!(outcome.status, FleetStatus::Incomplete);
        assert!(outcome.agents.iter().any(|agent| agent.unstored > 0));
        for host in &world.hosts {
            assert!(host.load_to.zip(host.zero).is_some_and(|(to, zero)| to >= zero.after(host.plan)));
        }
        world.judge_archive();
    });
}

/// P6: crashes around an interval, around the archive and around the end of a spool.
#[test]
fn what_a_disk_has_is_archived_whatever_process_dies() {
    let scenario = |random: &mut Philox, agents: usize| {
        let agent = any(random, agents);
        let fault = match random.below(4) {
            3 => Fault::ArchiveFails,
            0 => Fault::CrashAtInterval { agent, seq: random.below(6), stored: random.below(2) == 0 },
            1 => Fault::CrashAtArchive { durable: random.below(2) == 0 },
            _ => Fault::CrashAtDelete { agent, deleted: random.below(2) == 0 },
        };
        Scenario { plan: Nanos::from_secs(8), faults: vec![fault], ..Scenario::default() }
    };
    check(0..150, scenario, |world| {
        assert!(world.outcome.is_some(), "the run ends");
        world.fetch_rest();
        world.judge_archive();
    });
}
