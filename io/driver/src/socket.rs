//! Socket system calls, each in a safe wrapper.
//!
//! The two calls on the path of every request bypass the C library. Its wrappers are cancellation
//! points, which cost a fifth of this program's own time, and no thread here is ever cancelled.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::net::{RecvFlags, SendFlags};
use wavetank_plan::Close;
use wavetank_units::{Nanos, unix_path};

use crate::driver::{ConnAddresses, Datagrams, SEGMENT_BYTES};
use crate::{Errno, clock};

/// Connections waiting to be accepted, per listener. The kernel caps it at net.core.somaxconn.
const BACKLOG: i32 = 65_535;

/// Returns a non-blocking stream socket for the address family of `family_of`, with Nagle's delay
/// off.
pub(crate) fn stream(family_of: SocketAddr) -> Result<OwnedFd, Errno> {
    let socket = plain_stream(family_of)?;
    if is_tcp(family_of) {
        set_nodelay(&socket)?;
    }
    Ok(socket)
}

/// Whether `address` is one of TCP. The others are Unix sockets.
pub(crate) fn is_tcp(address: SocketAddr) -> bool {
    // An address of IPv4 needs no look at the table of paths.
    address.is_ipv4() || unix_path(address).is_none()
}

/// Returns the address family of `address`.
pub(crate) fn family(address: SocketAddr) -> i32 {
    match address {
        SocketAddr::V4(_) => libc::AF_INET,
        SocketAddr::V6(_) if is_tcp(address) => libc::AF_INET6,
        SocketAddr::V6(_) => libc::AF_UNIX,
    }
}

/// Turns Nagle's delay off: bytes are sent even if older ones are not acknowledged yet.
pub(crate) fn set_nodelay(socket: &OwnedFd) -> Result<(), Errno> {
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)
}

/// Acknowledges together with the next bytes sent, as in an ongoing conversation (tcp(7),
/// `TCP_QUICKACK`).
pub(crate) fn delay_acknowledgement(socket: &OwnedFd) -> Result<(), Errno> {
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_QUICKACK, 0)
}

/// Returns a non-blocking stream socket for the address family of `family_of`.
pub(crate) fn plain_stream(family_of: SocketAddr) -> Result<OwnedFd, Errno> {
    plain(family_of, libc::SOCK_STREAM)
}

/// Returns a non-blocking UDP socket that is bound to `from`. Its port must be free: another socket
/// on it could take its datagrams.
pub(crate) fn datagram(
    to: SocketAddr,
    from: Option<SocketAddr>,
    datagrams: Datagrams,
) -> Result<OwnedFd, Errno> {
    let socket = plain(to, libc::SOCK_DGRAM)?;
    if datagrams == Datagrams::Segments {
        cut_into(&socket, SEGMENT_BYTES)?;
    }
    if let Some(from) = from {
        bind(&socket, from)?;
    }
    Ok(socket)
}

/// Makes the kernel cut what a UDP socket sends into datagrams of this size; 0: it cuts nothing.
pub(crate) fn cut_into(socket: &impl AsRawFd, segment_bytes: u16) -> Result<(), Errno> {
    set_option(socket, libc::SOL_UDP, libc::UDP_SEGMENT, segment_bytes.into())
}

/// Whether the kernel can cut what a UDP socket sends.
pub fn can_segment() -> bool {
    plain((Ipv4Addr::LOCALHOST, 0).into(), libc::SOCK_DGRAM)
        .and_then(|socket| cut_into(&socket, SEGMENT_BYTES))
        .is_ok()
}

fn plain(family_of: SocketAddr, kind: i32) -> Result<OwnedFd, Errno> {
    let family = family(family_of);
    let kind = kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers are passed.
    let fd = Errno::check(unsafe { libc::socket(family, kind, 0) })?;
    // SAFETY: `fd` was just returned by the kernel and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Returns a listening socket at `at`. Other listeners of this user may share its port.
pub(crate) fn listening(at: SocketAddr) -> Result<(OwnedFd, SocketAddr), Errno> {
    let socket = stream(at)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEPORT, 1)?;
    bind(&socket, at)?;
    // SAFETY: no pointers are passed.
    Errno::check(unsafe { libc::listen(socket.as_raw_fd(), BACKLOG) })?;
    let bound = local_address(&socket)?;
    Ok((socket, bound))
}

/// Binds the socket. With port 0 the port is chosen at connect time, so that one port serves many
/// peers.
pub(crate) fn bind(socket: &OwnedFd, at: SocketAddr) -> Result<(), Errno> {
    let (address, length) = to_kernel(at);
    // SAFETY: `address` is initialised for `length` bytes and outlives the call.
    Errno::check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(())
}

/// Binds the socket to a source address for connecting.
///
/// One port may serve several peers simultaneously. It may also serve the same peer again while its
/// last connection is in `TIME_WAIT`. Linux allows both if every socket on the port has this
/// option.
pub(crate) fn bind_source(socket: &OwnedFd, from: SocketAddr) -> Result<(), Errno> {
    if from.port() == 0 {
        set_option(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)?;
    }
    set_option(socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
    bind(socket, from)
}

/// Checks that this host can bind `address`: the test of source addresses before a run.
pub fn bind_probe(address: SocketAddr) -> Result<(), Errno> {
    bind_source(&stream(address)?, address)
}

/// Starts connecting; returns `Ok(true)` if the socket is connected already.
pub(crate) fn connect(socket: &OwnedFd, to: SocketAddr) -> Result<bool, Errno> {
    let (address, length) = to_kernel(to);
    // SAFETY: `address` is initialised for `length` bytes and outlives the call.
    match Errno::check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) }) {
        Ok(_) => Ok(true),
        Err(Errno(libc::EINPROGRESS)) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Returns the next waiting connection, non-blocking; `None` if the queue is empty.
pub(crate) fn accept(listener: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: null address pointers are allowed: the peer's address is not requested.
    let result =
        unsafe { libc::accept4(listener.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags) };
    match Errno::check(result) {
        Ok(fd) => {
            // Nagle's delay is off as on the listener (tcp(7) does not say so, Linux copies it).
            // SAFETY: `fd` was just returned by the kernel and has no other owner.
            Ok(Some(unsafe { OwnedFd::from_raw_fd(fd) }))
        }
        // A peer that gave up while waiting is not a failure of this side.
        Err(Errno(libc::EAGAIN | libc::ECONNABORTED | libc::EINTR)) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Receives into `buffer`. `None`: nothing has arrived; `Some(0)`: the peer has finished.
#[inline]
pub(crate) fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
    loop {
        match rustix::net::recv(socket, &mut *buffer, RecvFlags::empty()) {
            Ok((_, len)) => return Ok(Some(len)),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return Ok(None),
            Err(errno) => return Err(Errno(errno.raw_os_error())),
        }
    }
}

/// Sends as much of `bytes` as the kernel takes now; 0 if it takes none.
#[inline]
pub(crate) fn send(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    loop {
        match rustix::net::send(socket, bytes, SendFlags::NOSIGNAL) {
            Ok(len) => return Ok(len),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return Ok(0),
            Err(errno) => return Err(Errno(errno.raw_os_error())),
        }
    }
}

/// Closes by FIN (as dropping does) or by RST.
pub(crate) fn close(socket: OwnedFd, how: Close) {
    if how == Close::Rst {
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        // SAFETY: `linger` is a valid value of the option's type for the length given.
        unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_LINGER,
                (&raw const linger).cast(),
                size_of::<libc::linger>() as libc::socklen_t,
            )
        };
    }
    drop(socket);
}

/// Sends FIN now, while still receiving.
pub(crate) fn shut_down_sending(socket: &OwnedFd) {
    // SAFETY: no pointers are passed. A failure means that the connection has ended already.
    unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_WR) };
}

/// Returns the error of a finished connect, if any.
pub(crate) fn pending_error(socket: &OwnedFd) -> Result<(), Errno> {
    let mut value: i32 = 0;
    let mut length = size_of::<i32>() as libc::socklen_t;
    // SAFETY: `value` and `length` are valid for writing an int-sized option.
    Errno::check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ERROR,
            (&raw mut value).cast(),
            &raw mut length,
        )
    })?;
    if value == 0 { Ok(()) } else { Err(Errno(value)) }
}

/// Returns for how long at least the data last received has been in the kernel, from `TCP_INFO`.
///
/// The kernel counts whole ticks of its timer, so up to one tick of the difference is no time at
/// all.
pub(crate) fn last_received_age(socket: &OwnedFd) -> Option<Nanos> {
    let age = Nanos::from_millis(i64::from(tcp_info(socket.as_fd())?.tcpi_last_data_recv));
    Some(Nanos((age.0 - clock::tick().0).max(0)))
}

/// Returns how many segments of a TCP connection were sent again; `None` if the kernel does not
/// report it.
pub fn tcp_retransmits(socket: BorrowedFd<'_>) -> Option<u64> {
    tcp_info(socket).map(|info| u64::from(info.tcpi_total_retrans))
}

fn tcp_info(socket: BorrowedFd<'_>) -> Option<libc::tcp_info> {
    // SAFETY: all-zero is a valid tcp_info.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: `info` is writable for `length` bytes, and the kernel writes at most that many.
    Errno::check(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    })
    .ok()?;
    Some(info)
}

/// Returns both addresses of a connection.
pub(crate) fn ends(socket: &OwnedFd) -> Result<ConnAddresses, Errno> {
    Ok(ConnAddresses { own: local_address(socket)?, peer: address_by(socket, libc::getpeername)? })
}

fn local_address(socket: &OwnedFd) -> Result<SocketAddr, Errno> {
    address_by(socket, libc::getsockname)
}

/// A system call that writes an address of a socket.
type AddressCall = unsafe extern "C" fn(i32, *mut libc::sockaddr, *mut libc::socklen_t) -> i32;

fn address_by(socket: &OwnedFd, call: AddressCall) -> Result<SocketAddr, Errno> {
    // SAFETY: all-zero is a valid sockaddr_storage.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: `storage` is writable for `length` bytes, and only the two calls above are passed in.
    Errno::check(unsafe { call(socket.as_raw_fd(), (&raw mut storage).cast(), &raw mut length) })?;
    if i32::from(storage.ss_family) == libc::AF_INET {
        // SAFETY: the kernel said this is a sockaddr_in, which is smaller than the storage.
        let v4: libc::sockaddr_in = unsafe { std::ptr::read((&raw const storage).cast()) };
        let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
        Ok(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
    } else if i32::from(storage.ss_family) != libc::AF_INET6 {
        Err(Errno(libc::EAFNOSUPPORT))
    } else {
        // SAFETY: the kernel said this is a sockaddr_in6.
        let v6: libc::sockaddr_in6 = unsafe { std::ptr::read((&raw const storage).cast()) };
        let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
        Ok(SocketAddrV6::new(ip, u16::from_be(v6.sin6_port), v6.sin6_flowinfo, v6.sin6_scope_id).into())
    }
}

/// Returns the address of the Unix socket at `path`; `@` starts a name in the abstract namespace
/// (unix(7)).
#[cold]
fn unix_to_kernel(path: &str) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: all-zero is a valid sockaddr_un.
    let mut raw: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    raw.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // The plan refuses longer paths. What does not fit is cut, so that the connect fails.
    let room = raw.sun_path.len() - 1;
    for (place, byte) in raw.sun_path[..room].iter_mut().zip(path.bytes()) {
        *place = byte as libc::c_char;
    }
    let is_abstract = path.starts_with('@');
    if is_abstract {
        raw.sun_path[0] = 0;
    }
    // A path ends with a zero. A name in the abstract namespace ends with the address.
    let used = path.len().min(room) + usize::from(!is_abstract);
    // SAFETY: all-zero is a valid sockaddr_storage.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    // SAFETY: sockaddr_storage is larger than, and aligned for, every socket address.
    unsafe { std::ptr::write((&raw mut storage).cast(), raw) };
    (storage, (std::mem::offset_of!(libc::sockaddr_un, sun_path) + used) as libc::socklen_t)
}

/// Returns `address` in the kernel's form, with its length.
#[inline]
pub(crate) fn to_kernel(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    if let Some(path) = unix_path(address) {
        return unix_to_kernel(path);
    }
    // SAFETY: all-zero is a valid sockaddr_storage.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    match address {
        SocketAddr::V4(v4) => {
            let raw = libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from(*v4.ip()).to_be() },
                sin_zero: [0; 8],
            };
            // SAFETY: sockaddr_storage is larger than, and aligned for, every socket address.
            unsafe { std::ptr::write((&raw mut storage).cast(), raw) };
            (storage, size_of::<libc::sockaddr_in>() as libc::socklen_t)
        }
        SocketAddr::V6(v6) => {
            let raw = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            };
            // SAFETY: as above.
            unsafe { std::ptr::write((&raw mut storage).cast(), raw) };
            (storage, size_of::<libc::sockaddr_in6>() as libc::socklen_t)
        }
    }
}

fn set_option(socket: &impl AsRawFd, level: i32, name: i32, value: i32) -> Result<(), Errno> {
    // SAFETY: `value` is a valid int option for the length given.
    Errno::check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of::<i32>() as libc::socklen_t,
        )
    })?;
    Ok(())
}
