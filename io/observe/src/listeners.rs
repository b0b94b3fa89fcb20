//! [`loopback_families`]: how this host's own servers are reached on a port. [`interface_index`]:
//! the number of an interface.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::{parse, read};

/// Returns whether a listener on `port` accepts connections to 127.0.0.1, and to `::1`, in the
/// network of this thread.
///
/// No connection is made, so the servers count none. A socket that listens on all IPv6 addresses
/// counts for IPv6 only, because it may refuse IPv4.
pub fn loopback_families(port: u16) -> (bool, bool) {
    let here = |file: &str, accepts: fn(&str) -> bool| {
        let Ok(file) = File::open(file) else { return false };
        // The kernel lists listeners first.
        let lines = BufReader::new(file).lines().map_while(Result::ok).skip(1);
        let mut listeners = lines.map_while(|line| parse::listened_port(&line).map(|at| (at, line)));
        listeners.any(|(at, line)| at == port && line.split_whitespace().nth(1).is_some_and(&accepts))
    };
    (here("/proc/thread-self/net/tcp", accepts_v4), here("/proc/thread-self/net/tcp6", accepts_v6))
}

/// Returns the number of the interface `name` in the network of this thread, if it has an IPv6
/// address.
pub fn interface_index(name: &str) -> Option<u32> {
    parse::interface_index(&read::text("/proc/thread-self/net/if_inet6")?, name)
}

/// Whether a socket bound to `local` (`0100007F:1F90`, in this host's byte order) accepts
/// connections to 127.0.0.1.
fn accepts_v4(local: &str) -> bool {
    let address = local.split(':').next().and_then(|hex| u32::from_str_radix(hex, 16).ok());
    address.is_some_and(|bits| {
        let address = Ipv4Addr::from(bits.to_ne_bytes());
        address.is_unspecified() || address == Ipv4Addr::LOCALHOST
    })
}

/// The same for `::1`, with the address as four numbers in this host's byte order.
fn accepts_v6(local: &str) -> bool {
    let bits = local.split(':').next().and_then(|hex| u128::from_str_radix(hex, 16).ok());
    bits.is_some_and(|bits| {
        let mut octets = bits.to_be_bytes();
        for number in octets.chunks_exact_mut(4) {
            let value = u32::from_be_bytes(number.try_into().expect("four bytes"));
            number.copy_from_slice(&value.to_ne_bytes());
        }
        let address = Ipv6Addr::from(octets);
        address.is_unspecified() || address == Ipv6Addr::LOCALHOST
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[track_caller]
    fn check(bind: &str, families: (bool, bool)) {
        let Ok(listener) = TcpListener::bind(bind) else { return };
        let port = listener.local_addr().expect("it is bound").port();
        assert_eq!(loopback_families(port), families, "{bind}");
    }

    #[test]
    fn a_listener_is_found_by_its_address() {
        check("127.0.0.1:0", (true, false));
        check("0.0.0.0:0", (true, false));
        check("127.0.0.3:0", (false, false));
        check("[::1]:0", (false, true));
        check("[::]:0", (false, true));
    }

    #[test]
    fn addresses_are_read_in_any_case() {
        if cfg!(target_endian = "little") {
            assert!(accepts_v4("0100007F:1F90") && accepts_v4("00000000:1F90"));
            assert!(!accepts_v4("0200007F:1F90") && !accepts_v4("local_address"));
            assert!(accepts_v6("00000000000000000000000001000000:1F90"));
            assert!(!accepts_v6("0000000000000000FFFF00000100007F:1F90"));
        }
    }
}
