//! [`find_net_problems`]: what is wrong with a network, by its measurements.

use wavetank_record::{ManyToOneDoc, NetDoc, NetFindingDoc, NetPairDoc, UdpDoc};
use wavetank_units::quantity::{show_link, show_share};

/// Least share of a link's nominal speed that TCP reaches on a sound one. Headers take 6 %.
const LINK_SHARE_MIN: f64 = 0.8;
/// Least ratio of the slower direction to the faster one.
const SYMMETRY_MIN: f64 = 0.7;
/// Most datagrams that may be lost at a fixed rate.
const LOSS_MAX: f64 = 0.01;
/// Least ratio of a host's throughput to that of pairs without it.
const HOST_SHARE_MIN: f64 = 0.6;
/// Least ratio of the throughput of many senders to that of the best one by itself.
const MANY_SHARE_MIN: f64 = 0.8;

/// What is wrong. Its name, e.g. `net_slow_link`, is stable for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case", prefix = "net_")]
pub enum NetFindingCode {
    /// TCP does not use the link's speed.
    SlowLink,
    /// One direction is slower than the other.
    Asymmetric,
    /// Datagrams were lost at a fixed rate.
    Lossy,
    /// Large packets disappear without an error.
    MtuBlackHole,
    /// Only one of the hosts can open connections.
    OneWay,
    /// Each pair with this host is slower than the others.
    SlowHost,
    /// A host receives less from many than from one.
    SlowManyToOne,
}

impl NetFindingCode {
    /// All of them.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name for scripts, e.g. `net_slow_link`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Returns what is wrong, in the order of the pairs, then what several pairs show together.
pub fn find_net_problems(doc: &NetDoc) -> Vec<NetFindingDoc> {
    let nominal = doc.settings.link_bits_per_s.map(|speed| speed.0);
    let mut findings: Vec<NetFindingDoc> = Vec::new();
    for pair in &doc.pairs {
        findings.extend(slow_link(pair, nominal));
        findings.extend(asymmetric(pair));
        findings.extend(pair.udp.iter().filter_map(|udp| lossy(pair, udp)));
        findings.extend(black_hole(pair));
        findings.extend(one_way(pair, &doc.pairs));
    }
    findings.extend(slow_hosts(&doc.pairs));
    findings.extend(doc.many_to_one.as_ref().and_then(slow_receiver));
    findings
}

/// Returns the best throughput of a pair in one direction, bits per second.
fn best(pair: &NetPairDoc, direction: &str) -> Option<f64> {
    let own = pair.tcp.iter().filter(|tcp| !tcp.both && tcp.direction == direction);
    own.map(|tcp| tcp.bits_per_s.0).max_by(f64::total_cmp)
}

/// Returns the better direction of a pair.
fn best_of_pair(pair: &NetPairDoc) -> Option<f64> {
    [best(pair, "forward"), best(pair, "reverse")].into_iter().flatten().max_by(f64::total_cmp)
}

fn finding(code: NetFindingCode, message: String, hint: &str) -> NetFindingDoc {
    NetFindingDoc { code: code.as_str().to_owned(), message, hint: hint.to_owned() }
}

fn slow_link(pair: &NetPairDoc, nominal: Option<f64>) -> Option<NetFindingDoc> {
    let reported = pair.links.iter().filter_map(|link| Some(link.bits_per_s?.0)).min_by(f64::total_cmp);
    let speed = nominal.or(reported)?;
    let reached = best_of_pair(pair)?;
    if reached >= speed * LINK_SHARE_MIN {
        return None;
    }
    let (from, to) = (&pair.from, &pair.to);
    let message = format!(
        "between {from} and {to} TCP reaches {}, {} of the link's {}",
        show_link(reached),
        show_share(reached / speed),
        show_link(speed)
    );
    let hint =
        "look for a slower link on the path, a wrong duplex mode, or a busy CPU (`ethtool`, `fleet top`)";
    Some(finding(NetFindingCode::SlowLink, message, hint))
}

fn asymmetric(pair: &NetPairDoc) -> Option<NetFindingDoc> {
    let (forward, reverse) = (best(pair, "forward")?, best(pair, "reverse")?);
    let (from, to) = (&pair.from, &pair.to);
    let (slow, fast, slower) = if forward < reverse {
        (forward, reverse, format!("{from} to {to}"))
    } else {
        (reverse, forward, format!("{to} to {from}"))
    };
    if fast <= 0.0 || slow >= fast * SYMMETRY_MIN {
        return None;
    }
    let message =
        format!("from {slower} TCP reaches {}, and {} the other way", show_link(slow), show_link(fast));
    let hint = "look at errors and limits of the slower direction: duplex mode, traffic shaping, offloads";
    Some(finding(NetFindingCode::Asymmetric, message, hint))
}

fn lossy(pair: &NetPairDoc, udp: &UdpDoc) -> Option<NetFindingDoc> {
    let target = udp.target_bits_per_s.filter(|_| udp.sent > 0)?;
    if udp.loss.0 <= LOSS_MAX {
        return None;
    }
    let (from, to) = if udp.direction == "forward" { (&pair.from, &pair.to) } else { (&pair.to, &pair.from) };
    let message = format!(
        "from {from} to {to}, {} of the datagrams are lost at {}",
        show_share(udp.loss.0),
        show_link(target.0)
    );
    let hint =
        "repeat with a lower `--rate`; if the loss stays, look at drops of the interfaces and switches";
    Some(finding(NetFindingCode::Lossy, message, hint))
}

fn black_hole(pair: &NetPairDoc) -> Option<NetFindingDoc> {
    let mtu = pair.mtu.as_ref().filter(|mtu| !mtu.black_holes.is_empty())?;
    let direction = |name: &String| {
        let (from, to, passes) = if name == "forward" {
            (&pair.from, &pair.to, mtu.forward)
        } else {
            (&pair.to, &pair.from, mtu.reverse)
        };
        format!("from {from} to {to}, packets over {} bytes", passes.unwrap_or_default())
    };
    let directions = mtu.black_holes.iter().map(direction).collect::<Vec<_>>().join(", and ");
    let message = format!("{directions} vanish without an ICMP message: an MTU black hole");
    let hint = "set the MTU of the interfaces to what passes, or let ICMP `fragmentation needed` through";
    Some(finding(NetFindingCode::MtuBlackHole, message, hint))
}

/// Whether the control connection of the pair failed.
fn is_unreachable(pair: &NetPairDoc) -> bool {
    pair.failures.iter().any(|failure| failure.test == "connect")
}

fn one_way(pair: &NetPairDoc, all: &[NetPairDoc]) -> Option<NetFindingDoc> {
    let is_back = |other: &&NetPairDoc| other.from == pair.to && other.to == pair.from;
    let back = all.iter().find(is_back).filter(|back| !is_unreachable(back))?;
    if !is_unreachable(pair) {
        return None;
    }
    let (from, to) = (&pair.from, &pair.to);
    let message = format!("{from} cannot connect to {to}, but {} can connect to {}", back.from, back.to);
    let hint = "look at packet filters on both hosts and between them; they permit one direction only";
    Some(finding(NetFindingCode::OneWay, message, hint))
}

fn slow_hosts(pairs: &[NetPairDoc]) -> Vec<NetFindingDoc> {
    let mut hosts: Vec<&str> = pairs.iter().flat_map(|pair| [pair.from.as_str(), &pair.to]).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let slow = |host: &&str| {
        let (own, others): (Vec<&NetPairDoc>, Vec<_>) =
            pairs.iter().partition(|pair| pair.from == **host || pair.to == **host);
        let own: Vec<f64> = own.into_iter().filter_map(best_of_pair).collect();
        let others = median(others.into_iter().filter_map(best_of_pair).collect())?;
        let fastest = own.iter().copied().max_by(f64::total_cmp)?;
        let is_slow = own.len() >= 2 && fastest < others * HOST_SHARE_MIN;
        let message = || {
            format!(
                "{host} is slow with every other host: at most {}, and pairs without it reach {}",
                show_link(fastest),
                show_link(others)
            )
        };
        let hint = "look at its interface, cable, switch port and CPU";
        is_slow.then(|| finding(NetFindingCode::SlowHost, message(), hint))
    };
    hosts.iter().filter_map(slow).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn slow_receiver(many: &ManyToOneDoc) -> Option<NetFindingDoc> {
    let (all, alone) = (many.bits_per_s.0, many.best_alone_bits_per_s.0);
    let measured = many.senders.iter().filter(|sender| sender.together_bits_per_s.is_some()).count();
    if measured < 2 || all >= alone * MANY_SHARE_MIN {
        return None;
    }
    let message = format!(
        "{measured} hosts together send {} to {}, and one of them by itself {}",
        show_link(all),
        many.to,
        show_link(alone)
    );
    let hint = "the switch or the receiver drops packets when several ports send to one: look at their drops and buffers";
    Some(finding(NetFindingCode::SlowManyToOne, message, hint))
}

#[cfg(test)]
mod tests {
    use wavetank_record::{
        ManySenderDoc, MtuDoc, NetFailureDoc, NetLinkDoc, NetSettingsDoc, Number, TcpThroughputDoc,
    };

    use super::*;

    fn pair(from: &str, to: &str, [forward, reverse]: [f64; 2]) -> NetPairDoc {
        let tcp = |direction: &str, mbit: f64| TcpThroughputDoc {
            direction: direction.to_owned(),
            bits_per_s: Number(mbit * 1e6),
            ..TcpThroughputDoc::default()
        };
        NetPairDoc {
            from: from.to_owned(),
            to: to.to_owned(),
            tcp: vec![tcp("forward", forward), tcp("reverse", reverse)],
            ..NetPairDoc::default()
        }
    }

    #[track_caller]
    fn check(pairs: Vec<NetPairDoc>, expected: &[&str]) {
        check_doc(&NetDoc { pairs, ..NetDoc::default() }, expected);
    }

    #[track_caller]
    fn check_doc(doc: &NetDoc, expected: &[&str]) {
        let findings = find_net_problems(doc);
        let codes: Vec<&str> = findings.iter().map(|finding| finding.code.as_str()).collect();
        assert_eq!(codes, expected, "{findings:?}");
    }

    fn linked(mbit: f64, reached: f64) -> NetPairDoc {
        let link = NetLinkDoc { bits_per_s: Some(Number(mbit * 1e6)), ..NetLinkDoc::default() };
        NetPairDoc { links: vec![link], ..pair("a", "b", [reached; 2]) }
    }

    #[test]
    fn a_link_is_slow_below_80_percent_of_its_speed() {
        check(vec![linked(1_000.0, 801.0)], &[]);
        check(vec![linked(1_000.0, 799.0)], &["net_slow_link"]);
        check(vec![pair("a", "b", [1.0, 1.0])], &[]);
        let settings = NetSettingsDoc { link_bits_per_s: Some(Number(2e9)), ..NetSettingsDoc::default() };
        let doc = NetDoc { pairs: vec![linked(1_000.0, 900.0)], settings, ..NetDoc::default() };
        check_doc(&doc, &["net_slow_link"]);
    }

    #[test]
    fn directions_differ_below_70_percent() {
        check(vec![pair("a", "b", [100.0, 71.0])], &[]);
        check(vec![pair("a", "b", [100.0, 69.0])], &["net_asymmetric"]);
        check(vec![pair("a", "b", [69.0, 100.0])], &["net_asymmetric"]);
    }

    #[test]
    fn loss_counts_at_a_fixed_rate() {
        let udp = |loss: f64, target: Option<f64>| UdpDoc {
            direction: "forward".to_owned(),
            target_bits_per_s: target.map(Number),
            sent: 1_000,
            loss: Number(loss),
            ..UdpDoc::default()
        };
        let with = |udp: UdpDoc| vec![NetPairDoc { udp: vec![udp], ..pair("a", "b", [1.0, 1.0]) }];
        check(with(udp(0.009, Some(1e7))), &[]);
        check(with(udp(0.011, Some(1e7))), &["net_lossy"]);
        check(with(udp(0.5, None)), &[]);
    }

    #[test]
    fn a_black_hole_is_named() {
        let mtu = |black_holes: &[&str]| MtuDoc {
            forward: Some(1_400),
            reverse: Some(1_500),
            black_holes: black_holes.iter().map(|&name| name.to_owned()).collect(),
            ..MtuDoc::default()
        };
        let with = |mtu: MtuDoc| vec![NetPairDoc { mtu: Some(mtu), ..pair("a", "b", [1.0, 1.0]) }];
        check(with(mtu(&[])), &[]);
        check(with(mtu(&["forward"])), &["net_mtu_black_hole"]);
        let found = find_net_problems(&NetDoc { pairs: with(mtu(&["forward"])), ..NetDoc::default() });
        assert!(found[0].message.contains("from a to b, packets over 1400 bytes"), "{found:?}");
    }

    #[test]
    fn one_way_needs_the_other_way() {
        let failure = NetFailureDoc { test: "connect".to_owned(), ..NetFailureDoc::default() };
        let failed = |from: &str, to: &str| NetPairDoc {
            from: from.to_owned(),
            to: to.to_owned(),
            failures: vec![failure.clone()],
            ..NetPairDoc::default()
        };
        check(vec![failed("a", "b"), pair("b", "a", [1.0, 1.0])], &["net_one_way"]);
        check(vec![failed("a", "b"), failed("b", "a")], &[]);
        check(vec![failed("a", "b")], &[]);
    }

    #[test]
    fn one_slow_host_is_named_by_all_its_pairs() {
        let pairs = |slow: f64| {
            vec![pair("a", "b", [100.0; 2]), pair("a", "c", [slow; 2]), pair("b", "c", [slow; 2])]
        };
        check(pairs(61.0), &[]);
        check(pairs(59.0), &["net_slow_host"]);
        check(vec![pair("a", "b", [100.0; 2]), pair("a", "c", [10.0; 2])], &[]);
    }

    #[test]
    fn many_to_one_is_compared_with_the_best_sender() {
        let many = |mbit: f64, senders: usize| {
            let sender = ManySenderDoc { together_bits_per_s: Some(Number(1.0)), ..ManySenderDoc::default() };
            let many = ManyToOneDoc {
                to: "c".to_owned(),
                senders: vec![sender; senders],
                bits_per_s: Number(mbit * 1e6),
                best_alone_bits_per_s: Number(1e9),
            };
            NetDoc { many_to_one: Some(many), ..NetDoc::default() }
        };
        check_doc(&many(801.0, 2), &[]);
        check_doc(&many(799.0, 2), &["net_slow_many_to_one"]);
        check_doc(&many(799.0, 1), &[]);
    }
}
