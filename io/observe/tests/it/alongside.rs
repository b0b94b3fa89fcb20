//! Samples during a load: the parsed kernel texts, and when a target is polled for its connection
//! count.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use wavetank_observe::sockstat::{Sockstat, sockstat};
use wavetank_observe::{PollResult, TargetPoller, host_sample, parse};
use wavetank_units::Nanos;

#[test]
fn sockets_are_read_by_name() {
    let text = "sockets: used 26\nTCP: inuse 6 orphan 1 tw 35578 alloc 8 mem 134\nUDP: inuse 3 mem 2\n";
    let expected = Sockstat { inuse: 6, inuse6: 4, orphan: 1, tw: 35_578, alloc: 8, mem_pages: 134 };
    assert_eq!(sockstat(text, "TCP6: inuse 4\nUDP6: inuse 9\n"), expected);
    let reordered = "TCP: new 7 mem 134 alloc 8 tw 35578 orphan 1 inuse 6\n";
    assert_eq!(sockstat(reordered, "TCP6: inuse 4\n"), expected);
    assert_eq!(sockstat("", ""), Sockstat::default());
    assert_eq!(sockstat("TCP: inuse\n", "TCP6:").inuse, 0);
}

#[test]
fn cores_are_distinguished() {
    let text = "cpu  30 0 6 100 4 0 2 8 0 0\ncpu0 10 1 2 50 3 0 1 4 9 0\ncpu1 20 0 4 50 1 0 1 4 0 0\nintr 5 1\ncpufreq 1 2\n";
    assert_eq!(parse::cores(text), [(14, 71), (25, 80)]);
    assert!(parse::cores("cpu0 1 2 3\n").is_empty());
    assert_eq!(parse::memory_bytes("MemFree: 12 kB\nSlab:    7 kB\n", "Slab:"), Some(7 * 1_024));
}

#[test]
fn this_host_can_be_sampled() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let sample = host_sample(|| Nanos(7));
    assert_eq!(sample.at, Nanos(7));
    assert!(sample.tcp_inuse >= 1 && sample.tcp_alloc >= 1, "{listener:?} is one: {sample:?}");
    assert!(sample.rss_bytes > 100_000 && sample.slab_bytes > 0 && !sample.cores.is_empty(), "{sample:?}");
}

/// Starts a server that sends each of `answers` once, one per request. Its thread returns the
/// number of connections.
fn server(answers: Vec<String>) -> (SocketAddr, thread::JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    let serve = move || {
        let (mut answers, mut connections) = (answers.into_iter().peekable(), 0);
        while answers.peek().is_some() {
            let (mut stream, _) = listener.accept().expect("a client connects");
            connections += 1;
            let mut request = [0; 4_096];
            while answers.peek().is_some() && stream.read(&mut request).is_ok_and(|read| read > 0) {
                let Some(answer) = answers.next() else { break };
                drop(stream.write_all(answer.as_bytes()));
                if answer.is_empty() {
                    break;
                }
            }
        }
        connections
    };
    (address, thread::spawn(serve))
}

fn answer(status: u16, body: &str) -> String {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn count(open: u64, monotonic_ns: i64) -> String {
    let schema = "wavetank.truth_connections/1";
    answer(200, &format!(r#"{{"schema":"{schema}","open":{open},"monotonic_ns":{monotonic_ns}}}"#))
}

/// Polls once per expected result; the clock advances by 100 with each reading.
fn check(answers: Vec<String>, expected: &[PollResult], connections: usize) {
    let (address, served) = server(answers);
    let mut asker = TargetPoller::new(address, "test", 1_000);
    let clock = Arc::new(AtomicI64::new(0));
    let now = || Nanos(clock.fetch_add(100, Ordering::Relaxed));
    let reported: Vec<_> = expected.iter().map(|_| asker.poll(now)).collect();
    assert_eq!(reported.len(), expected.len());
    for (reported, expected) in reported.iter().zip(expected) {
        match (reported, expected) {
            (PollResult::Reported(reported), PollResult::Reported(expected)) => {
                assert_eq!(
                    (reported.open, reported.at, reported.error),
                    (expected.open, expected.at, expected.error)
                );
            }
            _ => assert_eq!(reported, expected),
        }
    }
    drop(asker);
    assert_eq!(served.join().expect("the server ends"), connections);
}

fn reported(open: u64, at: i64, error: i64) -> PollResult {
    let (at, error) = (Nanos(at), Nanos(error));
    PollResult::Reported(wavetank_measure::TargetSample { open, at, error, ..Default::default() })
}

#[test]
fn a_target_that_reports_is_asked_on_one_connection() {
    // Asked at 0 and answered at 100, then 200 and 300. The run's zero is 1,000 on the kernel's
    // clock.
    check(vec![count(5, 1_040), count(6, 1_250)], &[reported(5, 40, 0), reported(6, 250, 0)], 1);
}

#[test]
fn an_instant_of_another_clock_is_only_known_to_lie_between() {
    check(vec![count(5, 77)], &[reported(5, 50, 50)], 1);
}

#[test]
fn a_foreign_server_is_asked_once() {
    let foreign = PollResult::Foreign { sent: true, answered: true };
    check(vec![answer(404, "no")], &[foreign], 1);
    check(vec![answer(200, "Wavetank OK\n")], &[foreign], 1);
    check(vec![String::new()], &[PollResult::Foreign { sent: true, answered: false }], 1);
    let none = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let mut asker = TargetPoller::new(none.expect("a port is free"), "test", 0);
    assert_eq!(asker.poll(|| Nanos::ZERO), PollResult::Foreign { sent: false, answered: false });
}

#[test]
fn a_target_that_never_ends_its_answer_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    let trickle = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client connects");
        stream.set_nodelay(true).expect("a socket of ours");
        let mut sent = stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n").expect("it is read");
        // Sends until the poller has left. Each byte is sent only after the one before was read or
        // has waited for that.
        while sent < 1_000_000 && stream.write(b"x").is_ok_and(|written| written == 1) {
            sent += 1;
            thread::yield_now();
        }
        sent
    });
    // A fifth of a second per reading: the poller waits for five pieces of an answer.
    let clock = AtomicI64::new(0);
    let now = || Nanos(clock.fetch_add(200_000_000, Ordering::Relaxed));
    let mut asker = TargetPoller::new(address, "test", 0);
    assert_eq!(asker.poll(now), PollResult::Foreign { sent: true, answered: false });
    assert!(clock.load(Ordering::Relaxed) < 2_000_000_000, "it read on: {clock:?}");
    trickle.join().expect("it ends when who asked has left");
}

#[test]
fn a_target_that_was_busy_once_is_asked_again() {
    // The clock is read for the second question and for the missing answer, so the third question
    // is at 400.
    let answers = vec![count(5, 1_040), String::new(), count(7, 1_540)];
    check(answers, &[reported(5, 40, 0), PollResult::Silent, reported(7, 450, 50)], 2);
}
