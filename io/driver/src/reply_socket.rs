//! [`ReplySocket`]: a UDP socket that answers each peer from the address which the peer has asked.

use std::io::{Error, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd as _;

use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt, sockopt,
};

/// A UDP socket that receives from any peer.
///
/// At a wildcard address, the kernel would choose the source address of an answer by the route to
/// the peer, which may be another one than the peer has asked. A connected peer discards such
/// answers. The socket therefore asks for the destination of each datagram (`IP_PKTINFO`, ip(7)).
#[derive(Debug)]
pub struct ReplySocket {
    socket: UdpSocket,
    is_wildcard: bool,
}

/// A datagram that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedDatagram {
    /// Its length in bytes.
    pub len: usize,
    /// Its sender.
    pub peer: SocketAddr,
    /// The address to which it was sent, at a wildcard address.
    pub local: Option<IpAddr>,
}

impl ReplySocket {
    /// Binds a socket to `at`.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn bind(at: SocketAddr) -> std::io::Result<Self> {
        let socket = UdpSocket::bind(at)?;
        let is_wildcard = at.ip().is_unspecified();
        if is_wildcard {
            match at {
                SocketAddr::V4(_) => setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?,
                SocketAddr::V6(_) => setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &true)?,
            }
        }
        Ok(Self { socket, is_wildcard })
    }

    /// The socket itself.
    pub const fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Receives a datagram.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn receive(&self, buffer: &mut [u8]) -> std::io::Result<ReceivedDatagram> {
        if !self.is_wildcard {
            let (len, peer) = self.socket.recv_from(buffer)?;
            return Ok(ReceivedDatagram { len, peer, local: None });
        }
        let mut control = nix::cmsg_space!(libc::in6_pktinfo);
        let mut slices = [IoSliceMut::new(buffer)];
        let (fd, flags) = (self.socket.as_raw_fd(), MsgFlags::empty());
        let received = recvmsg::<SockaddrStorage>(fd, &mut slices, Some(&mut control), flags)?;
        let peer = received.address.as_ref().and_then(socket_addr);
        let peer = peer.ok_or_else(|| Error::from_raw_os_error(libc::EAFNOSUPPORT))?;
        let local = received.cmsgs()?.find_map(|message| match message {
            ControlMessageOwned::Ipv4PacketInfo(info) => {
                // For a datagram to all hosts, this is an address of the interface.
                Some(IpAddr::from(u32::from_be(info.ipi_spec_dst.s_addr).to_be_bytes()))
            }
            ControlMessageOwned::Ipv6PacketInfo(info) => Some(IpAddr::from(info.ipi6_addr.s6_addr)),
            _ => None,
        });
        Ok(ReceivedDatagram { len: received.bytes, peer, local })
    }

    /// Sends a datagram to `peer`, from `local` if that is known. Returns its length.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn send(&self, bytes: &[u8], peer: SocketAddr, local: Option<IpAddr>) -> std::io::Result<usize> {
        let send = |message: ControlMessage<'_>| {
            let (fd, to) = (self.socket.as_raw_fd(), SockaddrStorage::from(peer));
            sendmsg(fd, &[IoSlice::new(bytes)], &[message], MsgFlags::empty(), Some(&to)).map_err(Error::from)
        };
        match local.filter(|_| self.is_wildcard) {
            None => self.socket.send_to(bytes, peer),
            Some(IpAddr::V4(local)) => {
                let source = libc::in_addr { s_addr: u32::from(local).to_be() };
                let any = libc::in_addr { s_addr: 0 };
                let info = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: source, ipi_addr: any };
                send(ControlMessage::Ipv4PacketInfo(&info))
            }
            Some(IpAddr::V6(local)) => {
                let source = libc::in6_addr { s6_addr: local.octets() };
                // A link-local address is one of an interface.
                let interface = match peer {
                    SocketAddr::V6(peer) => peer.scope_id(),
                    SocketAddr::V4(_) => 0,
                };
                let info = libc::in6_pktinfo { ipi6_addr: source, ipi6_ifindex: interface };
                send(ControlMessage::Ipv6PacketInfo(&info))
            }
        }
    }
}

fn socket_addr(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|address| SocketAddr::V4(SocketAddrV4::from(*address)));
    v4.or_else(|| address.as_sockaddr_in6().map(|address| SocketAddr::V6(SocketAddrV6::from(*address))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a peer which has asked `asked` gets its answer from there.
    fn check(at: &str, asked: &str) {
        let socket = match ReplySocket::bind(at.parse().expect("an address")) {
            Ok(socket) => socket,
            Err(error) => return eprintln!("no socket at {at} here: {error}"),
        };
        let port = socket.socket().local_addr().expect("it is bound").port();
        let asked = SocketAddr::new(asked.parse().expect("an address"), port);
        let any = if asked.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let peer = UdpSocket::bind(any).expect("a free port");
        peer.connect(asked).expect("a local address");
        peer.send(b"question").expect("loopback delivers");
        let mut buffer = [0; 100];
        let received = socket.receive(&mut buffer).expect("a datagram");
        assert_eq!(&buffer[..received.len], b"question");
        let sent = socket.send(b"answer", received.peer, received.local).expect("a peer that listens");
        assert_eq!(sent, 6);
        let len = peer.recv(&mut buffer).expect("an answer");
        assert_eq!(&buffer[..len], b"answer", "{at} asked at {asked}");
    }

    #[test]
    fn answers_leave_from_the_asked_address() {
        check("127.0.0.1:0", "127.0.0.1");
        check("0.0.0.0:0", "127.0.0.1");
        check("0.0.0.0:0", "127.1.2.3");
        check("[::]:0", "::1");
        check("[::]:0", "127.1.2.3");
    }
}
