//! The throughput of all pairs as a matrix.

use wavetank_record::{NetDoc, NetPairDoc};

/// Throughput from each host to each other one.
pub(super) struct Matrix<'a> {
    /// The hosts, in the order in which they appear.
    pub(super) hosts: Vec<&'a str>,
    /// Bits per second, from the host of the row to the host of the column.
    pub(super) rows: Vec<Vec<Option<f64>>>,
}

impl<'a> Matrix<'a> {
    /// The matrix of a result; `None` if there are fewer than two pairs with throughput.
    pub(super) fn new(doc: &'a NetDoc) -> Option<Self> {
        let measured = || doc.pairs.iter().filter(|pair| !pair.tcp.is_empty());
        if measured().count() < 2 {
            return None;
        }
        let mut hosts: Vec<&str> = Vec::new();
        for host in measured().flat_map(|pair| [pair.from.as_str(), &pair.to]) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let place = |host: &str| hosts.iter().position(|known| *known == host).unwrap_or_default();
        let mut rows = vec![vec![None; hosts.len()]; hosts.len()];
        for pair in measured() {
            let (from, to) = (place(&pair.from), place(&pair.to));
            rows[from][to] = best(pair, "forward").or(rows[from][to]);
            rows[to][from] = best(pair, "reverse").or(rows[to][from]);
        }
        Some(Self { hosts, rows })
    }
}

/// Returns the best throughput of a pair in one direction by itself, bits per second.
pub(super) fn best(pair: &NetPairDoc, direction: &str) -> Option<f64> {
    let own = pair.tcp.iter().filter(|tcp| !tcp.both && tcp.direction == direction);
    own.map(|tcp| tcp.bits_per_s.0).max_by(f64::total_cmp)
}
