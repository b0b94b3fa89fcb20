//! The user's own configurations: what programs and the machine say of them before a run.

use std::fs;
use std::path::Path;

use wavetank_testkit::{Program, Signal, expect_time, retry_timing, skip};

use crate::lab::own::{front, lab, place};
use crate::lab::place::Place;

const PULSE: std::time::Duration = std::time::Duration::from_millis(5);

#[test]
fn why_a_program_does_not_start_is_reported_with_its_line() {
    let test = "own-bind";
    let Some(place) = place(test, "haproxy", "{haproxy: {listen: 8080, config: my.cfg}}") else { return };
    place.file("my.cfg", &front("", "10.91.7.7:8080"));
    let up = place.lab(&["up", "lab.yaml"]).run();
    up.expect_exit(5);
    let said = "(my.cfg:7): Binding for frontend fe: cannot bind socket (Cannot assign requested address) for [10.91.7.7:8080] [lab_start]";
    assert!(up.stderr.contains(said), "{up}");
    assert!(up.stderr.contains("hint: correct your file given by `config`"), "{up}");
    place.nothing_left("a lab that was refused");
}

#[test]
fn a_maxconn_beyond_the_hosts_files_is_reported_with_the_largest() {
    let test = "own-maxconn";
    let limited = "{haproxy: {listen: 8080, config: my.cfg}}]\n    limits: {open_files: 2000}\n    sysctls: {}\n    routes: [";
    let Some(place) = place(test, "haproxy", limited) else { return };
    let reported = |config: &str| {
        place.file("my.cfg", config);
        place.lab(&["check", "lab.yaml"]).run()
    };
    let more = reported(&front("global\n  nbthread 2\n  maxconn 5000\n", ":8080"));
    more.expect_exit(2);
    for part in
        ["`maxconn 5000` (my.cfg:3) needs 10,017 open files", "may open 2,000", "use at most maxconn 991,"]
    {
        assert!(more.stderr.contains(part), "no `{part}`: {more}");
    }
    let files = reported(&front("global\n  ulimit-n 3000\n", ":8080"));
    assert!(files.expect_exit(2).stderr.contains("use at most ulimit-n 2000,"), "{files}");
    // HAProxy agrees that this is the largest.
    let most = reported(&front("global\n  nbthread 2\n  maxconn 991\n", ":8080"));
    assert_eq!(most.expect_exit(0).stderr, "", "{most}");
    place.up();
    place.lab(&["down"]).run().expect_exit(0);
    let beyond = front("global\n  no strict-limits\n  maxconn 5000\n", ":8080");
    reported(&beyond).expect_exit(0);
    place.nothing_left("lab down");
}

#[test]
fn warnings_of_a_program_are_shown() {
    let test = "own-warnings";
    let Some(place) = place(test, "haproxy", "{haproxy: {listen: 8080, config: my.cfg}}") else { return };
    place.file("my.cfg", "frontend fe\n  mode http\n  bind :8080\n  http-request return status 200\n");
    let said =
        "warning: lab.yaml:9:49: `haproxy` on lb1 warns (my.cfg): missing timeouts for frontend 'fe'. ";
    let check = place.lab(&["check", "lab.yaml"]).run();
    assert!(check.expect_exit(0).stderr.starts_with(said), "{check}");
    let json = place.lab(&["check", "lab.yaml", "--format", "json"]).run();
    assert_eq!(json.expect_exit(0).json()["warnings"].as_array().map(Vec::len), Some(1), "{json}");
    let up = place.up();
    assert!(up.stderr.starts_with(said), "{up}");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("lab down");
}

#[test]
fn hosts_may_have_dots_in_their_names() {
    let test = "own-dots";
    let dotted = "\
networks: {front: 10.91.0.0/24}
hosts:
  load1: {role: load, networks: [front]}
  lb1: {role: balancer, networks: [front], services: [{haproxy: {listen: 8080, config: my.cfg}}]}
  app-0.shop.example:
    role: server
    networks: [front]
    virtual: [{address: 10.91.0.99, on: front, name: db.shop.example}]
    services: [{serve: {listen: 8080, any: true}}]
";
    if Program::foreign("haproxy").is_none() {
        return skip(test, "haproxy is not installed");
    }
    let Some(place) = Place::new(test, dotted) else { return };
    let config = |name: &str| {
        front("", ":8080").replace(
            "  http-request return status 200\n",
            &format!("  default_backend be\nbackend be\n  server s0 {name}:8080\n"),
        )
    };
    place.file("my.cfg", &config("app-1.shop.example"));
    let check = place.lab(&["check", "lab.yaml"]).run();
    check.expect_exit(2);
    for part in
        ["(my.cfg:10): 'server be/s0' : could not resolve address 'app-1.shop.example'", "dots included"]
    {
        assert!(check.stderr.contains(part), "no `{part}`: {check}");
    }
    place.file("my.cfg", &config("app-0.shop.example"));
    // A shell stops and continues a job. That is no interrupt.
    let check = place.lab(&["check", "lab.yaml"]).start();
    while !check.ends_within(PULSE) {
        check.signal(Signal::STOP);
        check.ends_within(PULSE);
        check.signal(Signal::CONT);
    }
    check.wait(PULSE).expect_exit(0);
    for name in ["app-0.shop.example", "db.shop.example"] {
        place.file("my.cfg", &config(name));
        let run = ["run", "lab.yaml", "http://lb1:8080/", "-r", "20/s", "-d", "3s", "--runs-dir", "runs"];
        let words = [&run[..], &["--threshold", "cpu(app-0.shop.example) < 100%"]].concat();
        retry_timing(|| {
            let reported = place.lab(&words).run();
            // One request that is a second late makes so few invalid.
            expect_time(reported.exit != Some(3), || format!("{reported}"))?;
            reported.expect_exit(0);
            Ok(())
        });
    }
    place.nothing_left("the runs");
}

#[test]
fn a_keepalived_configuration_is_judged_without_ipvs() {
    let test = "own-ipvs";
    let hosts = "\
networks: {front: 10.91.0.0/24}
hosts:
  lb1:
    role: balancer
    networks: [front]
    services: [{ipvs: {address: 10.91.0.100, listen: 8080, servers: web1, config: my.conf}}]
  web1: {role: server, networks: [front], services: [{serve: {listen: 8080}}]}
";
    if Program::foreign("keepalived").is_none() {
        return skip(test, "keepalived is not installed");
    }
    let Some(place) = Place::new(test, hosts) else { return };
    let right = "virtual_server 10.91.0.100 8080 {\n  delay_loop 1\n  lb_algo wrr\n  lb_kind DR\n  protocol TCP\n  \
                 real_server 10.91.0.1 8080 {\n    TCP_CHECK { connect_timeout 1 }\n  }\n}\n";
    place.file("my.conf", right);
    place.lab(&["check", "lab.yaml"]).run().expect_exit(0);
    place.file("my.conf", &right.replace("loop", "loops").replace("wrr", "fastest"));
    let check = place.lab(&["check", "lab.yaml"]).run();
    check.expect_exit(2);
    let part = "(my.conf:2): Unknown keyword 'delay_loops'; line 3: Invalid lvs_scheduler 'fastest'";
    assert!(check.stderr.contains(part), "{check}");
    if !Path::new("/proc/net/ip_vs").exists() {
        assert!(check.stderr.contains("[lab_ipvs]"), "{check}");
    }
    place.nothing_left("lab check");
}

#[test]
fn files_of_a_host_may_be_anywhere() {
    let files = "\
networks: {front: 10.91.0.0/24}
hosts:
  one:
    networks: [front]
    files: {/opt/wavetank-none/a/b.txt: first, /usr/local/etc/wavetank-none: second, /usr/bin/env: third}
  two: {networks: [front]}
";
    let Some(place) = Place::new("own-files", files) else { return };
    let env = fs::read("/usr/bin/env").expect("every machine has it");
    place.up();
    let all = "cat /opt/wavetank-none/a/b.txt /usr/local/etc/wavetank-none /usr/bin/env";
    assert_eq!(place.said("one", all), "firstsecondthird");
    assert_eq!(place.said("two", "ls /opt/wavetank-none 2>&1 || echo none").lines().last(), Some("none"));
    assert!(fs::read("/usr/bin/env").is_ok_and(|now| now == env), "the machine's file was changed");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("lab down");
}

#[test]
fn a_program_that_never_answers_is_given_up() {
    if wavetank_testkit::is_left_to_long_form("a_program_that_never_answers_is_given_up") {
        return;
    }
    let services = "{haproxy: {listen: 8080, config: my.cfg, binary: /nowhere/haproxy}}";
    let Some(place) = Place::new("own-hangs", &lab(services)) else { return };
    let hangs = place.labs().with_file_name("haproxy");
    fs::write(&hangs, "#!/bin/sh\nexec sleep 600\n").expect("can be written");
    fs::set_permissions(&hangs, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("can be set");
    let text = fs::read_to_string(place.labs().with_file_name("lab.yaml")).expect("it is there");
    let text = text.replace("binary: /nowhere/haproxy", &format!("binary: {}", hangs.display()));
    place.file("lab.yaml", &text);
    place.file("my.cfg", &front("", ":8080"));
    let running = place.lab(&["check", "lab.yaml"]).start();
    let check = running.wait(std::time::Duration::from_mins(2));
    assert!(check.expect_exit(2).stderr.contains("its check took longer than 20 s"), "{check}");
    place.nothing_left("lab check");
}
