//! Delays, the freeze, and the back-pressure of long bodies.

use std::io::Read;
use std::net::SocketAddr;
use std::{fs, thread};

use crate::serve::client::{Client, get, serve};
use wavetank_driver::Clock;
use wavetank_target::ServeOptions;
use wavetank_testkit::{TimingMismatch, expect_time, retry_timing};
use wavetank_units::Nanos;

#[test]
fn delays_are_never_early_and_cost_no_thread() {
    retry_timing(check_delays);
}

fn check_delays() -> Result<(), TimingMismatch> {
    let (server, at) = serve(ServeOptions { threads: Some(1), ..ServeOptions::default() });
    let clock = Clock::starting_now();
    let mut clients: Vec<_> = (0..300).map(|_| Client::connect(at)).collect();
    let begun: Vec<_> = clients
        .iter_mut()
        .enumerate()
        .map(|(at, client)| {
            let begun = clock.now();
            client.send(get(&format!("/delay/{}us", 20_000 + 100 * at)));
            begun
        })
        .collect();
    let mut latest = Nanos::ZERO;
    for (at, (client, begun)) in clients.iter_mut().zip(&begun).enumerate() {
        assert_eq!(client.answer().status, 200);
        let due = begun.after(Nanos::from_micros(20_000 + 100 * at as i64));
        let now = clock.now();
        assert!(now >= due, "{} ns early", due.since(now));
        latest = latest.max(now - due);
    }
    assert_eq!(server.truth().requests, 300);
    // One after the other they would take ten seconds.
    expect_time(latest < Nanos::SECOND, || format!("late by {latest}"))
}

#[test]
fn impatient_clients_leave_nothing_behind() {
    let (server, at) = serve(ServeOptions { threads: Some(1), ..ServeOptions::default() });
    let mut last = Client::connect(at);
    for _ in 0..200 {
        let mut client = Client::connect(at);
        client.send(get("/delay/20ms"));
    }
    assert_eq!(last.get("/delay/300ms").status, 200);
    assert_eq!(server.truth().connections.open, 1);
}

#[test]
fn no_client_is_answered_in_the_freeze() {
    let (at, length) = (Nanos::from_millis(100), Nanos::from_millis(250));
    let (server, to) =
        serve(ServeOptions { threads: Some(2), freeze: Some((at, length)), ..ServeOptions::default() });
    let clock = Clock::starting_now();
    for _ in 0..2 {
        // The first request came between these two instants, which gives an interval that is
        // certainly frozen.
        let before = clock.now();
        assert_eq!(Client::connect(to).get("/").status, 200);
        let after = clock.now();
        let (begin, end) = (after + at, before + at + length);
        let stop = after + at + length + Nanos::from_millis(100);
        let clients: Vec<_> = (0..4).map(|_| thread::spawn(move || ask_until(to, clock, stop))).collect();
        let answers: Vec<_> =
            clients.into_iter().flat_map(|client| client.join().expect("it asks")).collect();
        for &(sent, got) in &answers {
            let frozen = begin <= sent && sent < end;
            assert!(!frozen || got >= end, "frozen from {begin} to {end}: sent {sent}, got {got}");
        }
        let longest = answers.iter().map(|&(sent, got)| got - sent).max().expect("there are answers");
        assert!(longest.0 > length.0 / 4 * 3, "a freeze of {length}, but the longest took {longest}");
        assert!(answers.iter().any(|&(sent, got)| sent > end && got - sent < length), "it ends");
        let truth = server.truth();
        assert_eq!(truth.requests, answers.len() as u64 + 1);
        assert_eq!(truth.answers, truth.requests);
        // A reset arms it again.
        server.reset_truth();
    }
}

/// Ask again and again, and note when each request was sent and when its answer had come.
fn ask_until(to: SocketAddr, clock: Clock, stop: Nanos) -> Vec<(Nanos, Nanos)> {
    let mut client = Client::connect(to);
    let mut answers = Vec::new();
    while clock.now() < stop {
        let sent = clock.now();
        assert_eq!(client.get("/delay/1ms").status, 200);
        answers.push((sent, clock.now()));
    }
    answers
}

#[test]
fn requests_that_came_in_the_freeze_are_counted_when_they_came() {
    let freeze = Some((Nanos::ZERO, Nanos::from_millis(1_200)));
    let (server, to) = serve(ServeOptions { threads: Some(1), freeze, ..ServeOptions::default() });
    let clock = Clock::starting_now();
    let mut clients: Vec<_> = (0..5).map(|_| Client::connect(to)).collect();
    let begin = clock.now();
    for client in &mut clients {
        client.send([get("/"), get("/truth"), get("/bytes/1MB"), get("/close")].concat());
    }
    for client in &mut clients {
        for len in [Some(12), None, Some(1_000_000), Some(12)] {
            let answer = client.answer();
            assert!(len.is_none_or(|len| answer.body.len() == len));
            assert!(clock.now() - begin >= Nanos::from_millis(1_200));
        }
        assert_eq!(client.rest(), b"");
    }
    let truth = server.truth();
    assert_eq!((truth.requests, truth.answers, truth.arrivals.per_second), (15, 15, vec![15]));
}

#[test]
fn long_bodies_are_not_kept_in_memory() {
    let (server, at) = serve(ServeOptions { threads: Some(1), ..ServeOptions::default() });
    let before = resident_bytes();
    let mut slow: Vec<_> = (0..20).map(|_| Client::connect(at)).collect();
    for client in &mut slow {
        client.send(get("/bytes/10GB"));
        assert_eq!(client.head().status, 200);
    }
    // The others are served meanwhile, and one that reads gets all of it.
    let mut quick = Client::connect(at);
    quick.send(get("/bytes/300MB").replace("1.1\r\n", "1.0\r\n"));
    let mut len = 0;
    let mut block = vec![0; 1 << 20];
    loop {
        match quick.stream.read(&mut block).expect("a body") {
            0 => break,
            more => len += more,
        }
    }
    assert!((300_000_000..300_000_300).contains(&len), "{len} bytes with the head");
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 64 << 20, "{} MiB for 20 clients that do not read", grown >> 20);
    drop(slow);
    assert_eq!(Client::connect(at).get("/").status, 200);
    assert_eq!(server.truth().statuses[&200], 22);
}

fn resident_bytes() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").expect("/proc is mounted");
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("a number of pages") * 4096
}
