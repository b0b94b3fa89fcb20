//! URLs, networks, sources, connect-to and the guard: every way to name an address.

use std::net::SocketAddr;

use wavetank_plan::{ConnectTo, Guard, StatusSet, TargetUrl, parse_sources};
use wavetank_units::{AllowTarget, ExitCode, Network, Ports};

#[test]
fn urls() {
    for (text, host, port, path, header) in [
        ("http://localhost", "localhost", 80, "/", "localhost"),
        ("HTTP://LOCALHOST:81/A", "localhost", 81, "/A", "localhost:81"),
        ("localhost:8080/x?y=z&a", "localhost", 8_080, "/x?y=z&a", "localhost:8080"),
        (":8080", "localhost", 8_080, "/", "localhost:8080"),
        (":8080/path", "localhost", 8_080, "/path", "localhost:8080"),
        ("10.0.0.5/", "10.0.0.5", 80, "/", "10.0.0.5"),
        ("[::1]:80", "::1", 80, "/", "[::1]"),
        ("http://[FD00::1]:8080/a", "fd00::1", 8_080, "/a", "[fd00::1]:8080"),
        ("example.com.", "example.com.", 80, "/", "example.com."),
        ("https://example.com.:8443/a", "example.com.", 8_443, "/a", "example.com.:8443"),
        ("http://[fe80::1%25eth0]:81/a%25b", "fe80::1%eth0", 81, "/a%25b", "[fe80::1]:81"),
        ("[fe80::1%2]", "fe80::1%2", 80, "/", "[fe80::1]"),
        ("127.0.0.1.:81", "127.0.0.1", 81, "/", "127.0.0.1:81"),
        ("example.com#part", "example.com", 80, "/", "example.com"),
        ("example.com/ä?ö", "example.com", 80, "/%C3%A4?%C3%B6", "example.com"),
        ("münchen.example", "xn--mnchen-3ya.example", 80, "/", "xn--mnchen-3ya.example"),
        ("https://localhost", "localhost", 443, "/", "localhost"),
        ("HTTPS://:8443/a", "localhost", 8_443, "/a", "localhost:8443"),
        ("https://[::1]:80/", "::1", 80, "/", "[::1]:80"),
        ("http://localhost:443", "localhost", 443, "/", "localhost:443"),
        ("localhost/a@b:c", "localhost", 80, "/a@b:c", "localhost"),
        ("localhost/r?to=http://x", "localhost", 80, "/r?to=http://x", "localhost"),
    ] {
        let url = TargetUrl::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((url.host.as_str(), url.port, url.path.as_str()), (host, port, path), "{text}");
        assert_eq!(url.host_header(), header, "{text}");
        assert_eq!(url.tls, text.to_ascii_lowercase().starts_with("https:"), "{text}");
        assert_eq!(TargetUrl::parse(&url.url()), Ok(url), "{text}: its own URL reads back");
    }
    assert_eq!(TargetUrl::parse("[::1]:81").unwrap().address(), Some("[::1]:81".parse().unwrap()));
    assert_eq!(TargetUrl::parse("localhost").unwrap().address(), None);
}

#[test]
fn a_name_is_certified_without_its_final_dot() {
    for (text, name) in [("https://example.com.", "example.com"), ("https://example.com", "example.com")] {
        assert_eq!(TargetUrl::parse(text).expect("a URL").certificate_name(), name, "{text}");
    }
    for text in ["http://.", "http://..:80/"] {
        assert!(TargetUrl::parse(text).is_err(), "{text}");
    }
}

#[test]
fn an_ipv6_address_without_brackets_is_shown_with_them() {
    for (text, hint) in [
        ("::1:8080/a", "write [::1]:8080/a"),
        ("http://::1:8080", "write http://[::1]:8080"),
        ("http://fe80::1/", "write http://[fe80::1]/"),
    ] {
        assert_eq!(TargetUrl::parse(text).expect_err(text).hint, hint, "{text}");
    }
    let user = TargetUrl::parse("http://us%40er:pw@localhost/").expect_err("a user");
    assert!(user.hint.contains("--basic us@er:…"), "{user}");
    let zone = TargetUrl::parse("http://[fe80::1%]/").expect_err("a zone without a name");
    assert!(zone.message.contains("zone") && zone.hint.contains("[fe80::1%25eth0]"), "{zone}");
    for (text, hint) in [
        ("::1:8080", "[::1]:8080"),
        ("::1", "[::1]"),
        ("fd00::5:443", "[fd00::5]:443"),
        ("2001:db8::5:8080", "[2001:db8::5]:8080"),
        ("shop.test:80:::1:8080", "shop.test:80:[::1]:8080"),
        ("shop.test:80:fd00::5", "shop.test:80:[fd00::5]"),
    ] {
        let error = ConnectTo::parse(text).expect_err(text);
        assert_eq!((error.code.as_str(), error.hint.as_str()), ("bad_connect_to", hint), "{text}");
    }
    for text in ["::db:5432", ":::81", "::10.0.0.5:80", "a:1:b:2"] {
        assert!(ConnectTo::parse(text).is_ok(), "{text}");
    }
}

#[test]
fn networks() {
    for (text, inside, outside) in [
        ("10.1.2.3/8", "10.255.0.1", "11.0.0.0"),
        ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
        ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
        ("0.0.0.0/0", "255.255.255.255", "::1"),
        ("fd00::/8", "fdff::1", "fc00::1"),
        ("::/0", "ffff::", "10.0.0.1"),
    ] {
        let network = Network::parse(text).unwrap();
        assert!(network.contains(inside.parse().unwrap()), "{inside} in {text}");
        assert!(!network.contains(outside.parse().unwrap()), "{outside} not in {text}");
    }
    for bad in ["10.0.0.0/33", "::/129", "10.0.0/8", "10.0.0.0/-1", "name/8", "", "10.0.0.0/"] {
        assert_eq!(Network::parse(bad), None, "{bad}");
    }
}

#[test]
fn ports_without_some() {
    let check = |taken: &[(u16, u16)], left: &[u16]| {
        let ports = Ports::range(10, 20).without(taken);
        assert_eq!(ports.iter().collect::<Vec<_>>(), left, "{taken:?}");
        assert_eq!(ports.count(), left.len() as u64);
    };
    check(&[], &[10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    check(&[(0, 12), (15, 15), (15, 18), (20, 65_535)], &[13, 14, 19]);
    check(&[(21, 65_535), (0, 9), (5, 3)], &[10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    check(&[(0, 65_535)], &[]);
    check(&[(11, 19), (12, 13), (9, 10)], &[20]);
    assert_eq!(Ports::range(9, 3), Ports::default());
    assert_eq!(Ports::range(0, 65_535).without(&[(0, 0), (65_535, 65_535)]).count(), 65_534);
}

#[test]
fn tuples_leave_some_ports_that_the_kernel_looks_at_first() {
    let check = |ports: Ports, first: u16, left: u64| {
        let tuples: Vec<u16> = ports.for_tuples(first).iter().collect();
        let alone: Vec<u16> = ports.iter().filter(|port| !tuples.contains(port)).collect();
        assert_eq!(alone.len() as u64, left, "{alone:?}");
        assert_eq!(tuples.len() as u64, ports.count() - left);
        assert_eq!(ports.for_tuples(first).count(), tuples.len() as u64);
        alone.iter().filter(|&port| (port ^ first) & 1 == 0).count() as u64
    };
    assert_eq!(
        check(Ports::range(32_768, 60_999), 32_768, 1_764),
        1_764,
        "one of sixteen, all looked at first"
    );
    assert_eq!(check(Ports::range(1_025, 65_535), 1_025, 4_031), 4_031);
    assert_eq!(check(Ports::range(40_000, 40_199), 40_000, 49), 49, "one of four where there are few");
    assert_eq!(check(Ports::range(40_000, 42_047), 40_000, 255), 255, "one of eight in between");
    for few in 0..3 {
        assert_eq!(check(Ports::range(40_000, 40_000 + few), 40_000, 0), 0, "a handful is no choice");
    }
    // If every port of that parity is taken, some of the others are better than none.
    let even: Vec<(u16, u16)> = (40_000..41_000).step_by(2).map(|port| (port, port)).collect();
    assert_eq!(check(Ports::range(40_000, 40_999).without(&even), 40_000, 62), 0);
}

#[test]
fn sources() {
    for (text, expected, addresses) in [
        ("10.0.8.0/28", "10.0.8.1-10.0.8.14", 14),
        ("10.0.8.4/31", "10.0.8.4-10.0.8.5", 2),
        ("10.0.8.4/32", "10.0.8.4-10.0.8.4", 1),
        ("10.0.8.4", "10.0.8.4-10.0.8.4", 1),
        ("10.0.8.1-10.0.9.0", "10.0.8.1-10.0.9.0", 256),
        ("127.0.0.1-20", "127.0.0.1-127.0.0.20", 20),
        ("127.0.0.0/8", "127.0.0.1-127.255.255.254", 16_777_214),
        ("fd00::/112", "fd00::-fd00::ffff", 65_536),
        ("::/0", "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", u128::MAX),
    ] {
        let ranges = parse_sources(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(format!("{}-{}", ranges[0].first, ranges[0].last), expected, "{text}");
        assert_eq!(ranges[0].len(), addresses, "{text}");
        assert!(ranges[0].contains(ranges[0].first) && ranges[0].contains(ranges[0].last));
    }
    for bad in ["10.0.8.1-0", "10.0.8.1-300", "::1-2", "10.0.0.1-::1", "10.0.0.1,", "10.0.0.1,10.0.0.1", "x"]
    {
        assert_eq!(parse_sources(bad).unwrap_err().code, "bad_source", "{bad}");
    }
}

#[test]
fn connect_to() {
    let url = TargetUrl::parse("shop.example:8080/").unwrap();
    for (text, expected) in [
        ("127.0.0.1", Some(("127.0.0.1", 8_080))),
        ("127.0.0.1:81", Some(("127.0.0.1", 81))),
        (":81", Some(("shop.example", 81))),
        ("[::1]:81", Some(("::1", 81))),
        ("SHOP.example:8080:web1:80", Some(("web1", 80))),
        ("shop.example:8080:[::1]:", Some(("::1", 8_080))),
        (":::81", Some(("shop.example", 81))),
        ("::web1:", Some(("web1", 8_080))),
        ("other:8080:web1:80", None),
        ("shop.example:80:web1:80", None),
    ] {
        let rule = ConnectTo::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(rule.apply(&url), expected.map(|(host, port)| (host.to_owned(), port)), "{text}");
    }
    for bad in ["", ":", "a:b", "a:0", "a:99999", "a:1:b", "[::1", "[::1]x", "a:1:b:2:c"] {
        assert_eq!(ConnectTo::parse(bad).unwrap_err().code, "bad_connect_to", "{bad}");
    }
}

#[test]
fn status_sets() {
    for (text, shown) in [
        ("200", "200"),
        ("200,301", "200, 301"),
        ("200 to 399", "200 to 399"),
        ("200-204", "200 to 204"),
        ("2xx or 404", "200 to 299, 404"),
        ("404,200 to 299,300", "200 to 300, 404"),
        ("200,200", "200"),
    ] {
        let set = StatusSet::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(set.to_string(), shown, "{text}");
        assert_eq!(StatusSet::parse(&set.to_string()), Ok(set), "{text}");
    }
    for bad in ["", "20", "0200", "99", "1000", "200 to", "300 to 200", "200,,301", "0xx", "ok", "+20"] {
        assert_eq!(StatusSet::parse(bad).unwrap_err().code, "bad_status", "{bad}");
    }
}

/// Whether the guard lets `address` through, reached under the name `host`.
fn check(allowed: &[&str], host: &str, address: &str, open: bool) {
    let guard = Guard::new(allowed.iter().map(|text| AllowTarget::parse(text).expect(text)).collect());
    let socket: SocketAddr = SocketAddr::new(address.parse().expect(address), 80);
    match guard.check(host, socket, "wavetank run URL") {
        Ok(()) => assert!(open, "{host} {address} must not pass {allowed:?}"),
        Err(error) => {
            assert!(!open, "{host} {address} must pass {allowed:?}: {error}");
            assert_eq!((error.code.as_str(), error.exit), ("target_not_allowed", ExitCode::Refused));
            assert!(error.hint.contains("wavetank run URL --allow-target "), "{error}");
        }
    }
}

#[test]
fn the_guard_of_an_agent_opens_nothing_but_its_list() {
    let check = |allowed: &[&str], host: &str, address: &str, open: bool| {
        let list = allowed.iter().map(|text| AllowTarget::parse(text).expect(text));
        let guard = Guard::of_agent(list.collect());
        let socket = SocketAddr::new(address.parse().expect(address), 80);
        let result = guard.check(host, socket, "wavetank run");
        assert_eq!(result.is_ok(), open, "{allowed:?} {host} {address}");
    };
    check(&[], "10.0.0.1", "10.0.0.1", true);
    check(&[], "8.8.8.8", "8.8.8.8", false);
    check(&["10.1.0.0/16"], "10.1.2.3", "10.1.2.3", true);
    check(&["10.1.0.0/16"], "10.0.0.1", "10.0.0.1", false);
    check(&["10.1.0.0/16"], "127.0.0.1", "127.0.0.1", false);
    check(&["shop.example"], "shop.example", "10.0.0.1", true);
    check(&["shop.example"], "other.example", "10.0.0.1", false);
}

#[test]
fn the_guard_opens_loopback_and_private_addresses_only() {
    for open in [
        "127.0.0.1",
        "127.9.9.9",
        "10.0.0.1",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "0.0.0.0",
        "::1",
        "::",
        "fc00::1",
        "fdff::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
    ] {
        check(&[], open, open, true);
    }
    for closed in [
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "192.169.0.0",
        "100.64.0.1",
        "169.254.0.1",
        "169.254.169.254",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "2001:db8::1",
        "fe80::1",
        "fbff::1",
        "fe00::1",
        "ff02::1",
        "fd00:ec2::254",
        "::ffff:8.8.8.8",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "::8.8.8.8",
    ] {
        check(&[], closed, closed, false);
    }
}

#[test]
fn the_guard_opens_what_is_allowed_and_no_more() {
    check(&["203.0.113.0/24"], "shop.example", "203.0.113.200", true);
    check(&["203.0.113.0/24"], "shop.example", "203.0.114.1", false);
    check(&["203.0.113.0/24"], "shop.example", "::ffff:203.0.113.200", true);
    check(&["shop.example"], "shop.example", "203.0.113.200", true);
    check(&["Shop.Example."], "shop.example", "203.0.113.200", true);
    check(&["shop.example"], "other.example", "203.0.113.200", false);
    check(&["shop.example"], "evil.shop.example", "203.0.113.200", false);
    check(&["[2001:db8::1]"], "x.example", "2001:db8::1", true);
    check(&["0.0.0.0/0"], "meta.example", "169.254.169.254", false);
    check(&["meta.example"], "meta.example", "169.254.169.254", false);
    check(&["169.254.0.0/16"], "169.254.169.254", "169.254.169.254", false);
    check(&["169.254.169.254"], "169.254.169.254", "169.254.169.254", true);
    check(&["169.254.169.254/32"], "meta.example", "::ffff:169.254.169.254", true);
    check(&["fc00::/7"], "x", "fd00:ec2::254", false);
    check(&["fd00:ec2::254"], "x", "fd00:ec2::254", true);
    for bad in ["http://x", "a b", "10.0.0", "10.0.0.0/40", "", "x:80", "*.example"] {
        assert_eq!(AllowTarget::parse(bad).unwrap_err().code, "bad_network", "{bad}");
    }
}

#[test]
fn what_two_ranges_have_in_common_is_a_range() {
    fn check(one: &str, other: &str, common: Option<&str>) {
        let range = |text: &str| parse_sources(text).expect(text)[0];
        assert_eq!(range(one).common(range(other)), common.map(range), "{one} and {other}");
        assert_eq!(range(other).common(range(one)), common.map(range), "{other} and {one}");
    }
    check("10.0.0.1-10.0.0.9", "10.0.0.5", Some("10.0.0.5"));
    check("10.0.0.1-10.0.0.9", "10.0.0.7-10.0.0.20", Some("10.0.0.7-10.0.0.9"));
    check("10.0.0.1-10.0.0.4", "10.0.0.5-10.0.0.9", None);
    check("10.0.0.1", "fd00::1", None);
    check("fd00::1-fd00::f", "fd00::2", Some("fd00::2"));
}
