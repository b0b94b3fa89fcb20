//! Every measurement on the loopback has plausible values.

use wavetank_netbench::NetTest;

use crate::{measure, server};

#[test]
fn tcp_is_measured_in_both_directions_and_with_several_streams() {
    let (server, token) = server(1);
    let doc = measure(server.address(), &token, &[NetTest::Tcp]);
    assert_eq!(doc.failures, []);
    let measured: Vec<_> =
        doc.tcp.iter().map(|tcp| (tcp.direction.as_str(), tcp.both, tcp.streams)).collect();
    let expected = |streams| {
        [
            ("forward", false, streams),
            ("reverse", false, streams),
            ("forward", true, streams),
            ("reverse", true, streams),
        ]
    };
    assert_eq!(measured, [expected(1), expected(3)].concat());
    for tcp in &doc.tcp {
        // A loopback carries more than 100 Mbit/s on any machine, and less than a petabit.
        assert!((1e8..1e15).contains(&tcp.bits_per_s.0), "{tcp:?}");
        assert_eq!(tcp.each.len(), tcp.streams as usize);
        assert!(tcp.sender_cpu_s.0 > 0.0 && tcp.receiver_cpu_s.0 > 0.0, "{tcp:?}");
        assert!(tcp.duration_s.0 > 0.1, "{tcp:?}");
    }
    server.end();
}

#[test]
fn round_trips_connections_and_sizes_are_measured() {
    let (server, token) = server(1);
    let tests = [NetTest::RequestResponse, NetTest::Connect, NetTest::Sizes];
    let doc = measure(server.address(), &token, &tests);
    assert_eq!(doc.failures, []);
    let rr = doc.rr.expect("it was requested");
    assert!(rr.round_trip_us.count > 100 && rr.round_trip_us.min.0 > 0.5, "{rr:?}");
    assert!(rr.round_trip_us.p50 <= rr.round_trip_us.p99);
    let connect = doc.connect.expect("it was requested");
    assert!(connect.per_s.0 > 100.0 && connect.failed == 0, "{connect:?}");
    let sizes = doc.sizes.expect("it was requested");
    assert_eq!(sizes.points.first().map(|point| point.bytes), Some(1));
    assert!(sizes.points.len() > 20, "{sizes:?}");
    let (small, large) = (&sizes.points[0], &sizes.points[sizes.points.len() - 1]);
    assert!(large.bits_per_s.0 > small.bits_per_s.0 * 100.0, "{small:?} {large:?}");
    let half = sizes.half_bytes.expect("small messages are far from the highest throughput").0;
    assert!(half > 100.0 && half < 8e6, "{half}");
    server.end();
}

#[test]
fn datagrams_arrive_and_the_mtu_is_that_of_the_loopback() {
    let (server, token) = server(1);
    let doc = measure(server.address(), &token, &[NetTest::Udp, NetTest::Mtu]);
    assert_eq!(doc.failures, []);
    let measured: Vec<_> = doc.udp.iter().map(|udp| (udp.mode.as_str(), udp.direction.as_str())).collect();
    let expected = [("rate", "forward"), ("rate", "reverse"), ("packets", "forward"), ("packets", "reverse")];
    assert_eq!(measured, expected);
    for udp in doc.udp.iter().filter(|udp| udp.mode == "rate") {
        // 5 Mbit/s for 0.2 s in datagrams of 1,400 bytes are 89. A sender that did not run for a
        // while sends less; one that did not run for all of it sends one.
        assert!((1..=100).contains(&udp.sent), "{udp:?}");
        assert!(udp.received > 0 && udp.received <= udp.sent, "{udp:?}");
    }
    assert!(doc.udp.iter().all(|udp| udp.duplicates == 0), "{:?}", doc.udp);
    let mtu = doc.mtu.expect("it was requested");
    assert_eq!((mtu.forward, mtu.reverse), (Some(65_535), Some(65_535)), "{mtu:?}");
    assert!(mtu.black_holes.is_empty(), "{mtu:?}");
    server.end();
}
