//! Actions on hosts given as text: how they are parsed and formatted, and which ones are rejected.

use wavetank_grammar::Span;
use wavetank_plan::PlannedEvent;
use wavetank_topology::{
    Fault, FaultKind, Health, Host, HostAction, Interface, Lab, Limits, Link, Network, Probe, Role, Serve,
    Service, ServiceKind, Subnet, parse_fault, planned_events,
};
use wavetank_units::Nanos;

fn service(name: &str) -> Service {
    Service {
        name: name.to_owned(),
        kind: ServiceKind::Serve(Serve::default()),
        listen: vec![8080],
        copies: 1,
        connections: None,
        health: Health { probe: Probe::None, every: Nanos::SECOND, within: Nanos::SECOND },
        place: Span::default(),
        keys: Vec::new(),
    }
}

fn host(name: &str, networks: usize, services: &[&str]) -> Host {
    let interface = |network: usize| Interface {
        name: format!("eth{network}"),
        network,
        addresses: Vec::new(),
        mac: [0; 6],
        link: Link::default(),
        place: Span::default(),
    };
    Host {
        name: name.to_owned(),
        role: Role::Server,
        interfaces: (0..networks).map(interface).collect(),
        virtual_addresses: Vec::new(),
        routes: Vec::new(),
        sysctls: Vec::new(),
        files: Vec::new(),
        limits: Limits::default(),
        sshd: false,
        services: services.iter().map(|name| service(name)).collect(),
        place: Span::default(),
    }
}

/// `lb1` on two networks with two services, `app1` and `app2` on one with one.
fn lab() -> Lab {
    let network = |name: &str| Network {
        name: name.to_owned(),
        subnet: Subnet::parse("10.30.0.0/24").expect("a network"),
        place: Span::default(),
    };
    Lab {
        name: "shop".to_owned(),
        networks: vec![network("front"), network("back")],
        hosts: vec![
            host("lb1", 2, &["haproxy", "stats"]),
            host("app1", 1, &["serve"]),
            host("app2", 1, &["serve"]),
        ],
        faults: Vec::new(),
    }
}

/// Checks that `words` for `host` parse to a fault that is formatted as `written`, and that
/// `written` parses to the same fault.
#[track_caller]
fn check(host: &str, words: &str, written: &str) {
    let fault = parse_fault(words, &lab(), host).unwrap_or_else(|error| panic!("{words}: {error}"));
    assert_eq!(fault.to_string(), written, "{words}");
    assert_eq!(parse_fault(written, &lab(), host), Ok(fault.clone()), "{written}");
    // As it travels to the host.
    let action = HostAction::Fault(fault);
    let sent = serde_json::to_string(&action).expect("plain data");
    assert_eq!(serde_json::from_str::<HostAction>(&sent).expect("it was written by us"), action);
}

#[test]
fn faults_are_read_and_written() {
    check("app1", "kill serve", "kill serve");
    check("app1", "kill", "kill serve");
    check("lb1", "stop  haproxy", "stop haproxy");
    check("lb1", "pause stats", "pause stats");
    check("app1", "cut", "cut eth0");
    check("lb1", "cut back", "cut eth1");
    check("lb1", "cut eth1", "cut eth1");
    check("lb1", "drop 20% back", "drop 20% eth1");
    check("lb1", "drop back 0.5%", "drop 0.5% eth1");
    check("app1", "drop 100%", "drop 100% eth0");
    check("app1", "files 64", "files serve 64");
    check("lb1", "files haproxy 1k", "files haproxy 1000");
    check("app1", "slow 1.5s", "slow serve 1500ms");
    check("app1", "slow serve 1500us", "slow serve 1500us");
}

#[track_caller]
fn refused(host: &str, words: &str, code: &str, reported: &str) {
    let error = parse_fault(words, &lab(), host).expect_err(words);
    assert_eq!(error.code, code, "{words}: {error}");
    let text = format!("{} {}", error.message, error.hint);
    assert!(text.contains(reported), "{words}: {text}");
}

#[test]
fn what_is_no_fault_is_refused_with_advice() {
    refused("app9", "kill", "lab_host", "did you mean app1?");
    refused("app1", "", "lab_fault_words", "kill SERVICE");
    refused("app1", "kil serve", "lab_fault_words", "did you mean kill?");
    refused("app1", "kill nginx", "lab_fault_words", "one of: serve");
    refused("lb1", "kill", "lab_fault_words", "needs a service");
    refused("lb1", "kill haproxi", "lab_fault_words", "did you mean haproxy?");
    refused("lb1", "cut", "lab_fault_words", "needs a network");
    refused("lb1", "cut side", "lab_fault_words", "one of: front, back");
    refused("app1", "kill serve now", "lab_fault_words", "an unexpected argument");
    refused("app1", "drop", "lab_fault_words", "needs a quantity");
    refused("app1", "drop 20", "lab_fault_words", "20%?");
    refused("app1", "drop 0%", "lab_fault_words", "above zero");
    refused("app1", "drop 10% 20%", "lab_fault_words", "an unexpected argument");
    refused("app1", "files 0", "lab_fault_words", "0");
    refused("app1", "slow 30", "lab_fault_words", "unit");
    refused("app1", "slow 10us", "lab_fault_words", "1 ms");
    refused("app1", "slow 5m", "lab_fault_words", "60 s");
}

fn event(when: i64, host: &str, run: &str) -> PlannedEvent {
    PlannedEvent {
        when: Nanos::from_secs(when),
        host: host.to_owned(),
        run: run.to_owned(),
        undo: None,
        lasts: None,
    }
}

#[test]
fn events_and_faults_come_by_their_time() {
    let mut lab = lab();
    lab.faults = vec![Fault {
        when: Nanos::from_secs(10),
        lasts: Some(Nanos::from_secs(5)),
        host: "lb1".to_owned(),
        what: FaultKind::Drop { interface: "eth1".to_owned(), share_ppm: 200_000 },
        place: Span::default(),
    }];
    let own = [event(20, "app[1-2]", "fault kill"), event(5, "lb1", "logger hello")];
    let events = planned_events(&lab, &own).expect("they can be done");
    let reported: Vec<String> = events
        .iter()
        .map(|event| {
            format!("{} {} {} {:?}", event.when, event.host, event.run, event.lasts.map(|lasts| lasts.0))
        })
        .collect();
    assert_eq!(
        reported,
        [
            "5.00 s lb1 logger hello None",
            "10.0 s lb1 fault drop 20% eth1 Some(5000000000)",
            "20.0 s app1 fault kill None",
            "20.0 s app2 fault kill None",
        ]
    );
    let command = HostAction::Command { run: "logger hello".to_owned(), undo: None };
    assert_eq!(HostAction::from_event(&events[0], &lab), Ok(command));
    assert_eq!(HostAction::from_event(&events[1], &lab), Ok(HostAction::Fault(lab.faults[0].what.clone())));
}

#[test]
fn events_that_cannot_be_are_known_before() {
    let check = |events: &[PlannedEvent], code: &str| {
        let error = planned_events(&lab(), events).expect_err("it cannot be done");
        assert_eq!(error.code, code, "{error}");
    };
    check(&[event(1, "app3", "reboot")], "lab_host");
    check(&[event(1, "app[x]", "reboot")], "lab_host");
    check(&[event(1, "app1", "fault kill nginx")], "lab_fault_words");
    check(&vec![event(1, "app[1-2]", "true"); 129], "lab_events_many");
    assert_eq!(
        planned_events(&lab(), &vec![event(1, "app[1-2]", "true"); 128]).map(|all| all.len()),
        Ok(256)
    );
}
