//! What files come to: addresses, servers behind balancers, kernel settings, faults.

use crate::support;

use support::lab;
use wavetank_grammar::Span;
use wavetank_topology::{
    FaultKind, Host, Input, Lab, Limits, Probe, Rendered, ServiceKind, VirtualPlace, read,
};
use wavetank_units::Nanos;

const TWO_NETWORKS: &str =
    "wavetank_lab: 1\nname: shop\nnetworks: {front: 10.30.0.0/24, back: 10.30.1.0/24}\n";

/// A lab of `hosts` on the two networks.
#[track_caller]
fn check(hosts: &str, asked: impl Fn(&Lab) -> Vec<String>, expected: &[&str]) {
    let lab = lab(&format!("{TWO_NETWORKS}{hosts}"));
    assert_eq!(asked(&lab), expected, "{hosts}");
}

fn addresses(lab: &Lab) -> Vec<String> {
    let of = |host: &Host| {
        let all =
            host.interfaces.iter().flat_map(|one| &one.addresses).map(|(address, _)| address.to_string());
        format!("{} {}", host.name, all.collect::<Vec<_>>().join(" "))
    };
    lab.hosts.iter().map(of).collect()
}

#[test]
fn addresses_are_given_from_the_front_around_those_that_the_file_gives() {
    let hosts = "hosts:\n  load[1-2]: {networks: [front], sources: 2}\n  lb1: {networks: {front: {address: 10.30.0.3}, back: {}}}\n  app[1-2]: {networks: {back: {address: 10.30.1.1 to 10.30.1.2}}}\n";
    check(
        hosts,
        addresses,
        &[
            "load1 10.30.0.1 10.30.0.2",
            "load2 10.30.0.4 10.30.0.5",
            "lb1 10.30.0.3 10.30.1.3",
            "app1 10.30.1.1",
            "app2 10.30.1.2",
        ],
    );
}

#[test]
fn a_range_for_a_pattern_with_sources_gives_each_its_share() {
    let hosts = "hosts:\n  a[1-2]: {networks: {front: {address: 10.30.0.11 to 10.30.0.14, sources: 2}}}\n  b[1-2]: {networks: {front: {address: 10.30.0.21 to 10.30.0.22, sources: 2}}}\n";
    check(
        hosts,
        addresses,
        &[
            "a1 10.30.0.11 10.30.0.12",
            "a2 10.30.0.13 10.30.0.14",
            "b1 10.30.0.21 10.30.0.1",
            "b2 10.30.0.22 10.30.0.2",
        ],
    );
}

#[test]
fn hardware_addresses_are_our_own_and_none_occurs_twice() {
    let lab = lab(&format!("{TWO_NETWORKS}hosts: {{\"a[1-9]\": {{networks: [front, back]}}}}\n"));
    let all: Vec<[u8; 6]> = lab.hosts.iter().flat_map(|host| &host.interfaces).map(|one| one.mac).collect();
    let apart: std::collections::BTreeSet<_> = all.iter().collect();
    assert_eq!((all.len(), apart.len()), (18, 18));
    assert!(all.iter().all(|mac| mac[0] & 0b11 == 0b10), "local, and no group: {all:?}");
}

const BALANCED: &str = "hosts:
  load1: {role: load, networks: [front]}
  lb1:
    role: balancer
    networks: {front: {address: 10.30.0.10}, back: {}}
    services:
      - haproxy: {listen: 8080, servers: [\"app[1-2]:80\", {server: app3, weight: 5}], connections: 9k}
  app[1-3]:
    role: server
    networks: [back]
    services: [{serve: {listen: [80, 8080]}}]
";

#[test]
fn servers_behind_a_balancer_are_reached_on_the_network_they_share() {
    let behind = |lab: &Lab| -> Vec<String> {
        let lb = lab.host("lb1").expect("there is one");
        let shown = lb.services[0].backends().iter().map(|one| {
            let on = &lb.interfaces[one.interface].name;
            let same = lab.hosts[one.host].interfaces[0].mac == one.mac;
            format!("{} {}:{} weight {} by {on} {same}", one.name, one.address, one.port, one.weight)
        });
        shown.collect()
    };
    check(
        BALANCED,
        behind,
        &[
            "app1 10.30.1.2:80 weight 1 by eth1 true",
            "app2 10.30.1.3:80 weight 1 by eth1 true",
            "app3 10.30.1.4:8080 weight 5 by eth1 true",
        ],
    );
}

#[test]
fn services_say_where_their_keys_stand() {
    let text = format!("{TWO_NETWORKS}{BALANCED}");
    let lab = lab(&text);
    let haproxy = &lab.host("lb1").expect("there is one").services[0];
    let at = |place: Span| &text[place.start..place.end];
    assert_eq!(at(haproxy.place), "haproxy");
    assert_eq!(at(haproxy.place_of("connections")), "9k");
    assert_eq!(haproxy.place_of("threads"), haproxy.place, "a missing key has the span of the service");
    assert_eq!(at(haproxy.backends()[2].place), "app3");
    assert_eq!(haproxy.health.probe, Probe::Tcp { port: 8080 });
}

#[test]
fn names_lead_to_the_address_that_is_nearest() {
    let lab = lab(&format!("{TWO_NETWORKS}{BALANCED}"));
    let seen = |from: &str, to: &str| {
        let index = |name: &str| lab.host_index(name).expect("there is one");
        lab.source_address(index(from), index(to)).map(|address| address.to_string())
    };
    assert_eq!(seen("load1", "lb1").as_deref(), Some("10.30.0.10"));
    assert_eq!(seen("app1", "lb1").as_deref(), Some("10.30.1.1"));
    assert_eq!(seen("load1", "app1").as_deref(), Some("10.30.1.2"), "on no network of both: its own");
}

#[test]
fn direct_routing_puts_its_address_where_it_belongs() {
    let hosts = "hosts:
  lb1:
    role: balancer
    networks: [front, back]
    sysctls: {net.core.somaxconn: 1000}
    virtual: [{address: 10.30.1.100, on: back, name: shop}]
    services: [{direct_routing: {address: 10.30.1.100, listen: 80, servers: \"app[1-2]\"}}]
  app[1-2]: {role: server, networks: [front, back], services: [{serve: {listen: 80}}]}
";
    let lab = lab(&format!("{TWO_NETWORKS}{hosts}"));
    let [lb, app, _] = lab.hosts.as_slice() else { panic!("three hosts") };
    let ServiceKind::DirectRouting(direct) = &lb.services[0].kind else { panic!("direct routing") };
    assert_eq!((direct.address.to_string().as_str(), direct.interface), ("10.30.1.100", 1));
    let reached: Vec<_> = direct.servers.iter().map(|one| (one.address.to_string(), one.interface)).collect();
    assert_eq!(reached, [("10.30.1.2".to_owned(), 1), ("10.30.1.3".to_owned(), 1)], "not those on front");
    assert_eq!(direct.servers[0].mac, app.interfaces[1].mac);
    assert_eq!((lb.virtual_addresses[0].at, lb.virtual_addresses.len()), (VirtualPlace::Answering(1), 1));
    assert_eq!(lb.virtual_addresses[0].name.as_deref(), Some("shop"));
    assert_eq!((app.virtual_addresses[0].at, app.virtual_addresses.len()), (VirtualPlace::Silent, 1));
    let value = |host: &Host, key: &str| {
        host.sysctls.iter().find(|one| one.key == key).map(|one| (one.value.clone(), one.why.clone()))
    };
    assert_eq!(value(app, "net.ipv4.conf.all.arp_ignore").map(|it| it.0).as_deref(), Some("1"));
    assert_eq!(value(app, "net.ipv4.conf.all.arp_announce").map(|it| it.0).as_deref(), Some("2"));
    assert_eq!(value(lb, "net.ipv4.conf.all.arp_ignore"), None, "the balancer answers");
    assert_eq!(lb.sysctls[0].key, "net.ipv4.ip_forward", "writing it resets others");
    let own = ("1000".to_owned(), "set in the file".to_owned());
    assert_eq!(value(lb, "net.core.somaxconn"), Some(own));
}

#[test]
fn answers_go_back_through_nat_that_keeps_clients_addresses() {
    let hosts = "hosts:
  lb1:
    networks: {front: {address: 10.30.0.10}, back: {address: 10.30.1.10}}
    services: [{nat: {listen: 8080, servers: \"app1:80\", masquerade: false}}]
  app1: {networks: [back], services: [{serve: {listen: 80}}]}
";
    let routes = |lab: &Lab| -> Vec<String> {
        let of = |host: &Host| {
            host.routes
                .iter()
                .map(|one| format!("{} {} via {}", host.name, one.to, one.via))
                .collect::<Vec<_>>()
        };
        lab.hosts.iter().flat_map(of).collect()
    };
    check(hosts, routes, &["app1 10.30.0.0/24 via 10.30.1.10"]);
    let forwards =
        |lab: &Lab| vec![format!("{}={}", lab.hosts[0].sysctls[0].key, lab.hosts[0].sysctls[0].value)];
    check(hosts, forwards, &["net.ipv4.ip_forward=1"]);
}

#[test]
fn ports_of_services_are_kept_from_connections_that_go_out() {
    let hosts = "hosts:
  lb1:
    role: balancer
    networks: [front]
    services:
      - haproxy: {listen: 8080 to 8082, servers: \"app1:80\", stats: 8404}
      - serve: {listen: [80, 9000]}
  app1: {role: server, networks: [front], services: [{serve: {listen: 80}}]}
";
    let reserved = |lab: &Lab| -> Vec<String> {
        let all = lab.hosts.iter().flat_map(|host| &host.sysctls);
        all.filter(|one| one.key.ends_with("reserved_ports")).map(|one| one.value.clone()).collect()
    };
    check(hosts, reserved, &["8080-8082,8404,9000"]);
}

#[test]
fn faults_are_reported_by_host_service_and_interface() {
    let faults = "faults:
  - {when: 9s, host: lb1, drop: back, share: 2.5%}
  - {when: 2s, host: \"app[1-2]\", kill: serve, for: 5s}
";
    let lab = lab(&format!("{TWO_NETWORKS}{BALANCED}{faults}"));
    let reported: Vec<(i64, &str, &FaultKind)> =
        lab.faults.iter().map(|one| (one.when.0 / Nanos::SECOND.0, one.host.as_str(), &one.what)).collect();
    let kill = FaultKind::Kill { service: "serve".to_owned() };
    let drop = FaultKind::Drop { interface: "eth1".to_owned(), share_ppm: 25_000 };
    assert_eq!(reported, [(2, "app1", &kill), (2, "app2", &kill), (9, "lb1", &drop)]);
    assert_eq!(lab.faults[0].lasts, Some(Nanos::from_secs(5)));
}

#[test]
fn limits_are_read_in_the_kernels_units() {
    let hosts = "hosts: {h1: {networks: [front], limits: {cpus: \"1,0\", cpu: 150%, memory: 512MiB, open_files: 10k}}}\n";
    let lab = lab(&format!("{TWO_NETWORKS}{hosts}"));
    let limits = lab.hosts[0].limits.clone();
    let expected = Limits {
        cpus: Some(vec![0, 1]),
        cpu_share_milli: Some(1_500),
        memory_bytes: Some(512 << 20),
        open_files: Some(10_000),
        place: limits.place,
    };
    assert_eq!(limits, expected);
}

#[test]
fn a_text_is_for_the_shell_and_a_list_is_not() {
    let hosts = "hosts:\n  h1:\n    networks: [front]\n    services: [{command: {run: echo $HOME; sleep 9}}, {command: {name: two, run: [sleep, 9]}}]\n";
    let words = |lab: &Lab| -> Vec<String> {
        let of = |kind: &ServiceKind| match kind {
            ServiceKind::Command(command) => command.words.join("|"),
            other => panic!("{other:?}"),
        };
        lab.hosts[0].services.iter().map(|service| of(&service.kind)).collect()
    };
    check(hosts, words, &["/bin/sh|-c|echo $HOME; sleep 9", "sleep|9"]);
}

/// The keeper gets the lab from another process of the same program.
#[test]
fn a_lab_travels_whole() {
    let text = include_str!("../golden/everything.yaml");
    let lab = lab(text);
    let carried = serde_json::to_vec(&lab).expect("all of it is JSON");
    assert_eq!(serde_json::from_slice::<Lab>(&carried).expect("what was written is read"), lab);
}

#[test]
fn the_same_file_gives_the_same_lab() {
    let text = include_str!("../golden/everything.yaml");
    assert_eq!(lab(text), lab(text));
}

#[test]
fn a_line_of_a_configuration_leads_back_to_the_file() {
    let place = |line| Span { line, ..Span::default() };
    let mut rendered = Rendered::new("nginx.conf");
    rendered.line("events {\n}", None);
    rendered.line("listen 80;", Some(place(7)));
    rendered.line("tcp_nodelay on;", None);
    assert_eq!(rendered.text, "events {\n}\nlisten 80;\ntcp_nodelay on;\n");
    let lines: Vec<Option<usize>> =
        [0, 1, 3, 4, 99].map(|line| rendered.origin_of(line).map(|place| place.line)).to_vec();
    assert_eq!(lines, [None, None, Some(7), Some(7), Some(7)]);
}

#[test]
fn texts_of_all_hosts_are_counted_before_they_are_handed_out() {
    let check = |hosts: &str, fits: bool| {
        let text = format!(
            "wavetank_lab: 1\nname: big\nnetworks: {{front: 10.30.0.0/16}}\nhosts:\n  {hosts}: {{networks: [front], files: {{/etc/x: {{from: big}}}}}}\n"
        );
        let files = |_: &str| Ok(vec![b'x'; 3 << 20]);
        let input =
            Input { name: "lab.yaml", bytes: text.as_bytes(), files: &files, machine: support::MACHINE };
        let reading = read(&input);
        let codes: Vec<_> = reading.diagnostics.sorted().iter().map(|reported| reported.code).collect();
        assert_eq!(codes, if fits { vec![] } else { vec!["lab_too_many"] }, "{hosts}");
    };
    check("app[1-2]", true);
    check("app[1-3]", false);
    check("app[1-256]", false);
}
