//! [`AcceptQueues`]: the accept queues and connections of a network namespace, queried from the
//! kernel with `sock_diag(7)`.
//!
//! `/proc/net/tcp` contains the same numbers. However, to list one namespace's listeners the kernel
//! walks over the sockets of all namespaces. With a million sockets that takes more than half a
//! core each second. A query for listening sockets alone does not touch the other sockets.

mod message;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use wavetank_measure::{HostCounters, ListenerSample, UNEVEN_QUEUE};

use crate::connection_table::ConnectionTable;
use crate::net_files::NetFiles;
use crate::network::in_network_of;
use message::{CONNECTED, ESTABLISHED, Extension, FAMILIES, LISTENING, Socket, TIME_WAIT};

/// Receive timeout. The kernel answers within the call, so an answer that takes longer never
/// arrives.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// Maximum size of one datagram of an answer: the kernel makes them no larger than 32 KiB.
const DATAGRAM_MAX: usize = 32 << 10;
/// Maximum number of datagrams of one answer; each contains some 200 sockets.
const DATAGRAMS_MAX: usize = 1_024;
/// Most listening addresses of a sample, those with the longest queues.
const LISTENERS_MAX: usize = 64;

/// A queue that is shorter is not uneven.
const UNEVEN_MIN: u64 = 8;
/// Of sockets with one address, the longest queue is at least this many times the shortest.
const UNEVEN_RATIO: u64 = 4;

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

    /// Returns the listeners of the namespace now.
    pub(crate) fn sample(&mut self) -> Listeners {
        if let QueueSource::Asked(socket) = &self.way {
            let mut queues = Queues::new();
            if query(socket, LISTENING, Extension::Drops, |one| {
                queues.entry(one.local).or_default().push(one);
            })
            .is_some()
            {
                return Listeners::new(&queues);
            }
            // Answers to the failed request may still be queued in that socket.
            self.way = QueueSource::Walked;
        }
        let longest_queue = NetFiles::for_pid(self.pid).longest_accept_queue();
        Listeners { longest_queue, ..Listeners::default() }
    }

    /// Returns all connections of the namespace, which costs time for each of them; `None` if the
    /// kernel does not list them. Ports in `listening` belong to its own listeners. `with_path`:
    /// what the kernel knows of each connection is included, which multiplies the answer's size.
    pub(crate) fn connections(
        &mut self,
        listening: &[ListenerSample],
        with_path: bool,
    ) -> Option<ConnectionTable> {
        let QueueSource::Asked(socket) = &self.way else { return None };
        let mut table = ConnectionTable::default();
        let is_own = |port| listening.iter().any(|listener| listener.address.port() == port);
        let add = |one: Socket| {
            table.add(one.state, one.local, one.remote, !is_own(one.local.port()), one.state == TIME_WAIT);
            if let Some(info) = one.info.filter(|_| one.state == ESTABLISHED) {
                table.add_info(info);
            }
        };
        let extension = if with_path { Extension::Info } else { Extension::Nothing };
        let listed = query(socket, CONNECTED, extension, add);
        if listed.is_none() {
            self.way = QueueSource::Walked;
        }
        listed.map(|()| table)
    }
}

/// The listening sockets of each address.
type Queues = BTreeMap<SocketAddr, Vec<Socket>>;

/// The listeners of a network namespace at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listeners {
    /// Connections in the longest queue; 0 without listeners.
    pub(crate) longest_queue: u64,
    /// The listeners, if the kernel lists them.
    pub(crate) samples: Vec<ListenerSample>,
    /// Addresses with several sockets, of which one has a long queue and another one has not: the
    /// process of the first does not accept.
    pub(crate) uneven: Vec<SocketAddr>,
}

impl Listeners {
    fn new(queues: &Queues) -> Self {
        let all = queues.iter().filter_map(|(address, sockets)| listener(*address, sockets));
        let mut samples: Vec<ListenerSample> = all.collect();
        samples.sort_by_key(|listener| (Reverse(listener.queue), listener.address));
        samples.truncate(LISTENERS_MAX);
        let uneven = queues.iter().filter(|(_, sockets)| is_uneven(sockets)).map(|(address, _)| *address);
        Self {
            longest_queue: samples.first().map_or(0, |listener| listener.queue),
            samples,
            uneven: uneven.take(LISTENERS_MAX).collect(),
        }
    }

    /// Counts this sample for each uneven address, in `counters`.
    pub(crate) fn add_uneven(&self, counters: &mut HostCounters) {
        let rises = self.uneven.iter().map(|address| (format!("{UNEVEN_QUEUE}{address}"), 1));
        counters.rises.extend(rises);
        counters.rises.sort();
    }
}

/// Several sockets with one address as one, of which the longest queue counts.
fn listener(address: SocketAddr, sockets: &[Socket]) -> Option<ListenerSample> {
    let longest = sockets.iter().rev().max_by_key(|socket| socket.queue)?;
    let drops = sockets.iter().map(|socket| u64::from(socket.drops)).sum();
    Some(ListenerSample { address, queue: longest.queue.into(), limit: longest.limit.into(), drops })
}

/// Whether the longest queue is long, and at least four times as long as the shortest.
fn is_uneven(sockets: &[Socket]) -> bool {
    let queues = || sockets.iter().map(|socket| u64::from(socket.queue));
    let (Some(longest), Some(shortest)) = (queues().max(), queues().min()) else { return false };
    sockets.len() > 1 && longest >= UNEVEN_MIN && longest >= UNEVEN_RATIO * shortest
}

/// Opens a socket for requests about the namespace in which it is created.
fn socket() -> Option<OwnedFd> {
    let (flags, protocol) = (SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG));
    let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol).ok()?;
    set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_MAX)).ok()?;
    Some(socket)
}

/// Visits all TCP sockets in one of `states`; `None` if the kernel does not answer to the end.
fn query(socket: &OwnedFd, states: u32, extension: Extension, mut visit: impl FnMut(Socket)) -> Option<()> {
    let mut datagram = vec![0; DATAGRAM_MAX];
    for family in FAMILIES {
        let question = message::question(family, states, extension);
        retry_on_intr(|| send(socket, &question, SendFlags::empty())).ok()?;
        let mut over = false;
        for _ in 0..DATAGRAMS_MAX {
            let (read, _) = retry_on_intr(|| recv(socket, &mut datagram[..], RecvFlags::empty())).ok()?;
            over = message::read(&datagram[..read], &mut visit)?;
            if over {
                break;
            }
        }
        over.then_some(())?;
    }
    Some(())
}

#[cfg(test)]
mod tests;
