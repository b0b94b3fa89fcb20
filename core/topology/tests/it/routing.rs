//! In-kernel balancers in the file, and the texts generated for `nft` and keepalived.

use wavetank_topology::{Input, Lab, MachineFacts, NftBalancer, Pool, ServiceKind, keepalived, read};

const HOSTS: &str = "wavetank_lab: 1
name: steer
networks: {front: 10.30.0.0/24, back: 10.30.1.0/24}
hosts:
  load1: {role: load, networks: [front]}
";

fn lab(rest: &str) -> Lab {
    reading(rest).unwrap_or_else(|reported| panic!("{rest}\n{reported:#?}"))
}

/// The lab of some hosts, or what is wrong with it.
fn reading(rest: &str) -> Result<Lab, Vec<String>> {
    lab_of(&format!("{HOSTS}{rest}"))
}

/// The lab of a whole file, or what is wrong with it.
fn lab_of(text: &str) -> Result<Lab, Vec<String>> {
    let files = |name: &str| Err(format!("no such file: {name}"));
    let machine = MachineFacts { cpus: None, open_files: None, memory_bytes: None };
    let input = Input { name: "steer.yaml", bytes: text.as_bytes(), files: &files, machine };
    let reading = read(&input);
    let reported: Vec<String> = reading.diagnostics.sorted().iter().map(|one| one.message.clone()).collect();
    reading.lab.ok_or(reported)
}

const DIRECT: &str = "  lb1:
    role: balancer
    networks: {front: {address: 10.30.0.10}}
    services:
      - direct_routing:
          address: 10.30.0.100
          listen: [80, 443]
          servers:
            - app[1-2]
            - {server: app3, weight: 2}
          slots: 1021
          sticky: 90s
          flows: 5k
  app[1-3]:
    role: server
    networks: [front]
    services:
      - serve: {listen: [80, 443]}
";

fn direct() -> Lab {
    lab(DIRECT)
}

fn nat(masquerade: bool) -> Lab {
    lab(&nat_text(masquerade))
}

fn nat_text(masquerade: bool) -> String {
    format!(
        "  lb1:
    role: balancer
    networks: [front, back]
    services:
      - nat: {{listen: 80, servers: \"app[1-2]:8080\", masquerade: {masquerade}, check: {{http: /ping, fall: 3}}}}
  app[1-2]:
    role: server
    networks: [back]
    services:
      - serve: {{listen: 8080}}
"
    )
}

fn steering(lab: &Lab) -> NftBalancer<'_> {
    let host = lab.host("lb1").expect("it is in the file");
    NftBalancer::for_service(&host.services[0], host).expect("it steers")
}

/// Returns the lines of `text` that contain `word`.
#[track_caller]
fn check(text: &str, word: &str, expected: usize) {
    let count = text.lines().filter(|line| line.contains(word)).count();
    assert_eq!(count, expected, "`{word}` in\n{text}");
}

/// How many slots each server has.
fn shares(slots: &str, servers: &[&str]) -> Vec<usize> {
    let elements: Vec<&str> = slots
        .lines()
        .filter_map(|line| line.split_once('{'))
        .flat_map(|(_, rest)| rest.trim_end_matches([' ', '}']).split(", "))
        .collect();
    let of = |server: &&str| {
        elements
            .iter()
            .filter(|element| element.trim().split_once(" : ").is_some_and(|(_, owner)| owner == *server))
            .count()
    };
    servers.iter().map(of).collect()
}

#[test]
fn direct_routing_is_a_table_at_the_balancers_ingress() {
    let lab = direct();
    let (steering, balancer) = (steering(&lab), lab.host("lb1").expect("it is in the file"));
    let rules = steering.rules();
    assert_eq!(rules.text.lines().count(), rules.origins.len(), "every line has its reason, or none");
    check(&rules.text, "hook ingress device \"eth0\"", 1);
    check(&rules.text, "ip daddr 10.30.0.100 ip hdrlength 5 tcp dport { 80, 443 } goto steer", 1);
    // ICMP errors of routers about a TCP packet from this address and one of its ports.
    check(&rules.text, "@th,136,8 6 @th,160,32 0x0a1e0064 @th,224,16 { 80, 443 } goto icmp_errors", 1);
    check(&rules.text, "timeout 90s;", 1);
    check(&rules.text, "size 5000;", 1);
    check(&rules.text, "mod 1021", 3);
    // The frames leave as the balancer's own, for the servers' hardware addresses.
    let mac = |mac: [u8; 6]| mac.map(|byte| format!("{byte:02x}")).join(":");
    check(&rules.text, &format!("ether saddr set {} ether daddr set", mac(balancer.interfaces[0].mac)), 1);
    for (number, name) in ["app1", "app2", "app3"].iter().enumerate() {
        let server = lab.host(name).expect("it is in the file");
        check(&rules.text, &format!("servers {{ {} : {} }}", number + 1, mac(server.interfaces[0].mac)), 1);
        assert!(
            server.virtual_addresses.iter().any(|one| one.address.to_string() == "10.30.0.100"),
            "{name} takes it"
        );
    }
    let at = rules.text.lines().position(|line| line.contains("timeout 90s;")).expect("it was found above");
    assert_eq!(rules.origin_of(at + 1).map(|place| place.line), Some(17), "`sticky` is on this line");
    assert_eq!(steering.removal(), "delete table netdev wavetank_direct_routing\n");
}

/// `text` with networks, and an address, of IPv6 instead.
fn six(text: &str) -> String {
    let text = text.replace("10.30.0.0/24", "\"fd00:30::/64\"").replace("10.30.1.0/24", "\"fd00:30:1::/64\"");
    text.replace("10.30.0.100", "\"fd00:30::100\"").replace("10.30.0.10", "\"fd00:30::10\"")
}

#[test]
fn rules_for_ipv6_come_from_the_same_hand() {
    let lab = lab_of(&six(&format!("{HOSTS}{DIRECT}"))).expect("a lab");
    let rules = steering(&lab).rules().text;
    check(&rules, "ip6 daddr fd00:30::100 ip6 nexthdr tcp tcp dport { 80, 443 } goto steer", 1);
    check(
        &rules,
        "@th,112,8 6 @th,128,128 0xfd000030000000000000000000000100 @th,384,16 { 80, 443 } goto icmp_errors",
        1,
    );
    check(&rules, "jhash ip6 saddr . tcp sport . tcp dport mod 1021", 1);
    check(&rules, " ip ", 0);
    check(&rules, "HASH", 0);
    let app1 = lab.host("app1").expect("it is in the file");
    assert_eq!(app1.virtual_addresses[0].address.to_string(), "fd00:30::100");
    assert!(app1.sysctls.iter().all(|one| !one.key.contains("arp_")), "IPv6 is silent by itself");
    for masquerade in [true, false] {
        let lab = lab_of(&six(&format!("{HOSTS}{}", nat_text(masquerade)))).expect("a lab");
        let steering = steering(&lab);
        let rules = steering.rules().text;
        check(&rules, "dnat ip6 to jhash ip6 saddr", 1);
        check(&rules, "masquerade", usize::from(masquerade));
        assert_eq!(steering.table(), "ip6 wavetank_nat");
        check(&steering.slots(&[1, 0]), "fd00:30:1::2 . 8080", 65);
        let forwards = |sysctl: &wavetank_topology::Sysctl| {
            sysctl.key == "net.ipv6.conf.all.forwarding" && sysctl.value == "1"
        };
        assert!(lab.host("lb1").is_some_and(|host| host.sysctls.iter().any(forwards)));
    }
}

#[test]
fn nat_keeps_the_family() {
    let text = |networks: &str| {
        format!(
            "wavetank_lab: 1
name: mixed
networks: {{front: \"fd00:30::/64\", back: 10.30.1.0/24, back6: \"fd00:30:1::/64\"}}
hosts:
  lb1: {{role: balancer, networks: [front, back, back6], services: [nat: {{listen: 80, servers: app1}}]}}
  app1: {{role: server, networks: {networks}, services: [serve: {{listen: 80}}]}}
"
        )
    };
    let lab = lab_of(&text("[back, back6]")).expect("both are on one of IPv6");
    assert_eq!(steering(&lab).servers()[0].address.to_string(), "fd00:30:1::2");
    let reported = lab_of(&text("[back]")).expect_err("they are on none");
    assert_eq!(reported, ["`app1` has no address of IPv6 on a network of the balancer"]);
}

#[test]
fn weights_are_parts_of_the_slots() {
    let lab = direct();
    let steering = steering(&lab);
    let pool = steering.pool();
    assert_eq!(pool.weights(), [1, 1, 2]);
    assert_eq!(shares(&steering.slots(&pool.weights()), &["1", "2", "3"]), [256, 255, 510]);
    assert_eq!(shares(&steering.slots(&[1, 0, 0]), &["1", "2", "3"]), [1021, 0, 0]);
    assert_eq!(
        steering.slots(&[0, 0, 0]),
        "flush map netdev wavetank_direct_routing slots\n",
        "everybody is refused"
    );
}

#[test]
fn nat_changes_addresses_and_ports() {
    for masquerade in [true, false] {
        let lab = nat(masquerade);
        let steering = steering(&lab);
        let rules = steering.rules().text;
        check(&rules, "type nat hook prerouting", 1);
        check(&rules, "dnat ip to jhash", 1);
        check(&rules, "masquerade", usize::from(masquerade));
        let server = |name: &str| {
            let host = lab.host(name).expect("it is in the file");
            format!("{} . 8080", host.interfaces[0].addresses[0].0)
        };
        let slots = steering.slots(&[1, 1]);
        let shares = shares(&slots, &[&server("app1"), &server("app2")]);
        assert_eq!((shares.iter().sum::<usize>(), shares[0].abs_diff(shares[1])), (4099, 1), "{shares:?}");
        let forwards =
            |sysctl: &wavetank_topology::Sysctl| sysctl.key == "net.ipv4.ip_forward" && sysctl.value == "1";
        assert!(lab.host("lb1").is_some_and(|host| host.sysctls.iter().any(forwards)));
        assert_eq!(steering.pool(), Pool::new([1, 1], 3, 2));
    }
}

#[test]
fn keepalived_gets_a_virtual_server_for_each_port() {
    let lab = lab("  lb1:
    role: balancer
    networks: [front]
    services:
      - ipvs: {address: 10.30.0.100, listen: [80, 81], servers: \"app[1-2]\", check: {http: \"/a?b=1\", every: 500ms, fall: 4}}
  app[1-2]:
    role: server
    networks: [front]
    services:
      - serve: {listen: [80, 81]}
");
    let service = &lab.host("lb1").expect("it is in the file").services[0];
    let ServiceKind::Ipvs(ipvs) = &service.kind else { panic!("{service:?}") };
    let config = keepalived(service, ipvs);
    assert_eq!(config.text.lines().count(), config.origins.len(), "every line has its reason, or none");
    check(&config.text, "virtual_server 10.30.0.100 80 {", 1);
    check(&config.text, "virtual_server 10.30.0.100 81 {", 1);
    check(&config.text, "real_server 10.30.0.", 4);
    check(&config.text, "lb_kind DR", 2);
    check(&config.text, "lb_algo mh", 2);
    check(&config.text, "path \"/a?b=1\"", 4);
    check(&config.text, "retry 3", 4);
    check(&config.text, "delay_before_retry 0.5", 4);
    let braces = |letter| config.text.matches(letter).count();
    assert_eq!(braces('{'), braces('}'));
}

#[test]
fn balancers_of_different_addresses_share_a_port() {
    let both = |address: &str| {
        reading(&format!(
            "  lb1:
    role: balancer
    networks: [front]
    services:
      - direct_routing: {{address: 10.30.0.100, listen: 80, servers: app1}}
      - nat: {{address: {address}, listen: 80, servers: app1}}
  app1: {{role: server, networks: [front], services: [serve: {{listen: 80}}]}}
"
        ))
    };
    assert!(both("10.30.0.101").is_ok());
    let reported = both("10.30.0.100").expect_err("one address, one port, two balancers");
    assert_eq!(reported, ["port 80 is already used by service `direct_routing`"]);
}
