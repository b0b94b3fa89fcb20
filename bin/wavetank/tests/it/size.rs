//! `wavetank size`: the needs of a load, as text and as JSON, and one clear line for wrong
//! arguments.

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Outcome, Program, TestDir};

fn size(line: &str) -> Outcome {
    let words: Vec<&str> = std::iter::once("size").chain(line.split_whitespace()).collect();
    Program::new(env!("CARGO_BIN_EXE_wavetank")).args(&words).environment("COLUMNS", "80").run()
}

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}.yaml", env!("CARGO_MANIFEST_DIR"))
}

/// Checks the values of answers by `role.what`, and of hosts by `hosts.ROLE`.
#[track_caller]
fn check(line: &str, expected: &[(&str, f64)]) -> serde_json::Value {
    let reported = size(&format!("{line} --format json"));
    reported.expect_exit(0);
    let json = reported.json();
    assert_eq!(json["schema"], "wavetank.size/1", "{reported}");
    for &(name, value) in expected {
        let (role, what) = name.split_once('.').unwrap_or(("", name));
        let found = if role == "hosts" {
            let all = json["hosts"].as_array().expect("a list");
            all.iter().find(|one| one["role"] == what).and_then(|one| one["needed"].as_f64())
        } else {
            let all = ["asked", "answers"].map(|list| json[list].as_array().expect("a list").iter());
            let mut all = all.into_iter().flatten();
            all.find(|one| one["role"] == role && one["what"] == what).and_then(|one| one["value"].as_f64())
        };
        assert_eq!(found, Some(value), "{name} of {line}: {reported}");
    }
    json
}

/// Checks for exit 2 and one line with one hint, as text and as JSON.
#[track_caller]
fn refused(line: &str, mention: &str) {
    let reported = size(line);
    reported.expect_exit(2);
    assert_eq!(reported.stdout, "", "{reported}");
    let lines = |start: &str| reported.stderr.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((lines("error: "), lines("hint: ")), (1, 1), "{reported}");
    assert!(reported.stderr.contains(mention), "{mention}: {reported}");
    let json = size(&format!("{line} --format json"));
    json.expect_exit(2);
    assert_eq!(json.json()["schema"], "wavetank.error/1", "{json}");
}

#[test]
fn known_cases_come_out_again() {
    let twenty = [("connections", 1e6), ("load.connections_by_ports", 1.28e6), ("balancer.established", 2e6)];
    let json = check("-r 10k/s --hold 100s --hosts load=20 --ports 64k --balancer proxy", &twenty);
    assert_eq!(json["lacking"].as_array().expect("a list").len(), 0);
    let json = check("-c 3.48M --ports 64k --backends 2", &[("balancer.connections_by_ports", 128e3)]);
    assert_eq!(json["lacking"][0]["code"], "no_backend_ports", "{json}");
    let seventy = [("balancer.established", 6.96e6), ("balancer.backend_tuples", 70.0)];
    check("-c 3.48M --ports 15000-65000 --balancer proxy", &seventy);
    let json = check("-r 5M/s --capacity load=40k/s --hosts load=7", &[("hosts.load", 125.0)]);
    assert_eq!(json["lacking"][0]["code"], "too_few_hosts", "{json}");
    let words = size("-r 5M/s --capacity load=40k/s --hosts load=7");
    assert!(
        words.stdout.contains("7 hosts in the role load × 40,000/s = 280,000/s, not 5,000,000/s"),
        "{words}"
    );
}

#[test]
fn words_and_files_that_say_the_same_take_the_same() {
    let line = "-c 1M -r 16639/s --open-rate 10k/s --close rst";
    let by_words = check(line, &[("load.source_addresses", 17.0), ("in_flight", 1_664.0)]);
    let file = example("lb-million");
    let by_file =
        check(&file, &[("connections", 1e6), ("load.source_addresses", 17.0), ("opening_per_s", 1e4)]);
    for what in ["memory_each", "source_addresses"] {
        let of = |json: &serde_json::Value| {
            let all = json["answers"].as_array().expect("a list");
            all.iter().filter(|one| one["what"] == what).map(|one| one["value"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(of(&by_words), of(&by_file), "{what}");
    }
    check(&example("lb-million-by-rate"), &[("connections", 1e6), ("opens_per_s", 1e4), ("in_flight", 1e6)]);
    check(&example("haproxy-7m"), &[("connections", 3.48e6), ("opening_per_s", 2e4)]);
    // A closed loop in effect, since there are no more users than arrivals.
    check(&example("tsung-static"), &[("connections", 15_000.0)]);
    check(&format!("{file} --scale 1/1000"), &[("connections", 1_000.0)]);
}

/// Examples and many arguments: all lines fit their width, and every part is there.
#[test]
fn the_text_is_whole_and_narrow() {
    let mut lines: Vec<String> =
        ["flash-sale", "haproxy-7m", "nginx-million", "shapes"].map(example).to_vec();
    lines.push(
        "-r 1M/s -c 1M --hold 100s --capacity balancer=270k/s --capacity server=140k/s --spare 1".to_owned(),
    );
    lines.push("-r 1G/s -c 1G --answer-bytes 1GB --balancer direct --link 10Gbit/s --memory 1GiB".to_owned());
    lines.push("https://shop.example/ -r 50k/s --no-keepalive -d 1h".to_owned());
    for line in lines {
        let reported = size(&line);
        reported.expect_exit(0);
        for shown in reported.stdout.lines() {
            assert!(shown.chars().count() <= 80 && !shown.ends_with(' '), "{line}: {shown}");
        }
        for part in ["asked ", "hosts ", "ports ", "memory ", "compare ", "defaults ", "least fs.file-max "] {
            assert!(reported.stdout.contains(part), "{line} has no {part}: {reported}");
        }
    }
}

#[test]
fn wrong_words_are_reported_in_one_line() {
    for (line, mention) in [
        ("", "no option sets the load"),
        ("--hold 5s", "no option sets how much"),
        ("-r 1", "needs a unit"),
        ("-c 1M -r 1M/s --service 3s", "3,000,000 connections busy"),
        ("--set a=b -c 1", "--set needs an experiment file"),
        ("-c 1 --threshold p99<1s", "does not support --threshold"),
        ("-c 1 --thread 3", "no option"),
        ("-c 1 --capacity foo=1/s", "not a role"),
        ("-c 1 --hosts load", "not a role and a number"),
        ("-c 1 --ports 9-8", "not a range"),
        ("-c 1 --link 10GB", "not a unit of a link"),
        ("-c 1 --memory 64G", "not a unit of a size"),
        ("-c 1 --balancer haproxy", "not one of none, proxy, direct"),
        ("-c 1 --source auto", "depends on hosts"),
        ("-c 1 --request-bytes 5B -X PUT", "both set the size"),
        ("-c 1 --no-keepalive --requests-per-connection 4", "exclude each other"),
        ("-r 1/s --open-rate 5/s", "needs -c"),
        ("http://127.0.0.1/ -c 1 --tls 1.3", "means nothing without TLS"),
        ("http://127.0.0.1/ -c 1 --scale 1/2", "--scale needs an experiment file"),
        ("nowhere.yaml", "no such file"),
    ] {
        refused(line, mention);
    }
    refused(&format!("{} --hold 5s", example("lb-million")), "--hold has no effect");
}

/// `size` reports mistakes in a file as `check` does.
#[test]
fn mistakes_in_a_file_are_reported_with_their_places() {
    let place = TestDir::new();
    let file = place.write("x.yaml", "wavetank: 1\ntarget: http://127.0.0.1\nphases: [{hold: 5}]\n");
    let reported = size(&file);
    reported.expect_exit(2);
    assert!(reported.stderr.contains("x.yaml:3") && reported.stdout.is_empty(), "{reported}");
    let named = place.write(
        "y.yaml",
        "wavetank: 1\ntarget: http://127.0.0.1\nsources: [127.1.0.0/30]\nphases: [{hold: 0 to 300k, at: 10k/s}]\n",
    );
    let json = check(&named, &[("load.connections_by_sources", 120_962.0), ("load.source_addresses", 5.0)]);
    assert_eq!(json["lacking"][0]["code"], "no_source_address", "{json}");
}

/// The connections of one address by `size` are those that `plan` finds on a host with that port
/// range and no listening sockets.
#[test]
fn ports_are_those_that_a_load_finds() {
    if !NetNs::available("ports_are_those_that_a_load_finds") {
        return;
    }
    let place = TestDir::new();
    let file = place.write(
        "x.yaml",
        "wavetank: 1\ntarget: http://127.0.0.1:99\nsources: [127.0.0.1-3]\nphases: [{hold: 0 to 100k, at: 10k/s}]\n",
    );
    let script = format!(
        "ip link set lo up; echo 1024 65535 > /proc/sys/net/ipv4/ip_local_port_range; \
         \"$0\" plan {file} --format json"
    );
    let reported = NetNs::shell(env!("CARGO_BIN_EXE_wavetank"), &script).run();
    reported.expect_exit(0);
    let json = reported.json();
    let needs = json["needs"].as_array().expect("a list");
    let ports = needs.iter().find(|need| need["what"] == "source_ports").expect("ports are needed");
    let available = ports["available"].as_f64().expect("a number");
    check(&file, &[("load.connections_by_sources", available), ("connections", 100_000.0)]);
}

/// The columns of a file that holds connections have their number.
#[test]
fn a_file_is_compared_by_the_connections_that_it_holds() {
    let reported = size(&example("lb-million"));
    let heads = reported.expect_exit(0).stdout.lines().find(|line| line.starts_with("compare"));
    let heads: Vec<&str> = heads.unwrap_or_default().split("  ").filter(|part| !part.is_empty()).collect();
    assert_eq!(
        heads.iter().map(|head| head.trim()).collect::<Vec<_>>(),
        ["compare", "1M online", "1M a second", "as asked"]
    );
}
