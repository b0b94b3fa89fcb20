//! [`Family`]: the expressions of rules for the parts of an IPv4 or IPv6 packet.

use std::net::IpAddr;

use super::ruleset::SEED;

/// An address, with the `nft` expressions for packets of its family.
///
/// A connection is identified by the client's address and both ports. A router reports an
/// undeliverable packet by an ICMP message that contains the start of that packet. `nft` has no
/// names for the fields inside the message. It has only raw positions (`@th,BIT,BITS`), with plain
/// numbers as values.
///
/// Both kinds of packet must find the same map entry. The keys are therefore plain numbers for
/// both, and fields of the packet itself are also given by position. These positions count from the
/// network header (`@nh`), because `nft` replaces positions after the transport header by named
/// ports. As a result, only headers without options are supported.
///
/// A statement of `nft` 1.0 that updates a map has room for keys of 16 bytes. For an IPv6 address,
/// the key contains a hash of the address and its last 32 bits. The last 32 bits differ for any two
/// hosts of a network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    address: IpAddr,
}

/// Positions of the fields of a packet that identify its connection. The same fields also occur in
/// the packet inside an ICMP message. That packet was sent by the server, so source and destination
/// are swapped.
struct Places {
    /// The key in the packet, counted from the network header: the client's address and both ports.
    key: &'static str,
    /// The same key in the packet inside a message, counted from the ICMP header.
    reported: &'static str,
    /// The fields hashed for the slots, in the packet inside a message.
    reported_hash: &'static str,
    /// Condition for an IP header without options, followed by TCP: for the packet itself, and for
    /// the one inside.
    plain: &'static str,
    reported_plain: &'static str,
    /// The source address and port of the packet inside.
    reported_from: &'static str,
    reported_port: &'static str,
    /// ICMP messages about undelivered packets.
    messages: &'static str,
}

/// RFC 791, RFC 792.
const FOUR: Places = Places {
    key: "@nh,96,32 . @nh,160,16 . @nh,176,16",
    reported: "@th,192,32 . @th,240,16 . @th,224,16",
    reported_hash: "@th,192,32 . @th,240,16 . @th,224,16",
    plain: "ip hdrlength 5",
    reported_plain: "@th,64,8 0x45 @th,136,8 6",
    reported_from: "@th,160,32",
    reported_port: "@th,224,16",
    messages: "icmp type { destination-unreachable, time-exceeded, parameter-problem }",
};

/// RFC 8200, RFC 4443. `HASH(…)` is replaced by the hash of an address.
const SIX: Places = Places {
    key: "HASH(@nh,64,128) . @nh,160,32 . @nh,320,16 . @nh,336,16",
    reported: "HASH(@th,256,128) . @th,352,32 . @th,400,16 . @th,384,16",
    reported_hash: "@th,256,128 . @th,400,16 . @th,384,16",
    plain: "ip6 nexthdr tcp",
    reported_plain: "@th,112,8 6",
    reported_from: "@th,128,128",
    reported_port: "@th,384,16",
    messages: "icmpv6 type { destination-unreachable, packet-too-big, time-exceeded, parameter-problem }",
};

impl Family {
    /// Returns the family of `address`.
    pub(super) const fn from_address(address: IpAddr) -> Self {
        Self { address }
    }

    /// Returns `ip` or `ip6`. This is the protocol, and also the table family that sees only this
    /// protocol.
    pub(super) const fn as_str(self) -> &'static str {
        if self.address.is_ipv4() { "ip" } else { "ip6" }
    }

    /// Returns the key of a client's packet in the map of connections.
    pub(super) fn key(self) -> String {
        hashed(self.places().key)
    }

    /// Returns the type of such a key for the map. `nft` has no name for the type of a hash, so
    /// another number of that type is used.
    pub(super) fn key_type(self) -> String {
        let key = self.places().key;
        match key.split_once(") . ") {
            None => key.to_owned(),
            Some((_, rest)) => format!("numgen inc mod {HASHES} . {rest}"),
        }
    }

    /// Returns the key of the connection to which an ICMP message refers.
    pub(super) fn icmp_error_key(self) -> String {
        hashed(self.places().reported)
    }

    /// Returns the slot of a connection: a hash of the client's address and both ports.
    pub(super) fn slot(self, slots: u32) -> String {
        format!("jhash {} saddr . tcp sport . tcp dport mod {slots} seed {SEED}", self.as_str())
    }

    /// Returns the same slot for the connection to which an ICMP message refers.
    pub(super) fn icmp_error_slot(self, slots: u32) -> String {
        format!("jhash {} mod {slots} seed {SEED}", self.places().reported_hash)
    }

    /// Matches packets to the address and to one of `ports`, which is a set.
    pub(super) fn service_match(self, ports: &str) -> String {
        format!("{} daddr {} {} tcp dport {ports}", self.as_str(), self.address, self.places().plain)
    }

    /// Matches ICMP messages to the address about packets from one of `ports`.
    pub(super) fn icmp_error_match(self, ports: &[u16]) -> String {
        let Places { messages, reported_plain, reported_from, reported_port, .. } = self.places();
        let from = match self.address {
            IpAddr::V4(address) => format!("{:#010x}", u32::from(address)),
            IpAddr::V6(address) => format!("{:#034x}", u128::from(address)),
        };
        let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
        format!(
            "{} daddr {} {messages} {reported_plain} {reported_from} {from} {reported_port} {{ {} }}",
            self.as_str(),
            self.address,
            ports.join(", ")
        )
    }

    const fn places(self) -> &'static Places {
        if self.address.is_ipv4() { &FOUR } else { &SIX }
    }
}

/// Number of values of the hash of an address.
const HASHES: u32 = u32::MAX;

/// Expands `HASH(X)`.
fn hashed(key: &str) -> String {
    match key.strip_prefix("HASH(").and_then(|rest| rest.split_once(')')) {
        None => key.to_owned(),
        Some((address, rest)) => format!("jhash {address} mod {HASHES} seed {SEED}{rest}"),
    }
}
