//! Generated rules for kernel balancers, tested with the real programs that read them.

use std::fmt::Write as _;

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Program, skip};
use wavetank_topology::{Input, Lab, MachineFacts, NftBalancer, ServiceKind, keepalived, read};

/// A balancer with that service; with IPv6 if the service uses an IPv6 address.
fn lab(service: &str) -> Lab {
    let network = if service.contains("fd00:") { "\"fd00:30::/64\"" } else { "10.30.0.0/24" };
    let text = format!(
        "wavetank_lab: 1
name: rules
networks: {{front: {network}}}
hosts:
  lb1: {{role: balancer, networks: [front], services: [{service}]}}
  app[1-3]: {{role: server, networks: [front], services: [serve: {{listen: [80, 443]}}]}}
"
    );
    let files = |name: &str| Err(format!("no such file: {name}"));
    let machine = MachineFacts { cpus: None, open_files: None, memory_bytes: None };
    let reading = read(&Input { name: "rules.yaml", bytes: text.as_bytes(), files: &files, machine });
    let reported: Vec<String> = reading.diagnostics.sorted().iter().map(|one| one.message.clone()).collect();
    reading.lab.unwrap_or_else(|| panic!("{text}\n{reported:#?}"))
}

/// Loads the rules of a service in a separate namespace, swaps its slots three times and removes
/// the rules. Nothing is left, and `nft` reports no error.
#[track_caller]
fn check_nft(test: &str, service: &str) {
    if !NetNs::available(test) {
        return;
    }
    if Program::foreign("nft").is_none() || Program::foreign("ip").is_none() {
        return skip(test, "`nft` or `ip` is not installed");
    }
    let lab = lab(service);
    let host = lab.host("lb1").expect("it is in the file");
    let steering = NftBalancer::for_service(&host.services[0], host).expect("it steers");
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let swaps = [vec![1, 1, 1], vec![0, 1, 0], vec![0, 0, 0]].map(|weights| steering.slots(&weights));
    let texts =
        [steering.rules().text].into_iter().chain(swaps).chain([steering.rules().text, steering.removal()]);
    let mut script = "ip link add eth0 type veth peer name eth1\n".to_owned();
    for (number, text) in texts.enumerate() {
        let path = folder.path().join(format!("{number}.nft"));
        std::fs::write(&path, text).expect("can be written");
        writeln!(script, "nft --file {}", path.display()).expect("text takes everything");
    }
    script.push_str("nft list ruleset\n");
    let outcome = NetNs::shell("rules", &script).run();
    assert_eq!(outcome.expect_exit(0).stdout, "", "{outcome}");
}

#[test]
fn nft_takes_direct_routing() {
    let one = "direct_routing: {address: 10.30.0.100, listen: 80, servers: \"app[1-3]\"}";
    check_nft("nft_takes_direct_routing", one);
    check_nft(
        "nft_takes_direct_routing",
        &one.replace("listen: 80", "listen: [80, 443], slots: 251, flows: 100, sticky: 10ms"),
    );
    check_nft("nft_takes_direct_routing", &one.replace("10.30.0.100", "\"fd00:30::100\""));
}

#[test]
fn nft_takes_nat() {
    check_nft("nft_takes_nat", "nat: {listen: 80, servers: \"app[1-3]:443\"}");
    check_nft(
        "nft_takes_nat",
        "nat: {address: 10.30.0.100, listen: [80, 81], servers: \"app[1-3]:443\", name: my-nat}",
    );
    check_nft("nft_takes_nat", "nat: {address: \"fd00:30::100\", listen: 80, servers: \"app[1-3]:443\"}");
}

#[track_caller]
fn check_keepalived(extra: &str) {
    let Some(program) = Program::foreign("keepalived") else {
        return skip("keepalived_takes_ipvs", "`keepalived` is not installed");
    };
    let lab =
        lab(&format!("ipvs: {{address: 10.30.0.100, listen: [80, 443], servers: \"app[1-3]\"{extra}}}"));
    let service = &lab.host("lb1").expect("it is in the file").services[0];
    let ServiceKind::Ipvs(ipvs) = &service.kind else { panic!("{service:?}") };
    let folder = tempfile::tempdir().expect("temporary folders can be made");
    let path = folder.path().join("keepalived.conf");
    std::fs::write(&path, keepalived(service, ipvs).text).expect("can be written");
    let outcome = program.args(["--config-test", &format!("--use-file={}", path.display())]).run();
    let said = format!("{}{}", outcome.expect_exit(0).stdout, outcome.stderr);
    assert_eq!(said.trim(), "", "{extra}: it has remarks");
}

#[test]
fn keepalived_takes_ipvs() {
    check_keepalived("");
    check_keepalived(", check: false");
    check_keepalived(", check: {http: \"/ping?deep=1\", every: 250ms, timeout: 100ms, fall: 1, rise: 1}");
    for scheduler in wavetank_topology::Ipvs::SCHEDULERS {
        check_keepalived(&format!(", scheduler: {scheduler}"));
    }
}
