//! Killed at every point at which something is created or removed: the next command cleans up what
//! is left.

use std::time::Duration;

use rustix::process::{Signal, kill_process};
use wavetank_lab::crash::{FALLING, RISING};
use wavetank_testkit::clock::poll_until;
use wavetank_testkit::skip;

use crate::lab::place::{HOSTS, Place};

const PATIENCE: Duration = Duration::from_mins(1);
/// Most rounds of signals. At least one signal must arrive while the lab is coming up.
const ROUNDS_MAX: u32 = 20;
const CRASH: &str = "WAVETANK_LAB_CRASH";

/// The keeper is killed at `point` while the lab comes up. The command that requested the lab
/// cleans up.
fn keeper_killed_rising(place: &Place, point: &str) {
    let up = place.lab(&["up", "lab.yaml"]).environment(CRASH, point).run();
    assert!(up.expect_exit(5).stderr.contains("[lab_keeper]"), "{point}: {up}");
    place.nothing_left(point);
}

/// Both are killed. `down` cleans up, and so does another `up`.
fn all_killed_rising(place: &Place, point: &str, next_up: bool) {
    let up = place.lab(&["up", "lab.yaml"]).environment(CRASH, &format!("{point},orphaned")).run();
    assert_eq!(up.signal, Some(Signal::KILL.as_raw()), "{point}: {up}");
    let status = place.lab(&["status"]).run();
    assert!(status.expect_exit(0).stdout.contains(": dead"), "{point}: {status}");
    if next_up {
        place.up();
    }
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left(point);
}

#[test]
fn a_keeper_killed_while_it_raises_the_lab_leaves_nothing() {
    let Some(place) = Place::new("rising", HOSTS) else { return };
    for point in RISING {
        keeper_killed_rising(&place, point);
    }
}

#[test]
fn what_everybody_who_knew_of_it_left_is_found() {
    let Some(place) = Place::new("orphan", HOSTS) else { return };
    for (index, point) in RISING.into_iter().enumerate() {
        all_killed_rising(&place, point, index % 3 == 2);
    }
}

#[test]
fn a_keeper_killed_while_it_takes_the_lab_down_leaves_nothing() {
    let Some(place) = Place::new("falling", HOSTS) else { return };
    for point in FALLING {
        place.lab(&["up", "lab.yaml"]).environment(CRASH, point).run().expect_exit(0);
        place.lab(&["down"]).run().expect_exit(0);
        place.nothing_left(point);
    }
}

#[test]
fn a_down_that_is_killed_is_finished_by_the_keeper_or_the_next_one() {
    let Some(place) = Place::new("asking", HOSTS) else { return };
    place.up();
    let down = place.lab(&["down"]).environment(CRASH, "asked").run();
    assert_eq!(down.signal, Some(Signal::KILL.as_raw()), "{down}");
    // Its folder is removed before the keeper's own process ends.
    poll_until(PATIENCE, || place.is_as_before().then_some(()));
    place.nothing_left("asked");
    place.up();
    kill_process(place.keeper(), Signal::KILL).expect("root may");
    let down = place.lab(&["down"]).environment(CRASH, "swept").run();
    assert_eq!(down.signal, Some(Signal::KILL.as_raw()), "{down}");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("swept");
}

#[test]
fn a_lab_dies_with_its_keeper() {
    let Some(place) = Place::new("keeper", HOSTS) else { return };
    place.up();
    // Commands in a host end with it.
    let exec = place.lab(&["exec", "app", "--", "sleep", "1000"]).start();
    let status = place.lab(&["status", "--format", "json"]).run().json();
    let pid = status["labs"][0]["hosts"][0]["pid"].to_string();
    kill_process(place.keeper(), Signal::KILL).expect("root may");
    assert!(exec.ends_within(PATIENCE), "its command has been killed");
    let gone =
        poll_until(PATIENCE, || (!std::path::Path::new(&format!("/proc/{pid}/fd/0")).exists()).then_some(()));
    assert!(gone.is_some(), "process {pid} is there");
    let status = place.lab(&["status"]).run();
    assert!(status.expect_exit(0).stdout.contains(": dead"), "{status}");
    let refused = place.lab(&["exec", "app", "--", "true"]).run();
    assert!(refused.expect_exit(5).stderr.contains("[lab_host_dead]"), "{refused}");
    // The name is free again without a `down`.
    place.up();
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

/// Instants at which a start is interrupted. Their distance grows, so that some fall into every
/// part of it on a fast or slow machine.
fn instants() -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(Duration::from_millis(4)), |last| Some(*last * 5 / 4))
        .take_while(|at| *at < PATIENCE)
}

#[test]
fn killed_at_any_instant_it_leaves_nothing() {
    let Some(place) = Place::new("instant", HOSTS) else { return };
    for instant in instants() {
        let up = place.lab(&["up", "lab.yaml"]).start();
        let whole = up.ends_within(instant);
        if let Some(keeper) = place.running("lab-keeper") {
            // It may just have ended because the lab failed.
            let _ = kill_process(keeper, Signal::KILL);
        }
        drop(up);
        // There is no lab to take down if nothing was created yet.
        let down = place.lab(&["down"]).run();
        assert!(matches!(down.exit, Some(0 | 2)), "after {instant:?}: {down}");
        // A keeper that was not visible yet reverts its work once it finds that no process waits
        // for it.
        poll_until(PATIENCE, || place.is_as_before().then_some(()));
        place.nothing_left(&format!("{instant:?}"));
        if whole {
            return;
        }
    }
    panic!("it never came up");
}

#[test]
fn interrupted_at_any_instant_it_is_undone() {
    let Some(place) = Place::new("signal", HOSTS) else { return };
    let mut undone = 0;
    // If the machine pauses, all signals of a round may arrive before the handler is installed, or
    // too late.
    for round in 1.. {
        if round > ROUNDS_MAX {
            return skip("interrupted_at_any_instant_it_is_undone", "no signal arrived during a start");
        }
        let whole = instants().any(|instant| interrupted_at(&place, instant, &mut undone));
        assert!(whole, "it never came up");
        if undone > 0 {
            return;
        }
    }
}

/// Returns whether the lab was complete before the signal came, after `instant`. Counts interrupted
/// starts in `undone`.
fn interrupted_at(place: &Place, instant: Duration, undone: &mut usize) -> bool {
    let up = place.lab(&["up", "lab.yaml"]).start();
    up.ends_within(instant);
    up.signal(Signal::INT);
    let up = up.wait(PATIENCE);
    let whole = match (up.exit, up.signal) {
        (Some(0), None) => {
            place.lab(&["down"]).run().expect_exit(0);
            true
        }
        (Some(130), None) => {
            assert!(up.stderr.contains("[lab_interrupted]"), "{up}");
            *undone += 1;
            false
        }
        // The signal came before the handler was installed, when nothing had been created yet.
        (None, Some(signal)) if signal == Signal::INT.as_raw() => false,
        _ => panic!("{up}"),
    };
    place.nothing_left(&format!("{instant:?}: {up}"));
    whole
}
