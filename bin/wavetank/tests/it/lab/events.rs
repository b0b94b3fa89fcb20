//! Faults and events during a load: they run at their time, are reverted whatever ends the run, and
//! appear in the record.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{JitterProbe, Program, Running, Signal, skip};

use crate::lab::felt::{reaches, reaches_text};
use crate::lab::place::Place;

/// A server that is killed in every run for a second and a half.
const LAB: &str = "\
networks:
  front: 10.93.0.0/24
hosts:
  load1: {role: load, networks: [front]}
  app1:
    role: server
    networks: [front]
    services:
      - serve: {listen: 8080, any: true}
faults:
  - {when: 2s, host: app1, kill: serve, for: 1500ms}
";

/// An experiment of `seconds` with these events.
fn experiment(seconds: u32, events: &str) -> String {
    format!(
        "wavetank: 1\nname: eventful\ntarget: http://app1:8080\nsteps: [{{get: /}}]\nhttp: {{timeout: 1s}}\n\
         phases:\n  - {{name: main, rate: 100/s, for: {seconds}s}}\nthresholds:\n  - failed < 95%\n\
         events:\n{events}"
    )
}

fn start(place: &Place, text: &str) -> Running {
    fs::write(place.labs().with_file_name("load.yaml"), text).expect("can be written");
    let words = ["run", "lab.yaml", "load.yaml", "--format", "json", "--runs-dir", "runs", "--quiet"];
    place.lab(&words).start()
}

#[test]
fn they_are_done_seen_and_taken_back() {
    let Some(place) = Place::new("events", LAB) else { return };
    place.up();
    let note = "  - {when: 6s, host: \"app[1]\", run: echo begun >> /run/history, undo: echo back >> /run/history}\n  \
                - {when: 7s, host: app1, run: no-such-program, undo: \"true\"}\n  \
                - {when: 10m, host: app1, run: fault cut}\n";
    let witness = JitterProbe::start();
    // Recovery requires 3 s without trouble for clients, which a busy machine reaches late.
    let done = start(&place, &experiment(14, note)).wait(Duration::from_mins(1));
    let record = done.expect_exit(0).json();
    assert_eq!(place.said("app1", "cat /run/history"), "begun\nback");
    let impacts = record["impacts"].as_array().unwrap_or_else(|| panic!("no impacts: {done}")).clone();
    let reported: Vec<(&str, &str)> = impacts
        .iter()
        .map(|one| (one["what"].as_str().unwrap_or_default(), one["outcome"].as_str().unwrap_or_default()))
        .collect();
    let expected = [
        ("kill serve", "undone"),
        ("echo begun >> /run/history", "undone"),
        ("no-such-program", "failed"),
        ("cut", "not_reached"),
    ];
    assert_eq!(reported, expected, "{record}");
    let first = &impacts[0];
    let at = |name: &str| first[name].as_f64().unwrap_or_else(|| panic!("no {name}: {first}"));
    assert!((2.0..3.0).contains(&at("from_s")) && at("until_s") - at("from_s") >= 1.4, "{first}");
    assert!(at("hurt_s") >= 1.0 && first["during"]["failed"].as_u64() > Some(50), "{first}");
    assert_eq!(first["before"]["failed"], 0, "{first}");
    let recovers = ["after", "during"].contains(&first["recovery"].as_str().unwrap_or_default());
    let lateness = witness.end();
    if !recovers && lateness.is_noisy() {
        place.lab(&["down"]).run().expect_exit(0);
        return skip(
            "they_are_done_seen_and_taken_back",
            &format!("this machine is too noisy for it ({lateness:?})"),
        );
    }
    assert!(recovers, "{first}");
    assert!(record["notes"].to_string().contains("around `kill serve` on app1"), "{record}");
    // The archive alone gives the same result.
    let runs = fs::read_dir(place.labs().with_file_name("runs")).expect("there are runs");
    let folder = runs.map(|run| run.expect("readable").path()).max().expect("there is one");
    fs::remove_file(folder.join("run.json")).expect("it is there");
    let wavetank = wavetank_testkit::Program::new(env!("CARGO_BIN_EXE_wavetank"));
    let again = wavetank.args(["report", &folder.to_string_lossy(), "--format", "json"]).run().json();
    assert_eq!(again["impacts"], Value::Array(impacts), "{again}");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn whatever_ends_the_run_they_are_taken_back() {
    // Long enough to be seen by a client on a busy machine.
    let lab = LAB.replace("for: 1500ms", "for: 3s");
    let Some(place) = Place::new("events-end", &lab) else { return };
    place.up();
    // Events are reverted in reverse order. Otherwise the file would contain "one" at the end.
    let lasting = experiment(
        600,
        "  - {when: 8s, host: app1, run: echo one > /run/now, undo: echo none > /run/now}\n  \
           - {when: 8s, host: app1, run: echo two > /run/now, undo: echo one > /run/now}\n  \
           - {when: 8s, host: app1, run: fault pause}\n",
    );
    let now = || place.said("app1", "cat /run/now");
    for signal in [Signal::INT, Signal::KILL] {
        let run = start(&place, &lasting);
        // The kill comes first and ends by itself.
        reaches(&place, "000", "while it is killed");
        reaches(&place, "200", "after it was killed");
        reaches(&place, "000", "while it is paused");
        reaches_text(now, "two", "after both commands");
        run.signal(signal);
        let ended = run.wait(Duration::from_mins(1));
        if signal == Signal::INT {
            let impacts = &ended.expect_exit(130).json()["impacts"];
            assert_eq!(impacts[3]["outcome"], "undone", "{impacts}");
        }
        reaches_text(now, "none", "after the run");
        reaches(&place, "200", "after the run");
    }
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn nothing_is_started_again_for_the_end_of_a_killed_run() {
    let starts = tempfile::NamedTempFile::new().expect("temporary files can be made");
    let command = format!(
        "      - command: {{run: 'echo begun >> {}; exec sleep 1000'}}\nfaults:\n",
        starts.path().display()
    );
    let Some(place) = Place::new("events-owner", &LAB.replace("faults:\n", &command)) else { return };
    let run = start(&place, &experiment(60, "  - {when: 3s, host: app1, run: fault kill command}\n"));
    let killed = || {
        let status = place.lab(&["status", "--format", "json"]).run().json();
        let services = status["labs"][0]["hosts"][1]["services"].as_array().cloned().unwrap_or_default();
        services.iter().any(|one| one["name"] == "command" && one["state"] == "failed").then_some(())
    };
    assert!(poll_until(Duration::from_mins(1), killed).is_some(), "it is never killed: {}", run.stderr());
    run.signal(Signal::KILL);
    run.wait(Duration::from_mins(1));
    poll_until(Duration::from_mins(1), || place.is_as_before().then_some(()));
    place.nothing_left("a run that was killed");
    assert_eq!(fs::read_to_string(starts.path()).expect("it is there"), "begun\n");
}

#[test]
fn what_cannot_be_done_is_reported_before_anything_is_sent() {
    let Some(place) = Place::new("events-bad", LAB) else { return };
    place.up();
    for (event, reported) in [
        ("{when: 1s, host: app2, run: reboot}", "did you mean app1?"),
        ("{when: 1s, host: app1, run: fault kill nginx}", "one of: serve"),
    ] {
        let refused = start(&place, &experiment(1, &format!("  - {event}\n"))).wait(Duration::from_mins(1));
        assert!(refused.expect_exit(2).stdout.contains(reported), "{refused}");
        assert!(!place.labs().with_file_name("runs").exists(), "no archive without a run");
    }
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn what_this_machine_cannot_do_is_reported_before_the_lab_is_made() {
    let Some(place) = Place::new("events-lack", LAB) else { return };
    place.file("load.yaml", &experiment(1, "  - {when: 1s, host: app1, run: fault drop 5%}\n"));
    let run = place.lab(&["run", "lab.yaml", "load.yaml", "--runs-dir", "runs", "--quiet"]);
    // Replaces nft with a program that does nothing, for this command only.
    let hide = "mount --bind /bin/false \"$(readlink -f \"$(command -v nft)\")\" && exec \"$@\"";
    let unshare = Program::foreign("unshare").expect("it comes with mount");
    let words = run.arguments().to_vec();
    let words = ["--mount", "sh", "-c", hide, "sh"].into_iter().chain(words.iter().map(String::as_str));
    let folder = place.labs().with_file_name("");
    let hidden = unshare.args(words.collect::<Vec<_>>()).in_folder(&folder);
    let reported = hidden.environment("WAVETANK_LABS", &place.labs().to_string_lossy()).run();
    assert!(reported.expect_exit(5).stderr.contains("[lab_kernel]"), "{reported}");
    place.nothing_left("a run that was rejected");
}
