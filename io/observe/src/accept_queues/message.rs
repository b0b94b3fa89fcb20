//! Requests and answers of `sock_diag(7)` for TCP sockets, as bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::connection_info::ConnectionInfo;

/// Size of the netlink message header (`struct nlmsghdr`).
const HEADER: usize = 16;
/// Size of a request (`struct inet_diag_req_v2`) with its header.
pub(super) const QUESTION: usize = HEADER + 56;
/// Size of an answer (`struct inet_diag_msg`) with its header; attributes follow.
const ANSWER: usize = HEADER + 72;
/// `SOCK_DIAG_BY_FAMILY`: the type of requests and of their answers.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST | NLM_F_DUMP`: list all sockets.
const ALL_OF_THEM: u16 = 0x301;
/// `NLMSG_ERROR` and `NLMSG_DONE`.
const FAILED: u16 = 2;
const DONE: u16 = 3;
/// The protocol number of TCP.
const TCP: u8 = 6;
/// The address families `AF_INET` and `AF_INET6`.
pub(super) const FAMILIES: [u8; 2] = [2, 10];
/// `INET_DIAG_SKMEMINFO`: the attribute with a socket's memory and drops.
const MEMORY_INFO: u16 = 7;
/// `INET_DIAG_INFO`: the attribute with what the kernel knows of a connection (`struct tcp_info`).
const TCP_INFO: u16 = 2;
/// `SK_MEMINFO_DROPS`: the place of drops among the numbers of [`MEMORY_INFO`].
const DROPS_AT: usize = 8;

/// The states of TCP sockets, as the kernel numbers them (`tcp_states.h`).
pub(super) const LISTEN: u8 = 10;
pub(super) const TIME_WAIT: u8 = 6;
pub(super) const ESTABLISHED: u8 = 1;
/// Bits of the states LISTEN, and of all others.
pub(super) const LISTENING: u32 = 1 << LISTEN;
pub(super) const CONNECTED: u32 = 0x1FFE & !LISTENING;

/// A socket of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Socket {
    pub(super) state: u8,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    /// Of a listener: connections that wait to be accepted, and how many may wait.
    pub(super) queue: u32,
    pub(super) limit: u32,
    /// Packets that it dropped; 0 if the kernel does not report them.
    pub(super) drops: u32,
    /// Of a connection, if it was requested and the kernel reports it.
    pub(super) info: Option<ConnectionInfo>,
}

/// What is requested of sockets in addition to their states and addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extension {
    Nothing,
    /// The drops of listeners.
    Drops,
    /// [`ConnectionInfo`].
    Info,
}

/// Returns the request for all TCP sockets of an address family in one of `states`. Numbers are in
/// host byte order.
pub(super) fn question(family: u8, states: u32, extension: Extension) -> [u8; QUESTION] {
    let mut bytes = [0; QUESTION];
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(0, &(QUESTION as u32).to_ne_bytes());
    put(4, &BY_FAMILY.to_ne_bytes());
    put(6, &ALL_OF_THEM.to_ne_bytes());
    let extension = match extension {
        Extension::Nothing => 0,
        Extension::Drops => 1 << (MEMORY_INFO - 1),
        Extension::Info => 1 << (TCP_INFO - 1),
    };
    put(HEADER, &[family, TCP, extension, 0]);
    put(HEADER + 4, &states.to_ne_bytes());
    bytes
}

/// Reads a datagram, which is a sequence of messages. Each message starts at a multiple of four
/// bytes with its length and kind. Returns whether it was the last datagram of the answer; `None`
/// if the kernel refuses or the datagram is not an answer.
pub(super) fn read(datagram: &[u8], mut visit: impl FnMut(Socket)) -> Option<bool> {
    let mut rest = datagram;
    while !rest.is_empty() {
        let length = number(rest, 0)? as usize;
        let kind = u16::from_ne_bytes(rest.get(4..6)?.try_into().ok()?);
        let message = rest.get(..length).filter(|message| message.len() >= HEADER)?;
        match kind {
            DONE => return Some(true),
            FAILED => return None,
            BY_FAMILY => visit(socket(message)?),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(false)
}

/// Reads a message about a socket. Ports and addresses are in network byte order.
fn socket(message: &[u8]) -> Option<Socket> {
    let body = message.get(HEADER..ANSWER)?;
    let port = |at: usize| Some(u16::from_be_bytes(body.get(at..at + 2)?.try_into().ok()?));
    let address = |at: usize| match body[0] {
        2 => Some(IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(body.get(at..at + 4)?).ok()?))),
        _ => Some(
            IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(body.get(at..at + 16)?).ok()?)).to_canonical(),
        ),
    };
    let attributes = message.get(ANSWER..)?;
    let drops = attribute(attributes, MEMORY_INFO).and_then(|numbers| number(numbers, DROPS_AT * 4));
    Some(Socket {
        state: body[1],
        local: SocketAddr::new(address(8)?, port(4)?),
        remote: SocketAddr::new(address(24)?, port(6)?),
        queue: number(body, 56)?,
        limit: number(body, 60)?,
        drops: drops.unwrap_or(0),
        info: attribute(attributes, TCP_INFO).and_then(info),
    })
}

/// Reads a `struct tcp_info`. Kernels before 4.10 end it before the times.
fn info(bytes: &[u8]) -> Option<ConnectionInfo> {
    let long = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    Some(ConnectionInfo {
        rtt_us: number(bytes, 68)?.into(),
        retransmits: number(bytes, 100)?.into(),
        busy_us: long(168).unwrap_or(0),
        rwnd_limited_us: long(176).unwrap_or(0),
        sndbuf_limited_us: long(184).unwrap_or(0),
    })
}

/// Returns the attribute of a kind: each starts at a multiple of four bytes with its length and
/// kind.
fn attribute(attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut rest = attributes;
    while rest.len() >= 4 {
        let length = usize::from(u16::from_ne_bytes(rest.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(rest.get(2..4)?.try_into().ok()?);
        if kind == wanted {
            return rest.get(4..length);
        }
        if length < 4 {
            return None;
        }
        rest = rest.get(length.next_multiple_of(4)..)?;
    }
    None
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
