//! The user's own configurations: used unchanged, in the places where their programs expect files.

use std::fs;
use std::path::Path;
use std::time::Duration;

use wavetank_testkit::{Program, expect_time, poll_until, retry_timing, retry_timing_of, skip};

use crate::lab::place::Place;

/// A load host and a host with `services`.
pub(crate) fn lab(services: &str) -> String {
    format!(
        "\
networks: {{front: 10.91.0.0/24}}
hosts:
  load1: {{role: load, networks: [front]}}
  lb1:
    role: balancer
    networks: [front]
    services: [{services}]
"
    )
}

/// Returns a place with the lab, if `program` is installed.
pub(crate) fn place(test: &str, program: &str, services: &str) -> Option<Place> {
    if Program::foreign(program).is_none() {
        skip(test, &format!("{program} is not installed"));
        return None;
    }
    Place::new(test, &lab(services))
}

/// Waits until the log of a service of lb1 has all of `parts`, which come by themselves.
#[track_caller]
fn logged(place: &Place, service: &str, parts: &[&str]) {
    let all = || {
        let log = place.lab(&["logs", "lb1", service]).run().stdout;
        parts.iter().all(|part| log.contains(part)).then_some(())
    };
    let there = poll_until(Duration::from_mins(1), all);
    assert!(there.is_some(), "not all of {parts:?}: {}", place.lab(&["logs", "lb1", service]).run());
}

/// A configuration in the form of a distribution's: relative names, modules, logs, a user that
/// this machine does not have.
pub(crate) const NGINX: &str = "\
user of-no-machine;
pid /run/nginx.pid;
error_log /var/log/nginx/site/error.log;
include modules.d/*.conf;
events { worker_connections 100; }
http {
  include mime.types;
  include more.d/*.conf;
  access_log /var/log/nginx/access.log;
  root html;
  server {
    listen 8080;
    location /log { access_log syslog:server=127.0.0.1:5140; return 200 logged; }
    location /bad { proxy_pass http://127.0.0.1:9; }
  }
}
";

#[test]
fn an_installed_nginx_configuration_works_unchanged() {
    let Some(place) = place("own-nginx", "nginx", "{nginx: {listen: 8080, config: site/nginx.conf}}") else {
        return;
    };
    let folder = place.labs().with_file_name("site");
    for part in ["modules.d", "more.d"] {
        fs::create_dir_all(folder.join(part)).expect("can be made");
    }
    fs::write(folder.join("nginx.conf"), NGINX).expect("can be written");
    fs::write(folder.join("more.d/one.conf"), "server { listen 8081; return 200 included; }")
        .expect("written");
    // A module by a name that starts at nginx's prefix, as module packages have it.
    let module = "modules/ngx_http_echo_module.so";
    let installed =
        ["/usr/share/nginx", "/etc/nginx"].iter().any(|prefix| Path::new(prefix).join(module).exists());
    let load = if installed { format!("load_module {module};\n") } else { String::new() };
    fs::write(folder.join("modules.d/50.conf"), load).expect("can be written");
    let check = place.lab(&["check", "lab.yaml"]).run();
    assert_eq!(check.expect_exit(0).stderr, "", "{check}");
    place.up();
    let get = |path: &str| format!("curl --silent --max-time 10 http://127.0.0.1:{path}");
    assert_eq!(place.said("lb1", &get("8081/")), "included");
    assert_eq!(place.said("lb1", &get("8080/log")), "logged");
    place.said("lb1", &get("8080/bad"));
    let parts = ["\"GET /log HTTP/1.1\" 200", "Connection refused) while connecting to upstream"];
    logged(&place, "nginx", &parts);
    assert!(!Path::new("/var/log/nginx/site").exists(), "it was written on this machine");
    assert!(!folder.join("logs").exists(), "it was written next to the user's file");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("lab down");
}

#[test]
fn a_wrong_line_of_an_included_file_is_named_as_the_user_does() {
    let test = "own-included";
    let Some(place) = place(test, "nginx", "{nginx: {listen: 8080, config: nginx.conf}}") else { return };
    let more = place.labs().with_file_name("more.d");
    fs::create_dir_all(&more).expect("can be made");
    place.file("nginx.conf", NGINX);
    fs::write(more.join("one.conf"), "server {\n  lissten 81;\n}\n").expect("can be written");
    let check = place.lab(&["check", "lab.yaml"]).run();
    check.expect_exit(2);
    let part = ": unknown directive \"lissten\" in more.d/one.conf:2 [lab_config]";
    assert!(check.stderr.contains(part), "{check}");
}

/// A configuration in the form of a distribution's: a root of its own, two ways of syslog.
const HAPROXY: &str = "\
global
  log /dev/log local0
  log 127.0.0.1 local1 notice
  chroot /var/lib/haproxy
  stats socket /run/haproxy/admin.sock mode 660 level admin group of-no-machine
  daemon
defaults
  mode http
  log global
  option httplog
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  errorfile 503 errors/503.http
frontend in
  bind *:8080
  http-request return status 200 if { path /ok }
  default_backend nowhere
backend nowhere
  server s0 127.0.0.1:9
";

#[test]
fn an_installed_haproxy_configuration_works_unchanged() {
    let test = "own-haproxy";
    let Some(place) = place(test, "haproxy", "{haproxy: {listen: 8080, config: haproxy.cfg}}") else {
        return;
    };
    let errors = place.labs().with_file_name("errors");
    fs::create_dir_all(&errors).expect("can be made");
    fs::write(errors.join("503.http"), "HTTP/1.0 503 Closed\r\n\r\nclosed today\n").expect("can be written");
    place.file("haproxy.cfg", HAPROXY);
    let check = place.lab(&["check", "lab.yaml"]).run();
    assert_eq!(check.expect_exit(0).stderr, "", "{check}");
    place.up();
    assert_eq!(place.said("lb1", "curl --silent --max-time 10 http://127.0.0.1:8080/x"), "closed today");
    place.said("lb1", "curl --silent --max-time 10 http://127.0.0.1:8080/ok");
    // Both ways carry these lines.
    logged(&place, "haproxy", &["in in/<NOSRV> ", "\"GET /ok HTTP/1.1\"", "in nowhere/s0 "]);
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("lab down");
}

#[test]
fn an_error_log_is_stored_with_the_run() {
    let test = "own-log";
    let Some(place) = place(test, "nginx", "{nginx: {listen: 8080, config: nginx.conf}}") else { return };
    place.file(
        "nginx.conf",
        &NGINX.replace("include mod", "#").replace("/var/log/nginx/site", "/srv/wavetank-none"),
    );
    let url = "http://lb1:8080/bad";
    let run = place.lab(&[
        "run",
        "lab.yaml",
        url,
        "-r",
        "20/s",
        "-d",
        "1s",
        "--runs-dir",
        "runs",
        "--expect-status",
        "502",
    ]);
    retry_timing(|| {
        let reported = run.clone().run();
        // One request that is a second late makes so few invalid.
        expect_time(reported.exit != Some(3), || format!("{reported}"))?;
        reported.expect_exit(0);
        Ok(())
    });
    let runs = place.labs().with_file_name("runs");
    let newest = fs::read_dir(runs).expect("there are runs").map(|run| run.expect("readable").path()).max();
    let log = newest.expect("there is one").join("services/lb1/nginx.log");
    let text = fs::read_to_string(log).expect("it was stored");
    assert!(text.matches("while connecting to upstream").count() >= 20, "{text}");
    assert!(!Path::new("/srv/wavetank-none").exists(), "it was written on this machine");
    place.nothing_left("the run");
}

/// A front that answers itself, on the address in its seventh line.
pub(crate) fn front(global: &str, address: &str) -> String {
    format!(
        "{global}defaults\n  mode http\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n\
         frontend fe\n  bind {address}\n  http-request return status 200\n"
    )
}

#[test]
fn counters_of_an_own_configuration_are_compared_with_the_run() {
    let test = "own-counts";
    let hosts = "\
networks: {front: 10.91.0.0/24}
hosts:
  load1: {role: load, networks: [front]}
  lb1: {networks: [front], services: [{haproxy: {listen: 8080, config: socket.cfg}}]}
  lb2: {networks: [front], services: [{haproxy: {listen: 8080, config: page.cfg}}]}
  web1: {networks: [front], services: [{nginx: {listen: 8080, config: nginx.conf}}]}
";
    if Program::foreign("haproxy").is_none() || Program::foreign("nginx").is_none() {
        return skip(test, "haproxy or nginx is not installed");
    }
    let Some(place) = Place::new(test, hosts) else { return };
    place.file("socket.cfg", &front("global\n  stats socket /run/haproxy/mine.sock\n", ":8080"));
    let page = front("", ":8080") + "listen numbers\n  bind :8404\n  stats enable\n  stats uri /numbers\n";
    place.file("page.cfg", &page);
    let status =
        "server { listen 8081; location = /numbers { stub_status; allow 127.0.0.1; deny all; } }\n}\n";
    place.file(
        "nginx.conf",
        &NGINX
            .replace("include mod", "#")
            .trim_end()
            .replace("\n  }\n}", &format!("\n    location / {{ return 200; }}\n  }}\n{status}")),
    );
    for host in ["lb1", "lb2", "web1"] {
        let url = format!("http://{host}:8080/");
        // Half of the connections are opened ahead and never used.
        let run = [
            "run",
            "lab.yaml",
            &url,
            "-r",
            "40/s",
            "-d",
            "1s",
            "-c",
            "20",
            "--format",
            "json",
            "--runs-dir",
            "runs",
        ];
        let record = retry_timing_of(|| {
            let reported = place.lab(&run).run();
            // One request that is a second late makes so few invalid.
            expect_time(reported.exit != Some(3), || format!("{reported}"))?;
            Ok(reported.expect_exit(0).json())
        });
        let Some(record) = record else { return };
        let servers = record["servers"].as_array().expect("a list").iter();
        let compared: Vec<_> = servers.filter(|one| one["run_requests"].is_u64()).collect();
        assert_eq!(compared.len(), 1, "{host}: {}", record["servers"]);
        assert!(compared[0]["server"].as_str().is_some_and(|name| name.starts_with(host)), "{host}");
        assert_eq!(compared[0]["requests"], 41, "{host}: {}", record["servers"]);
        assert_eq!(compared[0]["run_requests"], 41, "{host}: {}", record["servers"]);
        assert_eq!(compared[0]["connections"], compared[0]["run_connections"], "{host}");
    }
    place.nothing_left("the runs");
}

#[test]
fn a_balancer_that_was_full_is_named() {
    let test = "own-full";
    let Some(place) = place(test, "haproxy", "{haproxy: {listen: 8080, config: my.cfg}}") else { return };
    place.file("my.cfg", &front("global\n  maxconn 10\n  stats socket /run/haproxy/s.sock\n", ":8080"));
    let run = [
        "run",
        "lab.yaml",
        "http://lb1:8080/",
        "-c",
        "40",
        "-d",
        "1s",
        "--timeout",
        "2s",
        "--format",
        "json",
    ];
    let reported = place.lab(&[&run[..], &["--runs-dir", "runs"]].concat()).run();
    let notes = reported.json()["notes"].to_string();
    let note = "lb1/haproxy had 10 connections open, its own limit: further ones waited";
    assert!(notes.contains(note), "{notes}");
    place.nothing_left("the run");
}
