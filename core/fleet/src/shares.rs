//! [`weights`]: how much of the load each agent takes.

use wavetank_pace::{Partition, weighted_shares};

use crate::hello::Capabilities;

/// The largest weight of an agent that comes from a calibration or from its CPUs. Shares are exact
/// fractions of these weights. Small weights keep the arrivals and users of agents interleaved: at
/// most this many consecutive ones belong to the same agent, and the number of its users differs
/// from its exact part of them by less.
const WEIGHT_MAX: u64 = 16;

/// The weight of each agent, in order: the configured one where there is one; otherwise in
/// proportion to calibrations if all agents are calibrated, or else to CPUs.
pub(crate) fn weights(agents: &[(Option<u64>, Capabilities)]) -> Vec<u64> {
    let unweighted = agents.iter().filter(|(weight, _)| weight.is_none()).map(|(_, host)| host);
    let is_calibrated = unweighted.clone().all(|host| host.calibration.is_some_and(|rate| rate > 0));
    let measure = |host: &Capabilities| match host.calibration {
        Some(rate) if is_calibrated => rate,
        _ => u64::from(host.cores.max(1)),
    };
    let largest = unweighted.map(measure).max().unwrap_or(1);
    let any_configured = agents.iter().any(|(weight, _)| weight.is_some());
    let weight = |(weight, host): &(Option<u64>, Capabilities)| match weight {
        Some(weight) => *weight,
        // Next to configured weights, agents without one count as 1.
        None if any_configured => 1,
        None => scaled(measure(host), largest),
    };
    agents.iter().map(weight).collect()
}

/// The shares of agents with these weights. If all weights are 0, the shares are equal.
pub(crate) fn shares(weights: &[u64]) -> Vec<Partition> {
    if weights.iter().all(|weight| *weight == 0) {
        return weighted_shares(&vec![1; weights.len()]);
    }
    weighted_shares(weights)
}

/// `measure` on a scale on which `largest` is [`WEIGHT_MAX`], rounded; at least 1.
fn scaled(measure: u64, largest: u64) -> u64 {
    let product = u128::from(measure) * u128::from(2 * WEIGHT_MAX) + u128::from(largest);
    ((product / (2 * u128::from(largest))) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(cores: u32, calibration: Option<u64>) -> Capabilities {
        Capabilities { cores, calibration, ..Capabilities::default() }
    }

    fn check(agents: &[(Option<u64>, Capabilities)], expected: &[(u64, u64)]) {
        let shares = shares(&weights(agents));
        let found: Vec<_> = shares.iter().map(|share| (share.width, share.of)).collect();
        assert_eq!(found, expected, "{agents:?}");
        assert_eq!(found.iter().map(|(width, _)| width).sum::<u64>(), shares[0].of, "the sum is the whole");
    }

    #[test]
    fn shares_follow_configuration_then_calibration_then_cores() {
        check(&[(None, host(8, None))], &[(1, 1)]);
        check(&[(None, host(8, None)), (None, host(8, None))], &[(1, 2), (1, 2)]);
        check(&[(None, host(8, None)), (None, host(4, None))], &[(2, 3), (1, 3)]);
        check(&[(Some(4), host(1, None)), (None, host(64, None))], &[(4, 5), (1, 5)]);
        check(&[(None, host(1, Some(300_000))), (None, host(64, Some(100_000)))], &[(16, 21), (5, 21)]);
        // Nearly equal hosts get equal shares.
        check(&[(None, host(1, Some(300_000))), (None, host(1, Some(299_000)))], &[(1, 2), (1, 2)]);
        // One host without a calibration: all by cores.
        check(&[(None, host(1, Some(300_000))), (None, host(3, None))], &[(5, 21), (16, 21)]);
        // The weakest host still takes part.
        check(&[(None, host(1, Some(1))), (None, host(1, Some(9_999)))], &[(1, 17), (16, 17)]);
        check(&[(Some(0), host(1, None)), (Some(0), host(1, None))], &[(1, 2), (1, 2)]);
    }
}
