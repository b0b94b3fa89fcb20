//! Every lab in `examples/labs/` with its load, at the smallest size: checked, brought up, loaded,
//! counted, taken down.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use wavetank_testkit::{RunResult, Stamp, skip};

use crate::lab::place::{HOSTS, Place};

/// Options of each run that has no entry in [`SIZES`].
const SIZE: &str = "--scale 1/10 --speed 10x";

/// Options of the other examples.
const SIZES: [(&str, &str); 3] = [
    // The start of the sale is the shop's time, which no factor changes. The sale must open before
    // the first order, two seconds after the doors open. The stock must be smaller than the number
    // of buyers.
    ("flash-sale", "--scale 1/10 --speed 10x --set opens_in=1s --set stock=20"),
    ("haproxy-tcp", "--scale 1/40 --speed 10x"),
    ("hundred-thousand", "--scale 1/500 --speed 30x"),
];

/// A topology file with its load file.
struct Example {
    name: String,
    lab: PathBuf,
    load: PathBuf,
}

/// Returns all examples, by the files in the folder.
fn all() -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/labs");
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut labs: Vec<PathBuf> =
        files.map(|file| file.expect("readable").path()).filter(|path| is_lab(path)).collect();
    labs.sort();
    let example = |lab: PathBuf| {
        let name = lab.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let load = lab.with_file_name(format!("{name}-load.yaml"));
        assert!(load.is_file(), "{name} has no load of its own: {}", load.display());
        Example { name, lab, load }
    };
    labs.into_iter().map(example).collect()
}

fn is_lab(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml")
        && fs::read_to_string(path)
            .is_ok_and(|text| text.lines().any(|line| line.starts_with("wavetank_lab:")))
}

#[test]
fn every_example_does_what_it_is_there_for() {
    let all = all();
    assert!(all.len() >= 8, "{} labs", all.len());
    let began = Stamp::now();
    for example in &all {
        let own = Stamp::now();
        let Some(done) = example.check() else { return };
        println!("{}: {done} requests, {:.1} s", example.name, Stamp::now().since(own).as_secs_f64());
    }
    println!("{} labs: {:.1} s", all.len(), Stamp::now().since(began).as_secs_f64());
}

impl Example {
    /// Runs it from end to end and returns the number of requests done. Returns 0 if a program is
    /// missing, and `None` if this machine cannot have labs.
    fn check(&self) -> Option<u64> {
        let place = Place::new(&self.name, HOSTS)?;
        let (lab, load) = (self.lab.to_string_lossy(), self.load.to_string_lossy());
        // Programs accept their generated configuration before anything is created.
        let check = place.lab(&["check", &lab, "--format", "json"]).run();
        let reported = check.expect_exit(0).json();
        assert_eq!(reported["tried"], true, "{check}");
        if reported["lacking"] != Value::Array(Vec::new()) {
            skip(&format!("examples/labs/{}", self.name), &reported["lacking"][0]["message"].to_string());
            return Some(0);
        }
        place.nothing_left("lab check");
        place.lab(&["up", &lab, "--lab", &place.name]).run().expect_exit(0);
        let status = place.lab(&["status", "--format", "json"]).run().json();
        let size = SIZES.iter().find(|(name, _)| *name == self.name).map_or(SIZE, |(_, size)| size);
        let words =
            ["run", &lab, &load, "--lab", &place.name, "--runs-dir", "runs", "--quiet", "--format", "json"];
        let run = place.lab(&[&words, size.split(' ').collect::<Vec<_>>().as_slice()].concat()).run();
        let result = run.result();
        self.judge(result.conserved());
        hosts_were_looked_at(&result, &status["labs"][0]["hosts"]);
        servers_agree(&place, &result, &status["labs"][0]["hosts"]);
        place.lab(&["down"]).run().expect_exit(0);
        place.nothing_left(&self.name);
        Some(result.count("requests.done"))
    }

    /// Checks that clients saw what the load file states, except for times, since the machine may
    /// be busy.
    fn judge(&self, result: &RunResult) {
        let text = fs::read_to_string(&self.load).expect("it is there");
        let eventful = text.lines().any(|line| line.starts_with("events:"));
        let (done, failed) = (result.count("requests.done"), result.count("requests.failed"));
        assert!(done > 20 && result.count("requests.dropped") == 0, "{result}");
        if eventful {
            // Requests in flight at a killed server fail.
            assert!(failed <= done / 10, "{result}");
            let impacts = result.at("impacts").as_array().unwrap_or_else(|| panic!("no impacts: {result}"));
            assert!(impacts.len() > 1 && impacts.iter().all(|one| one["outcome"] == "undone"), "{result}");
        } else {
            assert_eq!(failed, 0, "{result}");
        }
        for threshold in result.at("thresholds").as_array().expect("each has some") {
            let expression = threshold["expr"].as_str().expect("a text");
            let of_time = expression.starts_with('p') || expression.starts_with("held");
            let of_failures = expression.starts_with("failed");
            assert!(threshold["ok"] == true || of_time || of_failures, "{}: {threshold}", self.name);
        }
        // Held connections may all be open only after the first second of their phase.
        for held in result.at("held").as_array().into_iter().flatten() {
            assert_eq!(held["planned"], *result.at("connections.peak"), "{result}");
        }
        let status = result.at("verdict.status");
        assert!(["pass", "fail", "invalid"].iter().any(|known| status == known), "{result}");
        // The checks after the load, and the counts of responses.
        let list = |path: &str| result.at(path).as_array().cloned().unwrap_or_default();
        assert!(list("after.checks").iter().all(|check| check["ok"] == true), "{result}");
        assert!(list("before.faults").is_empty() && list("after.faults").is_empty(), "{result}");
        let counts = result.at("counts").as_object().into_iter().flatten();
        assert!(counts.into_iter().all(|(_, count)| count.as_u64() > Some(0)), "{result}");
    }
}

/// Checks that every host of the lab is reported, and has sent something.
fn hosts_were_looked_at(result: &RunResult, up: &Value) {
    let reported = result.at("hosts").as_array().unwrap_or_else(|| panic!("no hosts: {result}"));
    let up = up.as_array().expect("hosts");
    let names = |hosts: &[Value]| hosts.iter().map(|host| host["name"].to_string()).collect::<Vec<_>>();
    assert_eq!(names(reported), names(up));
    for host in reported {
        assert!(host["seconds"].as_f64() > Some(0.0) && host["out_bytes"].as_u64() > Some(0), "{host}");
    }
}

/// Checks that servers and run count the same. The run asks some servers itself. Otherwise each
/// `wavetank serve` is asked here.
fn servers_agree(place: &Place, result: &RunResult, up: &Value) {
    let serves = |kind: &str| {
        let hosts = up.as_array().expect("hosts").iter();
        let has = |host: &&Value| {
            host["services"].as_array().into_iter().flatten().any(|service| service["name"] == kind)
        };
        hosts.filter(has).map(|host| host["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    if serves("haproxy").len() + serves("nginx").len() > 0 {
        let counted =
            result.at("servers").as_array().unwrap_or_else(|| panic!("no server was asked: {result}"));
        let mut compared = 0;
        for server in counted {
            for (own, runs) in [("requests", "run_requests"), ("connections", "run_connections")] {
                // Servers behind a balancer count only their share, and connections of `before` and
                // `after` are not counted.
                if !server[runs].is_null() {
                    assert_eq!(server[own], server[runs], "{result}");
                    compared += 1;
                }
            }
        }
        // It is unknown how many connections reached the servers among those that failed or were
        // still opening at the end.
        let unknown = result.count("connections.failed") + result.count("connections.opening");
        assert!(compared > 0 || unknown > 0, "nothing was compared with the run: {result}");
        return;
    }
    let target = result.at("target").as_str().expect("a URL").trim_end_matches('/');
    let port = target.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(80_u16);
    let requests = |host: &String| {
        let truth = place.said(host, &format!("curl -sf http://127.0.0.1:{port}/truth"));
        serde_json::from_str::<Value>(&truth).expect("/truth is JSON")["requests"].as_u64().expect("a count")
    };
    let counted: u64 = serves("serve").iter().map(requests).sum();
    assert_eq!(counted, result.sent_total(), "{result}");
}
