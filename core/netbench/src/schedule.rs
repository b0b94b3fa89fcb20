//! [`rounds`]: which pairs are measured in parallel.

/// A pair of hosts, by their indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPair {
    /// The client.
    pub from: usize,
    /// The server.
    pub to: usize,
}

/// Divides pairs into rounds. The pairs of a round share no host, so they are measured in
/// parallel; with `is_serial` each round has one pair. Earlier pairs come first, as far as
/// possible.
pub fn rounds(pairs: &[HostPair], is_serial: bool) -> Vec<Vec<HostPair>> {
    let mut rounds: Vec<Vec<HostPair>> = Vec::new();
    for &pair in pairs {
        let is_apart = |other: &HostPair| {
            [other.from, other.to].iter().all(|host| *host != pair.from && *host != pair.to)
        };
        let fits = |round: &&mut Vec<HostPair>| !is_serial && round.iter().all(is_apart);
        match rounds.iter_mut().find(fits) {
            Some(round) => round.push(pair),
            None => rounds.push(vec![pair]),
        }
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_pairs(hosts: usize) -> Vec<HostPair> {
        let pair = |from| (from + 1..hosts).map(move |to| HostPair { from, to });
        (0..hosts).flat_map(pair).collect()
    }

    #[test]
    fn each_pair_is_measured_once_and_shares_no_host_in_its_round() {
        for hosts in 2..9 {
            let pairs = all_pairs(hosts);
            let rounds = rounds(&pairs, false);
            let mut measured: Vec<HostPair> = rounds.iter().flatten().copied().collect();
            measured.sort_unstable();
            assert_eq!(measured, pairs);
            for round in &rounds {
                let mut busy: Vec<usize> = round.iter().flat_map(|pair| [pair.from, pair.to]).collect();
                busy.sort_unstable();
                busy.dedup();
                assert_eq!(busy.len(), round.len() * 2, "{round:?}");
            }
            // A greedy order needs at most twice the least possible number.
            assert!(rounds.len() <= 2 * hosts, "{hosts}: {}", rounds.len());
        }
    }

    #[test]
    fn serial_rounds_have_one_pair() {
        let pairs = all_pairs(4);
        assert!(rounds(&pairs, true).iter().all(|round| round.len() == 1));
        assert_eq!(rounds(&pairs, true).concat(), pairs);
    }
}
