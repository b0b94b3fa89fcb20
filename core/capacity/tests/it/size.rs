//! The needs of a load: the cases that articles about a million connections report, and options at
//! their limits.

use wavetank_capacity::size::{
    Balancing, CloseSide, HostInventory, LoadDemand, LoadOptions, PerSecond, PortsOption, Role, RoleCapacity,
    SERVICE, SizeOptions, Sizing, TransactionProfile,
};
use wavetank_units::quantity::{parse_count, parse_duration, parse_rate};
use wavetank_units::{ExitCode, Rate, UserError};

/// Sizes a load from the command line's load arguments, and `hosts` from its host arguments.
fn sized(load: &str, hosts: &str) -> Result<Sizing, UserError> {
    let mut words = LoadOptions::default();
    let mut wishes = SizeOptions::default();
    let mut exchange = TransactionProfile {
        service: SERVICE,
        service_given: false,
        request_bytes: 100,
        answer_bytes: 1_000,
        tls: false,
        closing: CloseSide::Client,
    };
    for (word, value) in pairs(load).into_iter().chain(pairs(hosts)) {
        match word {
            "-r" => words.rate = Some(parse_rate(value)?),
            "-c" => words.connections = Some(parse_count(value)?),
            "--hold" => words.hold = Some(parse_duration(value)?),
            "-d" => words.duration = Some(parse_duration(value)?),
            "-n" => words.requests = Some(parse_count(value)?),
            "--each" => words.each = Some(parse_count(value)?),
            "--open-rate" => words.open_rate = Some(parse_rate(value)?),
            "--service" => {
                (exchange.service, exchange.service_given) = (parse_duration(value)?, true);
            }
            "--request" => exchange.request_bytes = parse_count(value)?,
            "--answer" => exchange.answer_bytes = parse_count(value)?,
            "--tls" => exchange.tls = value == "yes",
            "--close" => exchange.closing = CloseSide::Reset,
            "--capacity" => wishes.capacity.push(RoleCapacity::parse(value)?),
            "--hosts" => wishes.hosts.push(SizeOptions::parse_hosts(value)?),
            "--ports" => wishes.ports = Some(PortsOption::parse(value)?),
            "--balancer" => wishes.balancer = Some(Balancing::parse(value)?),
            "--spare" => wishes.spare = Some(parse_count(value)?),
            "--backends" => wishes.backends = Some(parse_count(value)?),
            "--targets" => wishes.targets = Some(parse_count(value)?),
            "--source" => wishes.sources = Some(parse_count(value)?),
            "--memory" => wishes.memory = Some(parse_count(value)?),
            "--link" => wishes.link = Some(parse_count(value)?),
            other => panic!("{other} is no word of this test"),
        }
    }
    let means = HostInventory::from_options(&wishes, 1)?;
    Ok(Sizing::compute(LoadDemand::from_options(&words, exchange)?, &means))
}

fn pairs(line: &str) -> Vec<(&str, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.chunks(2).map(|pair| (pair[0], pair[1])).collect()
}

/// Each number by `role.name`, `hosts.ROLE` for the hosts of a tier, as it is shown.
#[track_caller]
fn check(load: &str, hosts: &str, expected: &[(&str, &str)]) -> Sizing {
    let sizing = sized(load, hosts).unwrap_or_else(|error| panic!("{load} {hosts}: {error}"));
    for &(name, value) in expected {
        let (role, what) = name.split_once('.').unwrap_or(("", name));
        let found = if role == "hosts" {
            let tier = sizing.tiers.iter().find(|tier| tier.role.name() == what);
            tier.map(|tier| tier.needed.to_string())
        } else {
            let all = sizing.demand.asked.iter().chain(&sizing.tuples.answers);
            let all = all.chain(&sizing.memory).chain(&sizing.network);
            all.into_iter()
                .find(|one| one.what == what && one.role.map_or("", Role::name) == role)
                .map(|one| one.value.show())
        };
        assert_eq!(found.as_deref(), Some(value), "{name} of {load} {hosts}: {sizing:#?}");
    }
    sizing
}

#[track_caller]
fn lacks(sizing: &Sizing, mentions: &str) {
    assert!(
        sizing.lacking.iter().any(|one| one.message.contains(mentions)),
        "{mentions}: {:?}",
        sizing.lacking
    );
}

#[track_caller]
fn refused(load: &str, hosts: &str, mentions: &str) {
    let error = sized(load, hosts).expect_err(load);
    assert!(error.exit == ExitCode::Usage && !error.hint.is_empty(), "{error}");
    assert!(error.message.contains(mentions), "`{mentions}` is not in: {error}");
}

/// The first article: twenty load hosts with 64,000 ports each, ten thousand requests a second that
/// take 100 s.
#[test]
fn twenty_hosts_of_64k_ports_hold_1_28_million() {
    let all = check(
        "-r 10k/s --hold 100s",
        "--hosts load=20 --ports 64k --balancer proxy",
        &[
            ("connections", "1,000,000"),
            ("opens_per_s", "10,000/s"),
            ("load.source_addresses", "16"),
            ("load.connections_by_ports", "1,280,000"),
            ("balancer.established", "2,000,000"),
        ],
    );
    assert!(all.lacking.is_empty(), "{:?}", all.lacking);
    // 500 connections a second from each of the twenty.
    assert_eq!(all.demand.opens.part(20), PerSecond::from_rate(Rate::per_second(500)));
}

/// The second article: two back ends behind a balancer that ran out of ports. Its 6.96 million
/// established sockets were half as many connections, and needed 70 pairs of address and port with
/// the range 15000 to 65000.
#[test]
fn two_back_ends_are_exhausted_and_seventy_do() {
    let short = check(
        "-c 3.48M",
        "--ports 64k --backends 2",
        &[("balancer.connections_by_ports", "128,000"), ("balancer.established", "6,960,000")],
    );
    lacks(&short, "2 back ends × 64,000 ports = 128,000 connections, not 3,480,000");
    let enough = check(
        "-c 3.48M",
        "--ports 15000-65000 --backends 70",
        &[("balancer.backend_tuples", "70"), ("balancer.established", "6,960,000")],
    );
    assert!(enough.lacking.is_empty(), "{:?}", enough.lacking);
    lacks(&check("-c 3.48M", "--ports 15000-65000 --backends 69", &[]), "exhausted");
}

/// The first article on Tsung: seven hosts of 40,000 requests a second each are no five million.
#[test]
fn seven_times_40k_are_280k_and_no_five_million() {
    let short = check("-r 5M/s", "--capacity load=40k/s --hosts load=7", &[("hosts.load", "125")]);
    lacks(&short, "7 hosts in the role load × 40,000/s = 280,000/s, not 5,000,000/s");
    let enough = check("-r 280k/s", "--capacity load=40k/s --hosts load=7", &[("hosts.load", "7")]);
    assert!(enough.lacking.is_empty(), "{:?}", enough.lacking);
}

/// The command line of the issue.
#[test]
fn balancers_and_servers_come_of_their_capacity_and_spare_ones() {
    let all = check(
        "-r 1M/s -c 1M --hold 100s",
        "--capacity balancer=270k/s --capacity server=140k/s --spare 1",
        &[
            ("hosts.balancer", "5"),
            ("hosts.server", "9"),
            ("opens_per_s", "10,000/s"),
            ("each_sends_every", "1s"),
            ("in_flight", "100,000"),
            ("balancer.backend_tuples", "4"),
        ],
    );
    let balancer = &all.tiers[1];
    assert_eq!((balancer.working(), balancer.connections_each(&all.demand)), (4, 250_000));
}

#[test]
fn sixty_thousand_connections_need_no_source_address() {
    check("-c 60481", "", &[("load.source_addresses", "1")]);
    check("-c 60482", "", &[("load.source_addresses", "2"), ("load.or_targets", "2")]);
    check("-c 60482", "--targets 2", &[("load.source_addresses", "1")]);
    check("-c 64512", "--ports 1024-65535", &[("load.source_addresses", "1")]);
    // Tuples in their rest time count too.
    check("-c 64000 --hold 10s", "--ports 64k", &[("load.source_addresses", "2")]);
    lacks(&check("-c 200k", "--ports 64k --source 3", &[]), "3 source addresses × 64,000 = 192,000");
    assert!(check("-c 200k", "--ports 64k --source 4", &[]).lacking.is_empty());
}

/// Rate, connections, time and requests per connection are related, whichever of them are given.
#[test]
fn each_number_follows_from_the_others() {
    check(
        "-c 1M --hold 100s --each 100",
        "",
        &[("requests_per_s", "1,000,000/s"), ("opens_per_s", "10,000/s")],
    );
    check("-r 1M/s -c 1M --each 100", "", &[("opens_per_s", "10,000/s")]);
    check("-r 1M/s --each 100 --hold 100s", "", &[("connections", "1,000,000")]);
    check("-r 1M/s", "", &[("connections", "100,000")]);
    check("-r 1M/s --service 1ms", "", &[("connections", "1,000")]);
    check("-r 7/min --hold 60s", "", &[("connections", "7")]);
    check("-r 1k/s -d 60s", "", &[("requests_in_all", "60,000")]);
    check("-r 1k/s -n 30k", "", &[("length", "30s"), ("requests_in_all", "30,000")]);
    check("-r 1M/s -c 50", "", &[("in_flight", "50")]);
    check("-c 1M --open-rate 25k/s", "", &[("opening_takes", "40s")]);
    assert_eq!(sized("-r 1M/s -c 50", "").unwrap().demand.notes.len(), 1, "50 us for each answer");
}

#[test]
fn words_that_say_too_little_or_two_things_are_refused() {
    refused("", "", "no option sets the load");
    refused("--hold 10s", "", "no option sets how much");
    refused("-c 10 --each 5", "", "mean nothing without");
    refused("-c 1M --hold 10s -r 1k/s --each 3", "", "-r says 1,000/s");
    refused("-r 1M/s -c 1M --service 3s", "", "3,000,000 connections busy");
    refused("-c 5 -n 10", "", "-n means nothing");
    refused("-r 1G/s --hold 1000d", "", "out of range");
    refused("-c 5", "--hosts server=1 --spare 1", "leaves none");
    refused("-c 5", "--balancer none --backends 2", "--backends means nothing");
    refused("-c 5", "--balancer direct --backends 2", "--backends means nothing");
    refused("-c 5", "--hosts load=1 --hosts load=2", "given twice");
    refused("-c 5", "--capacity load=1/s --capacity load=2/s", "given twice");
    for ports in ["0", "65536", "100k", "9-8", "0-5", "1-70000", "a-b"] {
        refused("-c 5", &format!("--ports {ports}"), "");
    }
}

/// The largest that can be asked for stays exact where it can, and finite where not.
#[test]
fn nothing_overflows() {
    let most =
        sized("-r 1G/s -c 1G --hold 1d --answer 1M", "--link 1 --memory 1 --capacity server=1/s,1").unwrap();
    // 691 full segments of an answer and their heads, 8 bits a byte, on links of one bit a second.
    let server = &most.tiers[1];
    let bits = 1_000_000_000 * (1_000_000 + 692 * 90) * 8 / 85 * 100;
    assert!(server.needed.abs_diff(bits) < bits / 1_000_000, "{} {bits}", server.needed);
    assert_eq!(server.limits[0].what, "link");
    check("-c 999999999999", "", &[("load.source_addresses", "16,534,119"), ("load.memory_each", "4510 TB")]);
}

/// Segments, heads and acknowledgements.
#[test]
fn links_carry_what_packets_weigh() {
    // One request of 100 B and a response of 1,000: two packets each way with 90 B of overhead.
    check(
        "-r 1M/s -c 1M",
        "",
        &[
            ("request_up", "280 B"),
            ("answer_down", "1.2 kB"),
            ("load.in_packets", "2,000,000/s"),
            ("load.out_packets", "2,000,000/s"),
            ("load.out", "2.24 Gbit/s"),
            ("server.out", "9.44 Gbit/s"),
        ],
    );
    // A response that comes soon acknowledges its request.
    check(
        "-r 1M/s -c 1M --service 1ms",
        "",
        &[("load.in_packets", "1,000,000/s"), ("load.out_packets", "2,000,000/s")],
    );
    // A page of 100 kB is 70 segments and 35 acknowledgements.
    check(
        "-r 1k/s --service 1ms --answer 100k",
        "",
        &[("load.in_packets", "70,000/s"), ("load.out_packets", "36,000/s")],
    );
    // A proxy carries everything twice; a director carries only traffic from clients.
    let [proxy, direct] = ["proxy", "direct"]
        .map(|way| sized("-r 1k/s --service 1ms", &format!("--balancer {way}")).unwrap().tiers[1].ways);
    assert_eq!(proxy.into.packets, PerSecond::from_rate(Rate::per_second(3_000)));
    assert_eq!(direct.into, direct.out);
    assert_eq!(direct.into.packets, PerSecond::from_rate(Rate::per_second(2_000)));
    // A connection of its own for each request costs six packets more, seven with a reset left out.
    check(
        "-r 1k/s --each 1 --service 1ms",
        "",
        &[("load.out_packets", "6,000/s"), ("load.in_packets", "3,000/s")],
    );
    check(
        "-r 1k/s --each 1 --service 1ms --close rst",
        "",
        &[("load.out_packets", "5,000/s"), ("load.in_packets", "2,000/s")],
    );
}

#[test]
fn memory_and_links_ask_for_hosts_too() {
    let all = check("-c 1M", "--memory 4000000000", &[("hosts.load", "2"), ("hosts.server", "2")]);
    assert_eq!(all.tiers[0].limits[0].what, "memory");
    check("-r 1M/s -c 1M", "--link 10000000000", &[("hosts.load", "2"), ("hosts.server", "2")]);
    check("-r 900k/s -c 1M", "--link 10000000000", &[("hosts.load", "1")]);
    // TLS costs both ends something; a proxy ends it.
    let memory = |words: &str| {
        let tiers = sized("-c 1M --tls yes", words).unwrap().tiers;
        tiers.iter().map(|tier| tier.each.idle()).collect::<Vec<_>>()
    };
    let plain = sized("-c 1M", "").unwrap().tiers;
    assert!(memory("")[0] > plain[0].each.idle() + 3_000 && memory("")[1] > plain[1].each.idle() + 3_000);
    assert_eq!(memory("--balancer proxy")[2], plain[1].each.idle());
    assert_eq!(sized("-c 1M", "--balancer direct").unwrap().tiers[1].each.idle(), 0);
}

/// Every limit that a role needs, and none that it does not.
#[test]
fn limits_of_the_kernel_follow_the_load() {
    let all = sized("-r 1M/s -c 1M --hold 100s", "--balancer proxy").unwrap();
    let value = |role: Role, name: &str| {
        all.tunings.iter().find(|one| one.role == role && one.name == name).map(|one| one.value.as_str())
    };
    assert_eq!(value(Role::Load, "fs.file-max"), Some("1110000"));
    assert_eq!(value(Role::Balancer, "fs.file-max"), Some("2210000"));
    assert_eq!(value(Role::Balancer, "fs.nr_open"), Some("2201000"));
    assert_eq!(value(Role::Balancer, "net.ipv4.ip_local_port_range"), Some("1024 65535"));
    assert_eq!(value(Role::Load, "net.ipv4.tcp_max_tw_buckets"), Some("720000"));
    assert_eq!(value(Role::Load, "net.core.somaxconn"), None, "it accepts nothing");
    assert_eq!(value(Role::Server, "net.core.somaxconn"), Some("4096"));
    assert_eq!(value(Role::Server, "net.ipv4.ip_local_port_range"), None, "it opens nothing");
    assert_eq!(value(Role::Server, "net.ipv4.tcp_max_tw_buckets"), None, "who closes first keeps them");
    let quick = sized("-r 1M/s --each 1", "").unwrap();
    let queue = quick.tunings.iter().find(|one| one.name == "net.core.somaxconn").unwrap();
    assert_eq!(queue.value, "65535", "2^18 would be a queue of seconds");
    let few = sized("-c 100", "").unwrap();
    assert!(few.tunings.iter().all(|one| one.name != "net.ipv4.tcp_mem" && one.name != "fs.nr_open"));
    let many = sized("-c 100M", "").unwrap();
    assert!(many.tunings.iter().any(|one| one.name == "net.ipv4.neigh.default.gc_thresh3"));
}
