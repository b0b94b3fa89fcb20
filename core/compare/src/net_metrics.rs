//! [`compare_networks`]: compares measurements of a network, for example before and after a tuning
//! step.

use std::collections::BTreeMap;

use wavetank_record::{NetDoc, NetPairDoc};

use crate::metrics::{judge, row};
use crate::{CompareOptions, Estimate, MetricComparison};

/// A value of a measurement: unit, and whether more is better.
type Figure = (f64, &'static str, bool);

/// Compares side `b` with side `a`, by the values that all measurements have. A value has one
/// number for each measurement, so only repeated measurements show how certain a difference is.
pub fn compare_networks(a: &[NetDoc], b: &[NetDoc], wishes: &CompareOptions) -> Vec<MetricComparison> {
    let sides = [a, b].map(|side| side.iter().map(figures).collect::<Vec<_>>());
    let Some(first) = sides[0].first() else { return Vec::new() };
    let mut rows = Vec::new();
    for (name, &(_, unit, more_is_better)) in first {
        let of = |side: &Vec<BTreeMap<String, Figure>>| {
            side.iter().map(|one| one.get(name).map(|figure| figure.0)).collect::<Option<Vec<f64>>>()
        };
        let [Some(of_a), Some(of_b)] = [of(&sides[0]), of(&sides[1])] else { continue };
        let pair = [&of_a, &of_b].map(|values| Estimate::from_scalars(values));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let shown = |side: usize, values: &[f64]| {
            Some(pair[side].map_or_else(|| mean(values), |estimate| libm::exp(estimate.log)))
        };
        let values = [shown(0, &of_a), shown(1, &of_b)];
        rows.push(row((name.clone(), unit, more_is_better), values, pair));
    }
    judge(&mut rows, wishes);
    rows
}

/// Returns the values of a measurement, by their names.
fn figures(doc: &NetDoc) -> BTreeMap<String, Figure> {
    let mut figures = BTreeMap::new();
    for pair in &doc.pairs {
        add_pair(&mut figures, pair);
    }
    if let Some(many) = &doc.many_to_one {
        figures.insert(format!("many_to_one({})", many.to), (many.bits_per_s.0, "bits_per_s", true));
    }
    figures
}

fn add_pair(figures: &mut BTreeMap<String, Figure>, pair: &NetPairDoc) {
    let ways = [("forward", &pair.from, &pair.to), ("reverse", &pair.to, &pair.from)];
    let mut add = |name: String, figure: Figure| figures.insert(name, figure);
    for (direction, from, to) in ways {
        let own = pair.tcp.iter().filter(|tcp| !tcp.both && tcp.direction == direction);
        if let Some(best) = own.map(|tcp| tcp.bits_per_s.0).max_by(f64::total_cmp) {
            add(format!("tcp({from}>{to})"), (best, "bits_per_s", true));
        }
        for udp in pair.udp.iter().filter(|udp| udp.direction == direction) {
            if udp.mode == "packets" {
                add(format!("udp_packets({from}>{to})"), (udp.received_per_s.0, "per_s", true));
            } else {
                add(format!("udp_loss({from}>{to})"), (udp.loss.0, "share", false));
                add(format!("udp_jitter({from}>{to})"), (udp.jitter_us.0, "us", false));
            }
        }
    }
    let name = |what: &str| format!("{what}({}>{})", pair.from, pair.to);
    if let Some(rr) = &pair.rr {
        add(name("round_trip_p50"), (rr.round_trip_us.p50.0, "us", false));
        add(name("round_trip_p99"), (rr.round_trip_us.p99.0, "us", false));
    }
    if let Some(connect) = &pair.connect {
        add(name("connects"), (connect.per_s.0, "per_s", true));
    }
    if let Some(sizes) = &pair.sizes {
        add(name("largest_message"), (sizes.max_bits_per_s.0, "bits_per_s", true));
    }
    for (direction, from, to) in ways {
        let mtu = pair.mtu.as_ref();
        let size = mtu.and_then(|mtu| if direction == "forward" { mtu.forward } else { mtu.reverse });
        if let Some(size) = size {
            add(format!("mtu({from}>{to})"), (f64::from(size), "bytes", true));
        }
    }
}

#[cfg(test)]
mod tests {
    use wavetank_record::{Number, TcpThroughputDoc, UdpDoc};

    use super::*;

    fn measured(mbit: f64, loss: f64) -> NetDoc {
        let tcp = TcpThroughputDoc {
            direction: "forward".to_owned(),
            bits_per_s: Number(mbit * 1e6),
            ..TcpThroughputDoc::default()
        };
        let udp = UdpDoc {
            direction: "forward".to_owned(),
            mode: "rate".to_owned(),
            loss: Number(loss),
            jitter_us: Number(3.0),
            ..UdpDoc::default()
        };
        let pair = NetPairDoc {
            from: "a".to_owned(),
            to: "b".to_owned(),
            tcp: vec![tcp],
            udp: vec![udp],
            ..NetPairDoc::default()
        };
        NetDoc { pairs: vec![pair], ..NetDoc::default() }
    }

    /// Compares throughputs and returns whether a difference is shown.
    fn differs(a: &[f64], b: &[f64]) -> bool {
        let [a, b] = [a, b].map(|side| side.iter().map(|mbit| measured(*mbit, 0.0)).collect::<Vec<_>>());
        let rows = compare_networks(&a, &b, &CompareOptions::default());
        rows.iter().find(|row| row.name == "tcp(a>b)").expect("it was measured").differs()
    }

    #[test]
    fn repeated_measurements_show_a_difference() {
        assert!(differs(&[100.0, 101.0, 99.0, 100.5], &[150.0, 151.0, 149.5, 150.2]));
        assert!(!differs(&[100.0, 101.0, 99.0, 100.5], &[100.2, 99.8, 100.7, 100.1]));
        assert!(!differs(&[100.0], &[150.0]), "one measurement does not show its own spread");
    }

    #[test]
    fn a_loss_of_zero_has_no_ratio() {
        let rows = compare_networks(&[measured(1.0, 0.0)], &[measured(1.0, 0.1)], &CompareOptions::default());
        let loss = rows.iter().find(|row| row.name == "udp_loss(a>b)").expect("it was measured");
        assert_eq!((loss.values, loss.ratio), ([Some(0.0), Some(loss.values[1].unwrap_or_default())], None));
    }

    #[test]
    fn pairs_of_one_side_are_left_out() {
        let other = NetDoc::default();
        assert_eq!(compare_networks(&[measured(1.0, 0.0)], &[other], &CompareOptions::default()), []);
    }
}
