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

/// Returns a message of `kind` with that queue, if it has one.
fn message(kind: u16, queue: Option<u32>) -> Vec<u8> {
    let length = if queue.is_some() { HEADER + 72 } else { HEADER + 4 };
    let mut bytes = vec![0; length];
    bytes[..4].copy_from_slice(&(length as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
    if let Some(queue) = queue {
        bytes[QUEUE_AT..QUEUE_AT + 4].copy_from_slice(&queue.to_ne_bytes());
    }
    bytes
}

#[test]
fn datagrams_are_read_to_their_end() {
    let check = |parts: &[Vec<u8>], expected: Option<(u32, bool)>| {
        let expected = expected.map(|(longest, over)| Datagram { longest, over });
        assert_eq!(told(&parts.concat()), expected, "{parts:?}");
    };
    let listens = |queue| message(BY_FAMILY, Some(queue));
    check(&[], Some((0, false)));
    check(&[listens(3), listens(7), listens(5)], Some((7, false)));
    check(&[listens(3), message(DONE, None)], Some((3, true)));
    check(&[message(4, None), message(DONE, None)], Some((0, true)));
    check(&[listens(3), message(FAILED, None)], None);
    // A truncated message, or one shorter than its own header, is invalid.
    check(&[listens(3)[..40].to_vec()], None);
    check(&[vec![0; 20]], None);
    check(&[vec![1; 3]], None);
}

#[test]
fn the_kernel_tells_the_longest_queue() {
    let mut queues = AcceptQueues::for_pid(std::process::id());
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(address) else { continue };
        let at = listener.local_addr().expect("it is bound");
        let peers: Vec<_> = (0..30).map(|_| TcpStream::connect(at).expect("it listens")).collect();
        assert!(queues.longest() >= peers.len() as u64, "{address}");
    }
    // Every tested kernel answers; the file is a fallback for others.
    assert!(matches!(queues.way, QueueSource::Asked(_)), "{queues:?}");
    assert_eq!(AcceptQueues::for_pid(u32::MAX).longest(), 0);
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
    poll_until(Duration::from_secs(10), away).expect("it went to a network of its own");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let at = listener.local_addr().expect("it is bound");
    // If files run out, there are as many sockets as possible.
    let pair = |_| Some((TcpStream::connect(at).ok()?, listener.accept().ok()?));
    let ends: Vec<_> = (0..CONNECTIONS).map_while(pair).collect();
    let mut queues = AcceptQueues::for_pid(host.id());
    let asked = cost(|| queues.longest());
    let files = NetFiles::for_pid(host.id());
    let walked = cost(|| files.longest_accept_queue());
    println!("{} sockets, {TIMES} times: asked {asked} ns, walked {walked} ns", 2 * ends.len());
    assert!(asked * 3 < walked, "{} sockets: asked {asked} ns, walked {walked} ns", 2 * ends.len());
}
