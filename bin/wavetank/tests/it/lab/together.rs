//! Several commands that bring the same lab up or take it down simultaneously.

use std::fs::{self, File};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::Pid;
use wavetank_testkit::clock::poll_until;

use crate::lab::place::{HOSTS, Place};

const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn of_several_who_bring_up_one_lab_one_does() {
    let Some(place) = Place::new("race", HOSTS) else { return };
    for round in 0..3 {
        let all: Vec<_> = (0..4).map(|_| place.lab(&["up", "lab.yaml"]).start()).collect();
        let ended: Vec<_> = all.into_iter().map(|up| up.wait(PATIENCE)).collect();
        let (whole, refused): (Vec<_>, Vec<_>) = ended.iter().partition(|up| up.exit == Some(0));
        assert_eq!((whole.len(), refused.len()), (1, 3), "round {round}: {ended:#?}");
        for up in refused {
            assert!(up.expect_exit(5).stderr.contains("[lab_there]"), "{up}");
        }
        // The remaining lab is complete.
        assert_eq!(place.said("load1", "getent hosts app | wc -l"), "1");
        place.lab(&["down"]).run().expect_exit(0);
        place.nothing_left("down");
    }
}

#[test]
fn remains_that_another_command_removes_are_awaited() {
    let Some(place) = Place::new("awaited", HOSTS) else { return };
    let folder = place.labs().join(&place.name);
    fs::create_dir_all(&folder).expect("can be made");
    // The test takes the part of a `down` that holds the lock.
    let lock = File::create(folder.join("lock")).expect("can be made");
    flock(&lock, FlockOperation::NonBlockingLockExclusive).expect("no process holds it");
    let up = place.lab(&["up", "lab.yaml"]).start();
    poll_until(PATIENCE, || place.running("lab-keeper")).expect("it starts");
    // A keeper that waits for the lock sleeps again and again. One that does not has ended.
    let waits_or_ended = || match place.running("lab-keeper") {
        Some(keeper) => (sleeps(keeper) > 20).then_some(()),
        None => Some(()),
    };
    poll_until(PATIENCE, waits_or_ended).expect("it waits");
    drop(lock);
    up.wait(PATIENCE).expect_exit(0);
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

/// Returns how often a process gave up the processor to wait for something (proc(5)).
fn sleeps(process: Pid) -> u64 {
    let path = format!("/proc/{}/status", process.as_raw_nonzero());
    let status = fs::read_to_string(path).unwrap_or_default();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or_default()
}

/// Instants at which a command takes a lab down that another one brings up. Their distance grows,
/// so that some fall into every part of the start.
fn instants() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(Duration::from_millis(4)), |last| Some(*last * 4 / 3))
        .take_while(|at| *at < PATIENCE)
}

#[test]
fn a_lab_that_only_begins_can_be_taken_down() {
    let Some(place) = Place::new("early", HOSTS) else { return };
    let mut broken_off = 0;
    for instant in instants() {
        let up = place.lab(&["up", "lab.yaml"]).start();
        let whole = up.ends_within(instant);
        let down = place.lab(&["down"]).run();
        let up = up.wait(PATIENCE);
        match (down.exit, up.exit) {
            // The command that brought it up reports why it is gone.
            (Some(0), Some(5)) => {
                assert!(up.stderr.contains("[lab_keeper]"), "{up}");
                broken_off += 1;
            }
            // The lab was just complete, and gone before it could be reported.
            (Some(0), Some(2)) => {}
            // The same, or the folder was removed before the keeper had locked it. Then the lab
            // came up after that.
            (Some(0), Some(0)) => {
                let again = place.lab(&["down"]).run();
                assert!(matches!(again.exit, Some(0 | 2)), "{again}");
            }
            // Nothing had been created yet.
            (Some(2), Some(0)) => {
                assert!(down.stderr.contains("[lab_none]"), "{down}");
                place.lab(&["down"]).run().expect_exit(0);
            }
            _ => panic!("after {instant:?}: {down}{up}"),
        }
        // Both have ended. The second one may have found nothing to clean up before the first one
        // was finished.
        if poll_until(PATIENCE, || place.is_as_before().then_some(())).is_none() {
            place.nothing_left(&format!("{instant:?}"));
        }
        if whole {
            assert!(broken_off > 0, "no instant fell into the start");
            return;
        }
    }
    panic!("it never came up");
}

#[test]
fn of_several_who_take_a_lab_down_all_see_it_gone() {
    let Some(place) = Place::new("downs", HOSTS) else { return };
    place.up();
    let all: Vec<_> = (0..3).map(|_| place.lab(&["down"]).start()).collect();
    for down in all {
        let down = down.wait(PATIENCE);
        // A late command found no lab.
        assert!(matches!(down.exit, Some(0 | 2)), "{down}");
    }
    place.nothing_left("three of them");
}
