//! Services, and labs, that end during a run.

use std::fs;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use wavetank_testkit::{expect_time, poll_until, retry_timing};

use crate::lab::place::Place;

const LAB: &str = "\
networks: {front: 10.91.0.0/24}
hosts:
  load1: {role: load, networks: [front]}
  app1:
    networks: [front]
    services:
      - serve: {listen: 8080}
      - command: {name: weak, run: 'read line < /run/end; kill -TERM $$; sleep 60'}
    files: {/run/keep: ''}
";

/// Longer than anything takes here.
const LIMIT: Duration = Duration::from_mins(2);

/// Waits until a part of the load was recorded.
#[track_caller]
fn under_load(place: &Place) {
    let runs = place.labs().with_file_name("runs");
    let recorded = || {
        let runs = fs::read_dir(&runs).ok()?.flatten();
        let mut files = runs.flat_map(|run| fs::read_dir(run.path().join("intervals"))).flatten().flatten();
        files.any(|file| file.metadata().is_ok_and(|file| file.len() > 0)).then_some(())
    };
    poll_until(LIMIT, recorded).expect("the load has begun");
}

#[test]
fn a_service_that_is_killed_is_in_the_report() {
    let Some(place) = Place::new("died", &LAB.replace("'read", "'mkfifo /run/end; read")) else { return };
    place.up();
    let url = "http://app1:8080/";
    let run = |length| {
        let words =
            ["run", "lab.yaml", url, "-r", "20/s", "-d", length, "--format", "json", "--runs-dir", "runs"];
        place.lab(&words)
    };
    let running = run("10m").start();
    under_load(&place);
    place.said("app1", "echo now > /run/end");
    let failed = || place.lab(&["status"]).run().stdout.contains("failed").then_some(());
    poll_until(LIMIT, failed).expect("the service has ended");
    running.signal(Signal::INT);
    let reported = running.wait(LIMIT);
    let record = reported.expect_exit(130).json();
    let notes: Vec<&str> =
        record["notes"].as_array().into_iter().flatten().filter_map(|note| note.as_str()).collect();
    let note = notes.iter().find(|note| note.starts_with("app1/weak ended at ")).expect("it is in the notes");
    assert!(note.ends_with(" of the run: signal: 15 (SIGTERM)"), "{note}");
    let events = record["events"].as_array().expect("a list");
    assert!(events.iter().any(|event| event["kind"] == "service_ended"), "{events:?}");
    // A fault ends a service on purpose, which the report shows as an event of the plan.
    place.lab(&["fault", "app1", "kill", "serve", "--for", "100ms"]).run().expect_exit(0);
    retry_timing(|| {
        let again = run("1s").run();
        // One request that is a second late makes so few invalid.
        expect_time(again.exit != Some(3), || format!("{again}"))?;
        assert!(!again.expect_exit(0).stdout.contains(" ended at "), "{again}");
        Ok(())
    });
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("lab down");
}

#[test]
fn a_run_ends_with_its_lab() {
    let Some(place) = Place::new("gone", LAB.split("      - command").next().expect("a part")) else {
        return;
    };
    place.up();
    let run = ["run", "lab.yaml", "http://app1:8080/", "-r", "20/s", "-d", "10m", "--runs-dir", "runs"];
    let running = place.lab(&run).start();
    under_load(&place);
    kill_process(place.keeper(), Signal::KILL).expect("it is there");
    // Ten minutes were planned.
    let reported = running.wait(LIMIT);
    reported.expect_exit(4);
    assert!(reported.stderr.contains("which ends the run"), "{reported}");
    assert!(reported.stdout.contains("the lab was taken down while the run went on"), "{reported}");
    let gone =
        poll_until(Duration::from_mins(1), || place.lab(&["down"]).run().exit.filter(|exit| *exit == 0));
    assert!(gone.is_some(), "its remains stay");
    place.nothing_left("lab down");
}
