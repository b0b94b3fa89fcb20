//! [`AcceptQueues`]: the longest accept queue of a network namespace, asked of the kernel by `sock_diag(7)`.
//!
//! `/proc/net/tcp` tells it too, but to find what listens in one namespace the kernel walks over the sockets of all of
//! them: with a million sockets that takes more than half of a core each second. Asked for listening sockets alone it looks
//! at nothing else.

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

/// The kernel answers while it is asked; whoever waits longer than this waits for nothing.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// Bytes of one datagram of an answer at most: the kernel makes them no larger than 32 KiB.
const DATAGRAM_MAX: usize = 32 << 10;
/// Datagrams of one answer at most: some 200 listening sockets are in each.
const DATAGRAMS_MAX: usize = 1_024;
/// Bytes ahead of what a message of netlink carries (`struct nlmsghdr`).
const HEADER: usize = 16;
/// Bytes of a question (`struct inet_diag_req_v2`) with its header.
const QUESTION: usize = HEADER + 56;
/// Where the queue's length stands in an answer (`idiag_rqueue` of `struct inet_diag_msg`).
const QUEUE_AT: usize = HEADER + 56;
/// `SOCK_DIAG_BY_FAMILY`, which is the kind of questions and of their answers.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST | NLM_F_DUMP`: all that there are.
const ALL_OF_THEM: u16 = 0x301;
/// `NLMSG_ERROR` and `NLMSG_DONE`.
const FAILED: u16 = 2;
const DONE: u16 = 3;
/// The bit of the state LISTEN in a mask of states.
const LISTENING: u32 = 1 << 10;
/// TCP's number.
const TCP: u8 = 6;

/// See the module's description.
#[derive(Clone, Debug)]
pub(crate) struct AcceptQueues {
    pid: u32,
    way: QueueSource,
}

/// How they are found.
#[derive(Clone, Debug)]
enum QueueSource {
    /// By this socket, which is in the namespace.
    Asked(Arc<OwnedFd>),
    /// From a file, where the kernel answers nobody or lets nobody in.
    Walked,
}

impl AcceptQueues {
    /// Of the namespace that the process `pid` is in. It goes there at once, by a thread: whoever asks must not wait for
    /// one. Of clones only one may ask.
    pub(crate) fn for_pid(pid: u32) -> Self {
        let socket = in_network_of(pid, socket).map(Arc::new);
        Self { pid, way: socket.map_or(QueueSource::Walked, QueueSource::Asked) }
    }

    /// Connections in the longest of them now; 0 where nothing listens.
    pub(crate) fn longest(&mut self) -> u64 {
        if let QueueSource::Asked(socket) = &self.way {
            if let Some(longest) = asked(socket) {
                return longest;
            }
            // Answers to a question that came to no good may still wait in that socket.
            self.way = QueueSource::Walked;
        }
        NetFiles::for_pid(self.pid).longest_accept_queue()
    }
}

/// A socket for questions about the namespace in which it is made.
fn socket() -> Option<OwnedFd> {
    let (flags, protocol) = (SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG));
    let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol).ok()?;
    set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_MAX)).ok()?;
    Some(socket)
}

/// The longest queue by the kernel's answers; `None` where it gives none.
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

/// The question for all listening TCP sockets of an address family. Numbers are in the host's order of bytes.
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

/// What one datagram tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Datagram {
    longest: u32,
    /// It was the answer's last one.
    over: bool,
}

/// Reads a datagram: messages one behind the other, each beginning at a multiple of four bytes with its length and kind.
/// Of a socket that listens `idiag_rqueue` is how many connections wait. `None`: the kernel refuses, or this is no answer.
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
