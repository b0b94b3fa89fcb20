//! Links that are slow or lose packets, measured against their settings.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_lab::net;
use wavetank_testkit::netns::NetNs;
use wavetank_topology::Link;
use wavetank_units::{ExitCode, Nanos};

use crate::networks::hosts::{Hosts, printed};
use crate::networks::plan::{FILE, host, lab, linked};

const WAIT: Duration = Duration::from_mins(1);

/// Returns the seconds that `bytes` take from host `from` to host `to` at `address`.
fn takes(hosts: &Hosts, (from, to): (usize, usize), address: &'static str, bytes: usize) -> f64 {
    let listener = hosts.inside(to, move || TcpListener::bind(address).expect("a free port"));
    let reader = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.set_read_timeout(Some(WAIT)).expect("a timeout");
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("all of it");
        all.len()
    });
    let clock = Clock::starting_now();
    hosts.inside(from, move || {
        let mut stream = TcpStream::connect(address).expect("connected");
        stream.set_write_timeout(Some(WAIT)).expect("a timeout");
        stream.write_all(&vec![b'x'; bytes]).expect("written");
    });
    assert_eq!(reader.join().expect("read"), bytes);
    clock.now().as_secs_f64()
}

#[test]
fn a_link_carries_its_rate_either_way() {
    let slow = Link { rate_bits: Some(16_000_000), ..Link::default() };
    let hosts = vec![linked(host("load1", &[(0, &["10.9.0.1"])]), slow), host("app1", &[(0, &["10.9.0.2"])])];
    let lab = lab(&[("front", "10.9.0.0/24")], hosts);
    let Some(hosts) = Hosts::of("a_link_carries_its_rate_either_way", &lab) else { return };
    // A megabyte at 16 Mbit/s takes half a second. Only the content of the bucket can make it
    // faster; a busy machine may make it slower.
    for (ends, address) in [((0, 1), "10.9.0.2:8080"), ((1, 0), "10.9.0.1:8080")] {
        let seconds = takes(&hosts, ends, address, 1_000_000);
        assert!((0.48..5.0).contains(&seconds), "{ends:?}: {seconds} s");
    }
}

/// Returns how many of 200 datagrams arrive from host `from` at host `to` at `address`.
fn come_through(hosts: &Hosts, (from, to): (usize, usize), address: &'static str) -> usize {
    let receiver = hosts.inside(to, move || UdpSocket::bind(address).expect("a free port"));
    hosts.inside(from, move || {
        let sender = UdpSocket::bind("0.0.0.0:0").expect("a port");
        for _ in 0..200 {
            sender.send_to(b"datagram", address).expect("sent");
        }
        // Of 32 packets, at least one arrives where half of them are lost.
        for _ in 0..32 {
            sender.send_to(b"end", address).expect("sent");
        }
    });
    receiver.set_read_timeout(Some(WAIT)).expect("a timeout");
    let mut bytes = [0; 64];
    let mut before_the_end = || {
        let length = receiver.recv(&mut bytes).expect("an end comes through");
        (length == b"datagram".len()).then_some(())
    };
    std::iter::from_fn(&mut before_the_end).count()
}

#[test]
fn a_link_loses_its_share_either_way() {
    let lossy = Link { loss_ppm: 500_000, ..Link::default() };
    let hosts = vec![
        linked(host("load1", &[(0, &["10.9.0.1"])]), lossy),
        host("app1", &[(0, &["10.9.0.2"])]),
        host("app2", &[(0, &["10.9.0.3"])]),
    ];
    let lab = lab(&[("front", "10.9.0.0/24")], hosts);
    let Some(hosts) = Hosts::of("a_link_loses_its_share_either_way", &lab) else { return };
    // Of 200 independent losses at one half, six standard deviations are 42.
    for (ends, address) in [((0, 1), "10.9.0.2:9000"), ((1, 0), "10.9.0.1:9000")] {
        let through = come_through(&hosts, ends, address);
        assert!((58..=142).contains(&through), "{ends:?}: {through} of 200");
    }
    assert_eq!(come_through(&hosts, (1, 2), "10.9.0.3:9000"), 200, "links without loss lose nothing");
    let device = hosts.inside(0, || printed("ip", &["-details", "link", "show", "eth0"]));
    assert!(device.contains("gso_max_segs 1 "), "a loss would be that of many packets: {device}");
}

#[test]
fn a_delay_is_kept_or_refused_before_anything_is_there() {
    let test = "a_delay_is_kept_or_refused_before_anything_is_there";
    if !NetNs::available(test) {
        return;
    }
    let long = Link { delay: Some(Nanos::from_millis(30)), ..Link::default() };
    let hosts = vec![linked(host("load1", &[(0, &["10.9.0.1"])]), long), host("app1", &[(0, &["10.9.0.2"])])];
    let lab = lab(&[("front", "10.9.0.0/24")], hosts);
    if let Err(error) = net::check(&lab, FILE) {
        assert_eq!((error.code.as_str(), error.exit), ("lab_kernel", ExitCode::Refused), "{error}");
        assert!(
            error.message.starts_with("lab.yaml:7:5: the link of `load1` cannot have a delay"),
            "{error}"
        );
        assert!(error.hint.contains("netem"), "{error}");
        return;
    }
    let hosts = Hosts::of(test, &lab).expect("asked for above");
    // One round trip before the first byte leaves, and one more way with it.
    let seconds = takes(&hosts, (0, 1), "10.9.0.2:8080", 1);
    assert!((0.09..5.0).contains(&seconds), "{seconds} s");
}
