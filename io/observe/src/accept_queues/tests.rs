//! The meaning of netlink datagrams, and the cost of queries.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Program, poll_until};

use super::*;
use crate::{raise_file_limit, read};

/// Connections within this process, with a socket at each end.
const CONNECTIONS: usize = 5_000;
/// Enough repetitions to make the kernel's sampling of CPU time irrelevant.
const TIMES: usize = 200;

/// A message of `kind` about a listening socket on port 80 with that queue and 5 drops, if it has
/// one.
fn message(kind: u16, queue: Option<u32>) -> Vec<u8> {
    let mut bytes = vec![0; if queue.is_some() { 16 + 72 + 4 + 36 } else { 20 }];
    let length = bytes.len() as u32;
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(0, &length.to_ne_bytes());
    put(4, &kind.to_ne_bytes());
    if let Some(queue) = queue {
        put(16, &[2, message::LISTEN, 0, 0, 0, 80]);
        put(16 + 56, &queue.to_ne_bytes());
        put(16 + 60, &128_u32.to_ne_bytes());
        // SKMEMINFO with nine numbers, the last of them the drops.
        put(16 + 72, &40_u16.to_ne_bytes());
        put(16 + 74, &7_u16.to_ne_bytes());
        put(16 + 76 + 32, &5_u32.to_ne_bytes());
    }
    bytes
}

#[test]
fn datagrams_are_read_to_their_end() {
    let check = |parts: &[Vec<u8>], expected: Option<(u64, u64, bool)>| {
        let mut queues = Queues::new();
        let over = message::read(&parts.concat(), |one| queues.entry(one.local).or_default().push(one));
        let all = Listeners::new(&queues).samples;
        let one = all.first();
        let found = over.map(|over| (one.map_or(0, |one| one.queue), one.map_or(0, |one| one.drops), over));
        assert_eq!(found, expected, "{parts:?}");
        assert!(all.iter().all(|one| one.limit == 128 && one.address.port() == 80), "{all:?}");
    };
    let (by_family, done, failed) = (20, 3, 2);
    let listens = |queue| message(by_family, Some(queue));
    check(&[], Some((0, 0, false)));
    check(&[listens(3), listens(7), listens(5)], Some((7, 15, false)));
    check(&[listens(3), message(done, None)], Some((3, 5, true)));
    check(&[message(4, None), message(done, None)], Some((0, 0, true)));
    check(&[listens(3), message(failed, None)], None);
    // A truncated message, or one shorter than its own header, is invalid.
    check(&[listens(3)[..40].to_vec()], None);
    check(&[vec![0; 20]], None);
    check(&[vec![1; 3]], None);
}

#[test]
fn one_long_queue_among_several_is_uneven() {
    let check = |queues: &[u32], uneven: bool| {
        let bytes: Vec<u8> = queues.iter().flat_map(|queue| message(20, Some(*queue))).collect();
        let mut all = Queues::new();
        let _ = message::read(&bytes, |one| all.entry(one.local).or_default().push(one));
        let found = Listeners::new(&all);
        assert_eq!(!found.uneven.is_empty(), uneven, "{queues:?}");
        let mut counters = HostCounters::default();
        found.add_uneven(&mut counters);
        let address = found.samples[0].address;
        assert_eq!(counters.rise(&format!("{UNEVEN_QUEUE}{address}")), u64::from(uneven), "{counters:?}");
    };
    check(&[52, 0], true);
    check(&[0, 8, 3], true);
    check(&[7, 0], false);
    check(&[52], false);
    check(&[30, 8], false);
    check(&[32, 8], true);
}

#[test]
fn connections_are_listed_with_their_destination() {
    let mut queues = AcceptQueues::for_pid(std::process::id());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let at = listener.local_addr().expect("it is bound");
    let peers: Vec<_> = (0..40).map(|_| TcpStream::connect(at).expect("it listens")).collect();
    let Listeners { samples: listeners, .. } = queues.sample();
    let own = listeners.iter().find(|one| one.address == at).expect("it listens");
    assert!(own.queue >= peers.len() as u64 && own.limit >= own.queue, "{own:?}");
    let table = queues.connections(&listeners, true).expect("every tested kernel lists them");
    assert!(table.ports_to(at) >= peers.len() as u64, "{table:?}");
    let has_round_trips =
        |table: &ConnectionTable| table.levels().iter().any(|(name, _)| name == "tcp.rtt_us");
    assert!(has_round_trips(&table), "{table:?}");
    let table = queues.connections(&listeners, false).expect("every tested kernel lists them");
    assert!(!has_round_trips(&table), "{table:?}");
}

#[test]
fn the_kernel_reports_the_longest_queue() {
    let mut queues = AcceptQueues::for_pid(std::process::id());
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(address) else { continue };
        let at = listener.local_addr().expect("it is bound");
        let peers: Vec<_> = (0..30).map(|_| TcpStream::connect(at).expect("it listens")).collect();
        assert!(queues.sample().longest_queue >= peers.len() as u64, "{address}");
    }
    // Every tested kernel answers; the file is a fallback for others.
    assert!(matches!(queues.way, QueueSource::Asked(_)), "{queues:?}");
    assert_eq!(AcceptQueues::for_pid(u32::MAX).sample().longest_queue, 0);
}

/// Returns the CPU time of this thread in nanoseconds, as last updated by the kernel.
fn used_ns() -> u64 {
    let text = read::text("/proc/thread-self/schedstat").expect("the kernel counts");
    text.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number comes first")
}

/// Returns the CPU time of the repetitions, in a namespace without listeners.
fn cost(mut look: impl FnMut() -> u64) -> u64 {
    let before = used_ns();
    assert!((0..TIMES).all(|_| look() == 0), "nothing listens there");
    used_ns() - before
}

#[test]
fn sockets_of_other_hosts_cost_nothing() {
    if !NetNs::available("sockets_of_other_hosts_cost_nothing") {
        return;
    }
    let _ = raise_file_limit();
    let sleeper = Program::foreign("unshare").expect("it was asked for just now");
    let host = sleeper.args(["--net", "sleep", "60"]).start();
    let network = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    let away = || network(&host.id().to_string()).filter(|link| Some(link) != network("self").as_ref());
    poll_until(Duration::from_mins(1), away).expect("it went to a network of its own");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let at = listener.local_addr().expect("it is bound");
    // If files run out, there are as many sockets as possible.
    let pair = |_| Some((TcpStream::connect(at).ok()?, listener.accept().ok()?));
    let ends: Vec<_> = (0..CONNECTIONS).map_while(pair).collect();
    let mut queues = AcceptQueues::for_pid(host.id());
    let asked = cost(|| queues.sample().longest_queue);
    let files = NetFiles::for_pid(host.id());
    let walked = cost(|| files.longest_accept_queue());
    println!("{} sockets, {TIMES} times: asked {asked} ns, walked {walked} ns", 2 * ends.len());
    assert!(asked * 3 < walked, "{} sockets: asked {asked} ns, walked {walked} ns", 2 * ends.len());
}
