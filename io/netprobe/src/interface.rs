//! The interface of an address, and its speed.

use std::net::IpAddr;

use nix::ifaddrs::getifaddrs;
use nix::sys::socket::SockaddrStorage;

/// An interface and its nominal speed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interface {
    /// Its name; empty if it is not known.
    pub(crate) name: String,
    /// Bits per second; 0 if it is virtual or does not report a speed.
    pub(crate) bits_per_s: u64,
}

/// Returns the interface with this address of this host.
pub(crate) fn interface_of(address: IpAddr) -> Interface {
    let Ok(mut list) = getifaddrs() else { return Interface::default() };
    let name = list.find(|one| one.address.as_ref().and_then(ip_of) == Some(address.to_canonical()));
    let Some(name) = name.map(|one| one.interface_name) else { return Interface::default() };
    Interface { bits_per_s: speed(&name).unwrap_or_default(), name }
}

fn ip_of(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
}

/// Returns the speed of a network card. Virtual interfaces report one that means nothing; they
/// have no device.
fn speed(name: &str) -> Option<u64> {
    let folder = std::path::Path::new("/sys/class/net").join(name);
    folder.join("device").exists().then_some(())?;
    let text = std::fs::read_to_string(folder.join("speed")).ok()?;
    // It is -1 without a link.
    text.trim().parse::<u64>().ok().filter(|&mbit| mbit > 0).map(|mbit| mbit * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_has_a_name_and_no_speed() {
        let found = interface_of(IpAddr::from([127, 0, 0, 1]));
        assert_eq!(found, Interface { name: "lo".to_owned(), bits_per_s: 0 });
        assert_eq!(interface_of(IpAddr::from([192, 0, 2, 77])), Interface::default());
    }
}
