//! `wavetank lab check` against this machine: it reports what is missing and what programs reject,
//! and creates nothing.

use std::path::Path;

use wavetank_testkit::{Outcome, Program, skip};

use crate::lab::place::{HOSTS, Place};

/// A point at which a started keeper would crash. A message in spite of it was known before the
/// start.
const CRASH: (&str, &str) = ("WAVETANK_LAB_CRASH", "locked");

/// Line 9 has a setting that no kernel has, and line 10 a program that no machine has.
const LACKING: &str = "\
networks:
  front: 10.91.0.0/24
hosts:
  app:
    role: server
    networks: [front]
    sysctls: {net.ipv4.wavetank_has_none: 1}
    services: [{command: {run: [no-such-program-of-wavetank]}}]
";

/// A file server with its own name and address, and the user's own configuration in line 14.
const OWN: &str = "\
networks:
  front: 10.91.0.0/24
  back: 10.91.1.0/24
hosts:
  load1: {role: load, networks: [front]}
  web:
    role: balancer
    networks: {front: {address: 10.91.0.9}, back: {}}
    files: {/etc/two.conf: {from: two.conf}}
    sysctls: {net.core.somaxconn: 4096}
    limits: {open_files: 2000}
    services: [{nginx: {listen: 8080, config: my.conf}}]
  app[1-2]: {role: server, networks: [back], services: [{serve: {listen: 8080}}]}
";

/// A configuration that is valid in that host only: its address, the lab's names, its file, folders
/// of a distribution.
const RIGHT: &str = "\
pid /run/nginx.pid;
error_log /var/log/nginx/wavetank-mine.log;
events {}
http {
  include /etc/two.conf;
  server {
    listen 10.91.0.9:8080;
    location / { proxy_pass http://app1.back:8080; }
    location /two { proxy_pass http://two; }
  }
}
";

fn own(test: &str, config: &str) -> Option<Place> {
    if Program::foreign("nginx").is_none() {
        skip(test, "nginx is not installed");
        return None;
    }
    let place = Place::new(test, OWN)?;
    place.file("two.conf", "upstream two { server app2:8080; }\n");
    place.file("my.conf", config);
    Some(place)
}

/// Checks that all of `parts` were reported.
#[track_caller]
fn reported(by: &Outcome, parts: &[&str]) {
    for part in parts {
        assert!(by.stderr.contains(part), "no `{part}`: {by}");
    }
}

#[test]
fn all_missing_features_are_reported_together() {
    let Some(place) = Place::new("lacks", LACKING) else { return };
    let parts = [
        "lab.yaml:9:",
        "no setting `net.ipv4.wavetank_has_none`",
        "[lab_setting]",
        "no program `no-such-program-of-wavetank`",
        "[lab_program]",
    ];
    let check = place.lab(&["check", "lab.yaml"]).run();
    reported(check.expect_exit(0), &parts);
    assert!(check.stderr.contains("this machine: ") && check.stdout.contains("  app  server"), "{check}");
    let json = place.lab(&["check", "lab.yaml", "--format", "json"]).run();
    let answer = json.expect_exit(0).json();
    assert_eq!((&answer["tried"], &answer["ok"]), (&true.into(), &true.into()), "{json}");
    let codes: Vec<_> =
        answer["lacking"].as_array().expect("a list").iter().map(|one| &one["code"]).collect();
    assert_eq!(codes, ["lab_setting", "lab_program"], "{json}");
    reported(place.lab(&["up", "lab.yaml"]).run().expect_exit(5), &parts);
    place.nothing_left("lab check");
}

#[test]
fn where_nothing_can_be_tried_the_file_is_judged() {
    let test = "where_nothing_can_be_tried_the_file_is_judged";
    let Some(place) = Place::new("untried", HOSTS) else { return };
    let Some(setpriv) = Program::foreign("setpriv") else { return skip(test, "`setpriv` is not installed") };
    let setpriv = setpriv.arguments()[0].clone();
    let powerless = |words: &[&str]| place.lab(words).under([&setpriv, "--bounding-set=-sys_admin"]).run();
    let check = powerless(&["check", "lab.yaml"]);
    reported(check.expect_exit(0), &["note: only the file was checked: ", "root"]);
    assert_eq!(check.stderr.lines().count(), 1, "{check}");
    assert!(check.stdout.contains("1 network, 3 hosts"), "{check}");
    let answer = powerless(&["check", "lab.yaml", "--format", "json"]).json();
    assert_eq!((&answer["tried"], &answer["lacking"]), (&false.into(), &serde_json::json!([])), "{answer}");
    let all = place.lab(&["check", "lab.yaml"]).run();
    assert_eq!(all.expect_exit(0).stderr, "", "{all}");
    place.nothing_left("lab check");
}

#[test]
fn a_configuration_is_tried_as_in_the_lab() {
    let Some(place) = own("tried", RIGHT) else { return };
    let check = place.lab(&["check", "lab.yaml"]).run();
    assert_eq!(check.expect_exit(0).stderr, "", "{check}");
    assert!(!Path::new("/var/log/nginx/wavetank-mine.log").exists(), "it was written on this machine");
    place.nothing_left("lab check");
}

#[test]
fn what_programs_do_not_accept_is_known_before_anything_is_made() {
    let wrong = [
        ("listen 10.91.0.9", "listen 10.91.0.8", "Cannot assign requested address"),
        ("app1.back", "app9.back", "host not found in upstream"),
        ("location /two", "locatoin /two", "(my.conf:9): unknown directive \"locatoin\""),
    ];
    for (number, (right, written, said)) in wrong.into_iter().enumerate() {
        let Some(place) = own(&format!("wrong{number}"), &RIGHT.replace(right, written)) else { return };
        let parts =
            ["lab.yaml:14:", "`nginx` on web does not accept its configuration", said, "[lab_config]"];
        reported(place.lab(&["check", "lab.yaml"]).run().expect_exit(2), &parts);
        let up = place.lab(&["up", "lab.yaml"]).environment(CRASH.0, CRASH.1).run();
        reported(up.expect_exit(2), &parts);
        place.nothing_left("a lab that was refused");
    }
}

#[test]
fn all_configurations_that_are_wrong_are_reported() {
    let two = "\
networks:
  front: 10.91.0.0/24
hosts:
  one: {networks: [front], services: [{haproxy: {listen: 80, config: one.cfg}}, {haproxy: {listen: 81, config: two.cfg, name: second}}]}
  two: {networks: [front], services: [{haproxy: {listen: 80, config: two.cfg}}]}
";
    if Program::foreign("haproxy").is_none() {
        return skip("all_configurations_that_are_wrong_are_reported", "haproxy is not installed");
    }
    let Some(place) = Place::new("all", two) else { return };
    place.file("one.cfg", "global\n  maxcon 7\n");
    place.file("two.cfg", "global\n  nbtread 7\n");
    let check = place.lab(&["check", "lab.yaml"]).run();
    let parts = ["`haproxy` on one", "`second` on one", "`haproxy` on two", "'maxcon'", "(two.cfg:2)"];
    reported(check.expect_exit(2), &parts);
    place.nothing_left("lab check");
}

#[test]
fn a_configuration_that_names_the_labs_own_folder_is_tried_inside() {
    let Some(place) = own("inside", RIGHT) else { return };
    // The folder exists only while the lab is up. The other error is therefore found when the lab
    // comes up, and undoes it.
    let folder = place.labs().join(&place.name).join("hosts/web/nginx");
    let text = format!("# {}\n{}", folder.display(), RIGHT.replace("location /two", "locatoin /two"));
    place.file("my.conf", &text);
    assert_eq!(place.lab(&["check", "lab.yaml"]).run().expect_exit(0).stderr, "");
    let up = place.lab(&["up", "lab.yaml"]).run();
    reported(up.expect_exit(2), &["lab.yaml:14:", "(my.conf:10)", "[lab_config]"]);
    place.nothing_left("a lab that was refused");
}
