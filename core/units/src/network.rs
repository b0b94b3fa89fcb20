//! [`Network`]: addresses that share a prefix, as people write them (RFC 4632, RFC 4291).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::SourceRange;

/// Addresses that share the first `prefix` bits of `address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Returns the network of `address` cut to `prefix` bits. A prefix longer than the address
    /// means the address alone.
    pub fn new(address: IpAddr, prefix: u8) -> Self {
        let bits = bits_of(address);
        let prefix = prefix.min(bits);
        let masked = address_number(address) & !host_mask(bits, prefix);
        Self { address: address_from_number(masked, address.is_ipv4()), prefix }
    }

    /// Reads `10.0.0.0/8`, `fd00::/8` or a single address.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix.parse::<u8>().ok()?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let bits = bits_of(address);
        let prefix = prefix.unwrap_or(bits);
        (prefix <= bits).then(|| Self::new(address, prefix))
    }

    /// Returns its first address; all bits after the prefix are 0.
    pub const fn address(self) -> IpAddr {
        self.address
    }

    /// How many bits its addresses share.
    pub const fn prefix(self) -> u8 {
        self.prefix
    }

    /// Whether the two have an address in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.contains(other.address) || other.contains(self.address)
    }

    /// Whether `address` is inside.
    pub fn contains(self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4()
            && (self.first()..=self.last()).contains(&address_number(address))
    }

    /// Whether the network is one address.
    pub fn is_single(self) -> bool {
        self.prefix == bits_of(self.address)
    }

    /// Whether the network is one of IPv4.
    pub fn is_ipv4(self) -> bool {
        self.address.is_ipv4()
    }

    /// First and last address as numbers.
    pub fn span(self) -> (u128, u128) {
        (self.first(), self.last())
    }

    fn first(self) -> u128 {
        address_number(self.address)
    }

    fn last(self) -> u128 {
        self.first() | host_mask(bits_of(self.address), self.prefix)
    }

    /// Returns the addresses that can be bound. An IPv4 network wider than /31 loses its first and
    /// last address, which mean the network itself and all its hosts.
    pub fn bindable(self) -> SourceRange {
        let v4 = self.address.is_ipv4();
        let trim = u128::from(v4 && self.prefix < 31);
        SourceRange {
            first: address_from_number(self.first() + trim, v4),
            last: address_from_number(self.last() - trim, v4),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

fn bits_of(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn host_mask(bits: u8, prefix: u8) -> u128 {
    match bits - prefix {
        128 => u128::MAX,
        host => (1_u128 << host) - 1,
    }
}

/// An address as a number, for ranges.
pub fn address_number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(u32::from(v4)),
        IpAddr::V6(v6) => u128::from(v6),
    }
}

/// The address of a number; the opposite of [`number`].
pub fn address_from_number(value: u128, v4: bool) -> IpAddr {
    if v4 { IpAddr::V4(Ipv4Addr::from(value as u32)) } else { IpAddr::V6(Ipv6Addr::from(value)) }
}
