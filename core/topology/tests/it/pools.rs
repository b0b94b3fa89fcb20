//! Pool changes given as text: how they are parsed, and which ones are rejected.

use crate::support;

use wavetank_plan::PlannedEvent;
use wavetank_topology::{
    HostAction, Lab, PoolAction, ServerMode, ServiceKind, parse_pool_change, planned_events, pools_of,
};
use wavetank_units::Nanos;

/// `lb1` has a `HAProxy` and a NAT, `lb2` a `HAProxy` with ranges of ports, `lb3` an nginx.
const LAB: &str = "wavetank_lab: 1
name: pools
networks: {front: 10.30.0.0/24, back: 10.30.1.0/24}
hosts:
  load1: {role: load, networks: [front]}
  lb1:
    role: balancer
    networks: [front, back]
    services:
      - haproxy: {listen: 80, servers: [\"app[1-2]:8080\", {server: \"app3:8080\", weight: 4}]}
      - nat: {listen: 81, servers: [\"app1:8080\", \"app1:8081\"]}
  lb2:
    role: balancer
    networks: {front: {}, back: {sources: 2}}
    services:
      - haproxy: {listen: 80, servers: \"app[1-2]:8080\", source_ports: ranges}
  lb3:
    role: balancer
    networks: [front, back]
    services:
      - nginx: {listen: 80, servers: \"app1:8080\"}
  app[1-3]:
    role: server
    networks: [back]
    services:
      - serve: {listen: [8080, 8081]}
";

fn lab() -> Lab {
    support::lab(LAB)
}

#[track_caller]
fn check(host: &str, words: &str, service: &str, wishes: &[(usize, ServerMode)]) {
    let action = parse_pool_change(words, &lab(), host).unwrap_or_else(|error| panic!("{words}: {error}"));
    assert_eq!(action, PoolAction { service: service.to_owned(), wishes: wishes.to_vec() }, "{words}");
    // As it travels to the host.
    let action = HostAction::Pool(action);
    let sent = serde_json::to_string(&action).expect("plain data");
    assert_eq!(serde_json::from_str::<HostAction>(&sent).expect("it was written by us"), action);
}

#[test]
fn changes_are_read() {
    use ServerMode::{Drain, Ready, Weight};
    check("lb1", "haproxy app1 drain", "haproxy", &[(0, Drain)]);
    check("lb1", "haproxy app3:8080 ready", "haproxy", &[(2, Ready)]);
    check("lb1", " haproxy  app[2-3]  weight 256 ", "haproxy", &[(1, Weight(256)), (2, Weight(256))]);
    check("lb1", "haproxy app[1,3]:8080 weight 0", "haproxy", &[(0, Weight(0)), (2, Weight(0))]);
    // A host that is there with two ports is meant with both, unless one is named.
    check("lb1", "nat app1 drain", "nat", &[(0, Drain), (1, Drain)]);
    check("lb1", "nat app1:8081 drain", "nat", &[(1, Drain)]);
    check("lb2", "app2 ready", "haproxy", &[(1, Ready)]);
}

#[track_caller]
fn refused(host: &str, words: &str, code: &str, reported: &str) {
    let error = parse_pool_change(words, &lab(), host).expect_err(words);
    assert_eq!(error.code, code, "{words}: {error}");
    let text = format!("{} {}", error.message, error.hint);
    assert!(text.contains(reported), "{words}: {text}");
}

#[test]
fn what_is_no_change_is_refused_with_advice() {
    refused("lb9", "app1 drain", "lab_host", "did you mean lb1?");
    refused("lb1", "", "lab_pool_words", "SERVER drain");
    refused("lb1", "drain", "lab_pool_words", "needs a server");
    refused("lb1", "haproxy app1 drian", "lab_pool_words", "did you mean drain?");
    refused("lb1", "app1 drain", "lab_pool_words", "one of: haproxy, nat");
    refused("lb1", "haproxi app1 drain", "lab_pool_words", "did you mean haproxy?");
    refused("lb1", "haproxy app9 drain", "lab_pool_words", "did you mean app1?");
    refused("lb1", "nat app2 drain", "lab_pool_words", "app1");
    refused("lb1", "nat app1:9 drain", "lab_pool_words", "no server `app1:9`");
    refused("lb1", "nat app1:http drain", "lab_pool_words", "not a port");
    refused("lb1", "haproxy app[ drain", "lab_pool_words", "brackets");
    refused("lb1", "haproxy app1 weight", "lab_pool_words", "needs a number");
    refused("lb1", "haproxy app1 weight 257", "lab_pool_words", "0 to 256");
    refused("lb1", "haproxy app1 weight -1", "lab_pool_words", "0 to 256");
    refused("lb1", "haproxy app1 now drain", "lab_pool_words", "an unexpected argument");
    refused("lb3", "app1 drain", "lab_pool_words", "HAProxy");
    refused("lb3", "nginx app1 drain", "lab_pool_words", "while it runs");
    refused("app1", "app1 drain", "lab_pool_words", "no pool");
}

#[test]
fn pools_are_those_that_can_be_changed() {
    let lab = lab();
    let names = |host: &str, service: Option<&str>| {
        let pools = pools_of(&lab, host, service).map_err(|error| error.code)?;
        Ok(pools.iter().map(|service| service.name.as_str()).collect::<Vec<_>>())
    };
    assert_eq!(names("lb1", None), Ok(vec!["haproxy", "nat"]));
    assert_eq!(names("lb1", Some("nat")), Ok(vec!["nat"]));
    assert_eq!(names("lb3", None), Err("lab_pool_words"));
    assert_eq!(names("lb1", Some("serve")), Err("lab_pool_words"));
}

#[test]
fn haproxy_knows_a_server_by_a_name_for_each_line() {
    let lab = lab();
    let names = |host: &str, server: usize| {
        let host = lab.host(host).expect("it is in the file");
        let ServiceKind::Haproxy(haproxy) = &host.services[0].kind else { panic!("{host:?}") };
        wavetank_topology::render::haproxy_servers(host, haproxy, server)
    };
    assert_eq!(names("lb1", 2), ["app3"]);
    assert_eq!(names("lb1", 3), [""; 0]);
    assert_eq!(names("lb2", 1), ["app2", "app2-2"]);
}

#[test]
fn an_event_may_change_a_pool() {
    let lab = lab();
    let event = |run: &str| PlannedEvent {
        when: Nanos::SECOND,
        host: "lb1".to_owned(),
        run: run.to_owned(),
        undo: None,
        lasts: Some(Nanos::SECOND),
    };
    let good = planned_events(&lab, &[event("pool haproxy app[1-2] drain")]).expect("it can be done");
    let Ok(HostAction::Pool(action)) = HostAction::from_event(&good[0], &lab) else { panic!("{good:?}") };
    assert_eq!(action.wishes, [(0, ServerMode::Drain), (1, ServerMode::Drain)]);
    let bad = planned_events(&lab, &[event("pool haproxy app9 drain")]);
    assert_eq!(bad.expect_err("there is no such server").code, "lab_pool_words");
}
