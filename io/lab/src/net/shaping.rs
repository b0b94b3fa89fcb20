//! The input of `tc` and `nft` for the rate, delay and loss of cables. Texts only.
//!
//! Rate is a token bucket (tbf), which is available in every kernel that can shape. Delay needs
//! netem, which then also does the rate: a bucket in front of netem would count packets that have
//! not left yet. nftables does the loss in all cases, even with netem, so that labs on two machines
//! lose packets in the same way.

use std::fmt::Write;

use wavetank_topology::{Lab, Link};

use super::wiring::port;

/// An Ethernet frame with its header.
const FRAME_BYTES: u64 = 1514;
/// Fill time of a bucket: short enough that bursts do not show in a second, long enough for a timer
/// to keep up.
const BUCKET_MS: u64 = 2;
/// Time that a packet may wait at the port of a switch before it is dropped: one or two megabytes
/// at 1 Gbit/s.
const QUEUE_MS: u64 = 20;
/// Minimum queue length in frames, even for a slow cable.
const QUEUE_FRAMES_MIN: u64 = 64;
/// Maximum number of packets that netem keeps in transit. Drops beyond it are not part of the
/// configured loss.
const ON_THE_WAY_MAX: u64 = 1_000_000;
/// Assumed rate of a cable without a rate, for the number of packets in transit.
const FAST_BITS: u64 = 40_000_000_000;

/// Returns the `tc` command that shapes packets sent through `device`; empty without shaping.
pub(crate) fn outgoing(device: &str, link: &Link) -> String {
    let rate = link.rate_bits.filter(|rate| *rate > 0);
    let delay_us = link.delay.map_or(0, |delay| u64::try_from(delay.0).unwrap_or(0).div_ceil(1000));
    let mut line = String::new();
    let written = match (delay_us, rate) {
        (0, None) => Ok(()),
        (0, Some(rate)) => {
            let burst = (rate / 8 * BUCKET_MS / 1000).max(2 * FRAME_BYTES);
            let queue = (rate / 8 * QUEUE_MS / 1000).max(QUEUE_FRAMES_MIN * FRAME_BYTES) + burst;
            writeln!(line, "qdisc add dev {device} root tbf rate {rate}bit burst {burst}b limit {queue}b")
        }
        (delay, rate) => {
            let bits = rate.unwrap_or(FAST_BITS);
            let packets = bits / (FRAME_BYTES * 8) * (delay / 1000 + QUEUE_MS) / 1000;
            let limit = packets.clamp(QUEUE_FRAMES_MIN, ON_THE_WAY_MAX);
            let rate = rate.map_or_else(String::new, |rate| format!(" rate {rate}bit"));
            writeln!(line, "qdisc add dev {device} root netem delay {delay}us limit {limit}{rate}")
        }
    };
    written.expect("writing to a String cannot fail");
    line
}

/// Returns the `tc` commands in the switch, which shape packets to the hosts.
pub(crate) fn switch_batch(lab: &Lab) -> String {
    cables(lab).map(|(port, link)| outgoing(&port, &link)).collect()
}

/// Returns `nft` rules for loss on cables, in both directions. They are loaded in the switch, where
/// no program of a host can remove them. Empty if there is no loss.
pub(crate) fn loss_rules(lab: &Lab) -> String {
    let lossy = cables(lab).filter(|(_, link)| link.loss_ppm > 0);
    let chains = lossy.map(|(port, link)| losing(&port, link.loss_ppm)).collect::<String>();
    if chains.is_empty() { chains } else { format!("table netdev wavetank_cables {{\n{chains}}}\n") }
}

/// Returns two chains that drop `share_ppm` of a million packets from and to `device`. Only IP
/// packets are dropped: losing a request for a neighbour's address would cost a second, and a lab
/// with 1 % loss must not stall.
pub(crate) fn losing(device: &str, share_ppm: u32) -> String {
    let lose = format!("meta protocol {{ ip, ip6 }} numgen random mod 1000000 < {share_ppm} counter drop;");
    let chain = |way: &str, hook: &str| {
        format!(
            "  chain {way}_{device} {{ type filter hook {hook} device \"{device}\" priority -200; {lose} }}\n"
        )
    };
    chain("from", "ingress") + &chain("to", "egress")
}

fn cables(lab: &Lab) -> impl Iterator<Item = (String, Link)> + '_ {
    lab.hosts.iter().enumerate().flat_map(|(at, host)| {
        let ends = host.interfaces.iter().enumerate();
        ends.map(move |(place, interface)| (port(at, place), interface.link))
    })
}

#[cfg(test)]
mod tests {
    use wavetank_units::Nanos;

    use super::*;

    #[track_caller]
    fn check(link: Link, expected: &str) {
        assert_eq!(outgoing("eth0", &link).trim_end(), expected);
    }

    #[test]
    fn a_rate_is_a_bucket_with_room_for_two_frames_and_a_queue_of_20_ms() {
        let link = |rate| Link { rate_bits: Some(rate), ..Link::default() };
        check(
            link(1_000_000_000),
            "qdisc add dev eth0 root tbf rate 1000000000bit burst 250000b limit 2750000b",
        );
        check(link(1_000_000), "qdisc add dev eth0 root tbf rate 1000000bit burst 3028b limit 99924b");
    }

    #[test]
    fn a_delay_is_netems_and_takes_the_rate_along() {
        let delay = Some(Nanos::from_millis(10));
        let slow = Link { rate_bits: Some(100_000_000), delay, loss_ppm: 0 };
        check(slow, "qdisc add dev eth0 root netem delay 10000us limit 247 rate 100000000bit");
        let long = Link { delay, ..Link::default() };
        check(long, "qdisc add dev eth0 root netem delay 10000us limit 99075");
    }

    #[test]
    fn a_cable_as_it_is_needs_nothing() {
        check(Link::default(), "");
        check(Link { loss_ppm: 10, ..Link::default() }, "");
    }
}
