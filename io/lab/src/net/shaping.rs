//! What `tc` and `nft` are told, so that a cable is as slow, long and lossy as the file says. Texts only.
//!
//! Rate is a token bucket (tbf), which every kernel has that can do anything of the kind; delay needs netem, which then
//! does the rate as well, since a bucket in front of it would count packets that are not on their way yet. Loss is done
//! by nftables everywhere, also beside netem: labs on two machines shall lose alike.

use std::fmt::Write;

use wavetank_topology::{Lab, Link};

use super::wiring::port;

/// A frame of Ethernet with its header.
const FRAME_BYTES: u64 = 1514;
/// Time in which a bucket fills: short enough that bursts do not show in a second, long enough for a timer to keep up.
const BUCKET_MS: u64 = 2;
/// Time that a packet may wait at the port of a switch until it is dropped: a megabyte or two at 1 Gbit/s.
const QUEUE_MS: u64 = 20;
/// Frames that may wait at least, however slow the cable.
const QUEUE_FRAMES_MIN: u64 = 64;
/// Packets on their way that netem keeps at most: what is dropped beyond is none of the loss asked for.
const ON_THE_WAY_MAX: u64 = 1_000_000;
/// What a cable without a rate is taken to carry, when it is asked how many packets are on their way.
const FAST_BITS: u64 = 40_000_000_000;

/// The command for `tc` that shapes what leaves by `device`; empty where nothing is asked for.
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

/// Commands for `tc` in the switch: what goes from it to the hosts.
pub(crate) fn switch_batch(lab: &Lab) -> String {
    cables(lab).map(|(port, link)| outgoing(&port, &link)).collect()
}

/// Rules for `nft` in the switch, where no program of a host can take them away: what gets lost on cables, either way.
/// Empty where nothing does.
pub(crate) fn loss_rules(lab: &Lab) -> String {
    let lossy = cables(lab).filter(|(_, link)| link.loss_ppm > 0);
    let chains = lossy.map(|(port, link)| losing(&port, link.loss_ppm)).collect::<String>();
    if chains.is_empty() { chains } else { format!("table netdev wavetank_cables {{\n{chains}}}\n") }
}

/// Two chains that lose `share_ppm` packets of a million of what comes from and goes to `device`. Packets of IP only: a
/// lost question for a neighbour's address would cost a second, and a lab with 1 % loss is not to be one that stalls.
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
    use wavetank_plan::Nanos;

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
