//! Real services in a lab: they start, are reached through each other, are listed, and a lab with a
//! rejected one is rejected as a whole.

use wavetank_testkit::{Program, skip};

use crate::lab::place::Place;

/// A load host, a balancer's service and two servers.
fn cluster(service: &str) -> String {
    format!(
        "networks:\n  front: 10.92.0.0/24\n  back: 10.92.1.0/24\nhosts:\n  load1: {{role: load, networks: [front]}}\n  \
         lb1:\n    role: balancer\n    networks: [front, back]\n    services: [{service}]\n  app[1-2]:\n    role: server\n    \
         networks: [back]\n    services: [{{serve: {{listen: 8080}}}}]\n"
    )
}

/// Returns whether these programs are installed. If not, `test` is recorded as skipped.
fn here(test: &str, programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| Program::foreign(program).is_none());
    if let Some(missing) = missing {
        skip(test, &format!("{missing} is not installed"));
    }
    missing.is_none()
}

/// Runs a load of a second and a half from the load host, in which nothing fails. Returns its
/// result as JSON.
#[track_caller]
fn load(place: &Place, url: &str) -> serde_json::Value {
    let program = env!("CARGO_BIN_EXE_wavetank");
    let command = format!("{program} run {url} -r 200/s -d 1500ms --no-archive --format json");
    let reported = place.lab(&["exec", "load1", "--", "sh", "-c", &command]).run();
    let run = reported.expect_exit(0).json();
    assert_eq!((&run["requests"]["done"], &run["requests"]["failed"]), (&300.into(), &0.into()), "{run}");
    run
}

#[test]
fn requests_go_through_haproxy_of_two_processes() {
    if !here("through-haproxy", &["haproxy"]) {
        return;
    }
    let service =
        "{haproxy: {listen: 8080, servers: \"app[1-2]:8080\", copies: 2, stats: 8404, check: {http: /}}}";
    let Some(place) = Place::new("haproxy", &cluster(service)) else { return };
    place.up();
    load(&place, "http://lb1:8080/");
    let status = place.lab(&["status", "--format", "json"]).run().json();
    let service = &status["labs"][0]["hosts"][1]["services"][0];
    assert_eq!((&service["name"], &service["state"]), (&"haproxy".into(), &"up".into()), "{status}");
    assert!(service["version"].as_str().is_some_and(|version| version.contains("HAProxy")), "{status}");
    assert_eq!(service["pids"].as_array().map(Vec::len), Some(2), "{status}");
    let said = place.lab(&["logs", "lb1", "haproxy"]).run();
    said.expect_exit(0);
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

/// gRPC calls through `HAProxy` and nginx in a row, each with HTTP/2 on both sides.
#[test]
fn calls_go_through_haproxy_and_nginx() {
    if !here("calls-through", &["haproxy", "nginx"]) {
        return;
    }
    let text = "networks: {front: 10.92.0.0/24, back: 10.92.1.0/24}\n\
                hosts:\n\
                \x20 load1: {role: load, networks: [front]}\n\
                \x20 lb1:\n\
                \x20   role: balancer\n\
                \x20   networks: [front, back]\n\
                \x20   services:\n\
                \x20     - nginx: {listen: 8081, grpc: true, servers: \"app[1-2]:8080\"}\n\
                \x20     - haproxy: {listen: 8443, tls: true, grpc: true, servers: \"lb1:8081\"}\n\
                \x20 app[1-2]: {role: server, networks: [back], services: [{serve: {listen: 8080}}]}\n";
    let Some(place) = Place::new("calls", text) else { return };
    place.file("echo.proto", include_str!("../../../../../examples/grpc/echo.proto"));
    place.file(
        "load.yaml",
        "wavetank: 1\ntarget: grpcs://lb1:8443\ngrpc: {proto: echo.proto}\nhttp: {tls: {verify: false}}\n\
         steps:\n\
         \x20 - grpc.open: Echo/Chat\n\
         \x20 - {grpc.send: {text: \"${user}\", number: 7}, reply: \"json $.number = 7\"}\n\
         \x20 - {grpc.end: true, check: status = OK}\n\
         \x20 - {grpc.call: Echo/Repeat, json: {text: a, count: 3}, check: \"json $[2].text = a\"}\n\
         phases: [{users: 4, sessions: 40}]\n",
    );
    let run = place.lab(&["run", "lab.yaml", "load.yaml", "--format", "json"]).run();
    let result = run.result();
    result.conserved();
    assert_eq!((result.count("requests.done"), result.count("requests.failed")), (160, 0), "{run}");
    let counted = result.at("servers").as_array().cloned().unwrap_or_default();
    let front = counted.iter().find(|server| server["server"] == "lb1/haproxy");
    let front = front.unwrap_or_else(|| panic!("HAProxy was not asked: {run}"));
    // Each call is a request. Messages are none, so there is nothing to compare it with.
    assert_eq!(front["requests"], 80, "{front}");
    assert!(front["run_requests"].is_null() && front["run_connections"].is_null(), "{front}");
    place.nothing_left("lab run");
}

#[test]
fn a_configuration_that_is_not_accepted_undoes_the_lab() {
    if !here("not-accepted", &["haproxy"]) {
        return;
    }
    let Some(place) = Place::new("refused", &cluster("{haproxy: {listen: 8080, config: my.cfg}}")) else {
        return;
    };
    place.file("my.cfg", "defaults\n  mode http\n  timeout connect nonsense\n");
    let up = place.lab(&["up", "lab.yaml"]).run();
    let reported = &up.expect_exit(2).stderr;
    for part in ["lab.yaml:11:", "`haproxy` on lb1", "(my.cfg:3)", "[lab_config]"] {
        assert!(reported.contains(part), "no `{part}` in {reported}");
    }
    place.nothing_left("a lab that was refused");
}

#[test]
fn services_and_commands_are_ended_for_want_of_memory_before_their_host() {
    let text = "networks: {front: 10.95.0.0/24}\n\
                hosts:\n\
                \x20 app:\n\
                \x20   networks: [front]\n\
                \x20   services: [command: {name: calm, run: sleep 4712}]\n";
    let Some(place) = Place::new("forward", text) else { return };
    place.up();
    // The oldest process with that text is the service, since the search has it as well.
    let service = "cat /proc/$(pgrep -o -f 'sleep 4712')/oom_score_adj";
    assert_eq!(place.said("app", service), "500");
    assert_eq!(place.said("app", "cat /proc/self/oom_score_adj"), "500");
    assert_ne!(place.said("app", "cat /proc/1/oom_score_adj"), "500");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn a_host_outlives_services_for_which_memory_does_not_suffice() {
    let many = "for i in $(seq 300); do sleep 1000 & done; wait";
    let text = format!(
        "networks: {{front: 10.94.0.0/24}}\n\
         hosts:\n\
         \x20 app:\n\
         \x20   networks: [front]\n\
         \x20   limits: {{memory: 40MB}}\n\
         \x20   services: [command: {{name: many, run: \"{many}\"}}]\n"
    );
    let Some(place) = Place::new("memory", &text) else { return };
    // The service may be killed at its start, which is reported, or later.
    let up = place.lab(&["up", "lab.yaml"]).run();
    let own = up.exit == Some(0) || up.stderr.contains("`many` on app ended");
    assert!(own, "the service ends, not the host: {up}");
    if up.exit == Some(0) {
        place.lab(&["down"]).run().expect_exit(0);
    }
    place.nothing_left("down");
}
