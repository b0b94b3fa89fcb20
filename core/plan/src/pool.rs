//! The default number of connections in the pool of an open load.

use wavetank_units::Nanos;

use crate::{ConnectionOwner, Load, Phase, Plan};

/// The fewest connections of a default pool.
const POOL_MIN: u64 = 256;
/// The number of connections for a target of unknown latency.
const POOL_UNKNOWN: u64 = 1_024;
/// By how much answers may get slower than the probe's before requests wait for a connection.
const SLOWER_MAX: f64 = 4.0;

impl Plan {
    /// Limits every pool for which the user gave no number of connections. Without a limit, a
    /// target that falls behind for a moment would get a connection for each request that waits,
    /// and the load would change the result.
    ///
    /// `latency` is the shortest time of the probe's requests. The number is enough for four times
    /// that latency, and a power of four, so that runs of one load usually have the same. Returns
    /// the largest limit that was set.
    pub fn limit_default_pools(&mut self, latency: Option<Nanos>) -> Option<u64> {
        let limits = self.default_pools(latency);
        for &(phase, limit) in &limits {
            self.phases[phase].connections = limit;
        }
        limits.into_iter().map(|(_, limit)| limit).max()
    }

    /// Whether a shorter latency than this one could give a smaller pool.
    pub fn default_pools_depend_on(&self, latency: Nanos) -> bool {
        self.default_pools(Some(latency)).into_iter().any(|(_, limit)| limit > POOL_MIN)
    }

    /// The phases with a default pool that has a limit at this latency, with the limit.
    fn default_pools(&self, latency: Option<Nanos>) -> Vec<(usize, u64)> {
        let shares_pool = |phase: &Phase| {
            let mut parts = phase.mix.parts().iter();
            parts.all(|part| self.scenarios[usize::from(part.0)].connection == ConnectionOwner::Shared)
        };
        let limit_of = |(at, phase): (usize, &Phase)| {
            let Load::Open { rate, .. } = &phase.load else { return None };
            let limit = default_pool(rate.max().count as f64 / rate.per().as_secs_f64(), latency);
            (limit < phase.connections && !phase.open_before && shares_pool(phase)).then_some((at, limit))
        };
        self.phases.iter().enumerate().filter_map(limit_of).collect()
    }
}

fn default_pool(per_second: f64, latency: Option<Nanos>) -> u64 {
    let Some(latency) = latency else { return POOL_UNKNOWN };
    let needed = per_second * latency.as_secs_f64() * SLOWER_MAX;
    let mut pool = POOL_MIN;
    while (pool as f64) < needed && pool < u64::MAX / 4 {
        pool *= 4;
    }
    pool
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_four_times_the_latency() {
        let check = |per_second, latency_ms, expected| {
            assert_eq!(default_pool(per_second, Some(Nanos::from_millis(latency_ms))), expected);
        };
        check(51_000.0, 1, 256);
        check(51_000.0, 2, 1_024);
        check(100.0, 2_000, 1_024);
        check(10.0, 1, 256);
        check(1e9, 60_000, 1 << 38);
        assert_eq!(default_pool(51_000.0, None), POOL_UNKNOWN);
    }
}
