//! [`Family`]: what rules call the parts of a packet of IPv4 or IPv6.

use std::net::IpAddr;

use super::ruleset::SEED;

/// An address and what `nft` says about packets of its family.
///
/// A connection is known by the client's address and both ports. A router tells of a packet that it could not pass on by
/// ICMP, with that packet's beginning in it, and `nft` has no names for the fields in there, only places (`@th,BIT,BITS`)
/// whose values it takes for plain numbers. So that one map can be asked by either packet, its keys are plain numbers for
/// both: fields of the packet itself are named by their places, too. Those count from the network header (`@nh`), since
/// `nft` knows ports at their places behind the transport header; hence headers without options only.
///
/// A statement of `nft` 1.0 that updates a map has room for keys of 16 bytes. Of an address of IPv6 stands there what a
/// hash makes of it and its last 32 bits, which differ for any two hosts of a network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    address: IpAddr,
}

/// Places of the parts of a packet that tell connections apart, and of the same parts, the other way round, in the
/// packet that an ICMP message is about: a packet of an answer.
struct Places {
    /// Of the key: the client's address and both ports, from the network header.
    key: &'static str,
    /// The same key of the packet inside of a message, from the ICMP header.
    told: &'static str,
    /// What the slots' hash is over, inside of a message.
    told_hash: &'static str,
    /// Header of IP without options, and TCP: the packet itself, and the one inside.
    plain: &'static str,
    told_plain: &'static str,
    /// The address that the packet inside came from, and its port.
    told_from: &'static str,
    told_port: &'static str,
    /// Messages about packets that did not arrive.
    messages: &'static str,
}

/// RFC 791, RFC 792.
const FOUR: Places = Places {
    key: "@nh,96,32 . @nh,160,16 . @nh,176,16",
    told: "@th,192,32 . @th,240,16 . @th,224,16",
    told_hash: "@th,192,32 . @th,240,16 . @th,224,16",
    plain: "ip hdrlength 5",
    told_plain: "@th,64,8 0x45 @th,136,8 6",
    told_from: "@th,160,32",
    told_port: "@th,224,16",
    messages: "icmp type { destination-unreachable, time-exceeded, parameter-problem }",
};

/// RFC 8200, RFC 4443. `HASH(…)` stands for the hash of an address.
const SIX: Places = Places {
    key: "HASH(@nh,64,128) . @nh,160,32 . @nh,320,16 . @nh,336,16",
    told: "HASH(@th,256,128) . @th,352,32 . @th,400,16 . @th,384,16",
    told_hash: "@th,256,128 . @th,400,16 . @th,384,16",
    plain: "ip6 nexthdr tcp",
    told_plain: "@th,112,8 6",
    told_from: "@th,128,128",
    told_port: "@th,384,16",
    messages: "icmpv6 type { destination-unreachable, packet-too-big, time-exceeded, parameter-problem }",
};

impl Family {
    /// That of `address`.
    pub(super) const fn from_address(address: IpAddr) -> Self {
        Self { address }
    }

    /// `ip` or `ip6`: the protocol, and the table family that sees only it.
    pub(super) const fn as_str(self) -> &'static str {
        if self.address.is_ipv4() { "ip" } else { "ip6" }
    }

    /// The key of a packet from a client in the map of connections.
    pub(super) fn key(self) -> String {
        hashed(self.places().key)
    }

    /// The type of such a key, for the map: `nft` has no name for the type of a hash but by another number.
    pub(super) fn key_type(self) -> String {
        let key = self.places().key;
        match key.split_once(") . ") {
            None => key.to_owned(),
            Some((_, rest)) => format!("numgen inc mod {HASHES} . {rest}"),
        }
    }

    /// The key of the connection that an ICMP message is about.
    pub(super) fn icmp_error_key(self) -> String {
        hashed(self.places().told)
    }

    /// The number of a connection's slot: a hash over the client's address and both ports.
    pub(super) fn slot(self, slots: u32) -> String {
        format!("jhash {} saddr . tcp sport . tcp dport mod {slots} seed {SEED}", self.as_str())
    }

    /// The same number for the connection that an ICMP message is about.
    pub(super) fn icmp_error_slot(self, slots: u32) -> String {
        format!("jhash {} mod {slots} seed {SEED}", self.places().told_hash)
    }

    /// Packets for the address, to one of `ports`, a set.
    pub(super) fn service_match(self, ports: &str) -> String {
        format!("{} daddr {} {} tcp dport {ports}", self.as_str(), self.address, self.places().plain)
    }

    /// ICMP messages for the address about packets from one of `ports`.
    pub(super) fn icmp_error_match(self, ports: &[u16]) -> String {
        let Places { messages, told_plain, told_from, told_port, .. } = self.places();
        let from = match self.address {
            IpAddr::V4(address) => format!("{:#010x}", u32::from(address)),
            IpAddr::V6(address) => format!("{:#034x}", u128::from(address)),
        };
        let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
        format!(
            "{} daddr {} {messages} {told_plain} {told_from} {from} {told_port} {{ {} }}",
            self.as_str(),
            self.address,
            ports.join(", ")
        )
    }

    const fn places(self) -> &'static Places {
        if self.address.is_ipv4() { &FOUR } else { &SIX }
    }
}

/// How many values the hash of an address has.
const HASHES: u32 = u32::MAX;

/// `HASH(X)` written out.
fn hashed(key: &str) -> String {
    match key.strip_prefix("HASH(").and_then(|rest| rest.split_once(')')) {
        None => key.to_owned(),
        Some((address, rest)) => format!("jhash {address} mod {HASHES} seed {SEED}{rest}"),
    }
}
