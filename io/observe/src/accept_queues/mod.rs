//! [`AcceptQueues`]: the longest accept queue of a network namespace, queried from the kernel with
//! `sock_diag(7)`.
//!
//! `/proc/net/tcp` contains the same number. However, to list one namespace's listeners the kernel
//! walks over the sockets of all namespaces. With a million sockets that takes more than half a
//! core each second. A query for listening sockets alone does not touch the other sockets.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

use crate::net_files::NetFiles;
use crate::network::in_network_of;

/// Receive timeout. The kernel answers within the call, so an answer that takes longer never
/// arrives.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// Maximum size of one datagram of an answer: the kernel makes them no larger than 32 KiB.
const DATAGRAM_MAX: usize = 32 << 10;
/// Maximum number of datagrams of one answer; each contains some 200 listening sockets.
const DATAGRAMS_MAX: usize = 1_024;
/// Size of the netlink message header (`struct nlmsghdr`).
const HEADER: usize = 16;
/// Size of a request (`struct inet_diag_req_v2`) with its header.
const QUESTION: usize = HEADER + 56;
/// Offset of the queue length in an answer (`idiag_rqueue` of `struct inet_diag_msg`).
const QUEUE_AT: usize = HEADER + 56;
/// `SOCK_DIAG_BY_FAMILY`: the type of requests and of their answers.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST | NLM_F_DUMP`: list all sockets.
const ALL_OF_THEM: u16 = 0x301;
/// `NLMSG_ERROR` and `NLMSG_DONE`.
const FAILED: u16 = 2;
const DONE: u16 = 3;
/// The bit of the LISTEN state in a mask of states.
const LISTENING: u32 = 1 << 10;
/// The protocol number of TCP.
const TCP: u8 = 6;

/// The accept queues of one network namespace.
#[derive(Clone, Debug)]
pub(crate) struct AcceptQueues {
    pid: u32,
    way: QueueSource,
}

/// Where the queue lengths come from.
#[derive(Clone, Debug)]
enum QueueSource {
    /// A netlink socket in the namespace.
    Asked(Arc<OwnedFd>),
    /// From a `/proc` file, if the kernel does not answer or the namespace cannot be entered.
    Walked,
}

impl AcceptQueues {
    /// Returns the queues of the namespace of process `pid`. A separate thread enters the namespace
    /// now, so that later queries do not wait for a thread. Only one of several clones may be
    /// queried.
    pub(crate) fn for_pid(pid: u32) -> Self {
        let socket = in_network_of(pid, socket).map(Arc::new);
        Self { pid, way: socket.map_or(QueueSource::Walked, QueueSource::Asked) }
    }

    /// Returns the number of connections in the longest queue now; 0 without listeners.
    pub(crate) fn longest(&mut self) -> u64 {
        if let QueueSource::Asked(socket) = &self.way {
            if let Some(longest) = asked(socket) {
                return longest;
            }
            // Answers to the failed request may still be queued in that socket.
            self.way = QueueSource::Walked;
        }
        NetFiles::for_pid(self.pid).longest_accept_queue()
    }
}

/// Opens a socket for requests about the namespace in which it is created.
fn socket() -> Option<OwnedFd> {
    let (flags, protocol) = (SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG));
    let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol).ok()?;
    set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_MAX)).ok()?;
    Some(socket)
}

/// Returns the longest queue by the kernel's answers; `None` if it does not answer.
fn asked(socket: &OwnedFd) -> Option<u64> {
    let mut longest = 0;
    let mut datagram = vec![0; DATAGRAM_MAX];
    for family in [AddressFamily::INET, AddressFamily::INET6] {
        let question = question(u8::try_from(family.as_raw()).ok()?);
        retry_on_intr(|| send(socket, &question, SendFlags::empty())).ok()?;
        let mut over = false;
        for _ in 0..DATAGRAMS_MAX {
            let (read, _) = retry_on_intr(|| recv(socket, &mut datagram[..], RecvFlags::empty())).ok()?;
            let told = told(&datagram[..read])?;
            longest = longest.max(told.longest);
            over = told.over;
            if over {
                break;
            }
        }
        over.then_some(())?;
    }
    Some(u64::from(longest))
}

/// Returns the request for all listening TCP sockets of an address family. Numbers are in host byte
/// order.
fn question(family: u8) -> [u8; QUESTION] {
    let mut bytes = [0; QUESTION];
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(0, &(QUESTION as u32).to_ne_bytes());
    put(4, &BY_FAMILY.to_ne_bytes());
    put(6, &ALL_OF_THEM.to_ne_bytes());
    put(HEADER, &[family, TCP, 0, 0]);
    put(HEADER + 4, &LISTENING.to_ne_bytes());
    bytes
}

/// The content of one datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Datagram {
    longest: u32,
    /// Whether it was the last datagram of the answer.
    over: bool,
}

/// Reads a datagram, which is a sequence of messages. Each message starts at a multiple of four
/// bytes with its length and kind. For a listening socket, `idiag_rqueue` is the number of waiting
/// connections. Returns `None` if the kernel refuses or the datagram is not an answer.
fn told(datagram: &[u8]) -> Option<Datagram> {
    let mut told = Datagram::default();
    let mut rest = datagram;
    while !rest.is_empty() {
        let length = number(rest, 0)? as usize;
        let kind = u16::from_ne_bytes(rest.get(4..6)?.try_into().ok()?);
        let message = rest.get(..length).filter(|message| message.len() >= HEADER)?;
        match kind {
            DONE => return Some(Datagram { over: true, ..told }),
            FAILED => return None,
            BY_FAMILY => told.longest = told.longest.max(number(message, QUEUE_AT)?),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(told)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests;
