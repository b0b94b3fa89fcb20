//! The constants as they are printed into `plan.yaml` and by `wavetank plan`.

use std::collections::BTreeMap;

use wavetank_plan::constants as c;

use super::exact_quantity::exact_duration;

/// Name and value of every constant that decided something in the run.
pub(crate) fn as_map() -> BTreeMap<String, String> {
    let times = [
        ("behind_max", c::BEHIND_MAX),
        ("checkpoint_every", c::CHECKPOINT_EVERY),
        ("doubt_lag_p99", c::DOUBT_LAG_P99),
        ("fsync_every", c::FSYNC_EVERY),
        ("hopeless_after", c::HOPELESS_AFTER),
        ("interval", c::INTERVAL),
        ("signal_drain_max", c::SIGNAL_DRAIN_MAX),
        ("validity_window", c::VALIDITY_WINDOW),
    ];
    let shares = [
        ("doubt_dropped", c::DOUBT_DROPPED_SHARE),
        ("doubt_late", c::DOUBT_LATE_SHARE),
        ("doubt_stalled", c::DOUBT_STALLED_SHARE),
        ("implicit_failed", c::IMPLICIT_FAILED_SHARE),
        ("invalid_generator", c::INVALID_GENERATOR_SHARE),
        ("thread_full", c::THREAD_FULL_SHARE),
        ("thread_full_intervals", c::THREAD_FULL_INTERVALS),
    ];
    let counts = [
        ("series_max", c::SERIES_MAX as u64),
        ("uncertain_below", c::UNCERTAIN_BELOW),
        ("work_per_turn_max", c::WORK_PER_TURN_MAX as u64),
    ];
    let times = times.map(|(name, length)| (name, exact_duration(length)));
    // Rounded to a thousandth of a percent: 0.1 × 100 is not a round number in binary.
    let shares = shares.map(|(name, share)| (name, format!("{} %", (share * 1e5).round() / 1e3)));
    let counts = counts.map(|(name, count)| (name, count.to_string()));
    times.into_iter().chain(shares).chain(counts).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Name and value of every documented constant, including those that are only defaults of
/// something in the plan.
pub fn all_constants() -> BTreeMap<String, String> {
    let defaults = [
        ("connect_timeout", exact_duration(c::CONNECT_TIMEOUT)),
        ("connections", c::CONNECTIONS.to_string()),
        ("drain_min", exact_duration(c::DRAIN_MIN)),
        ("duration", exact_duration(c::DURATION)),
        ("late_tolerance", exact_duration(c::LATE_TOLERANCE)),
        ("max_open", c::MAX_OPEN.to_string()),
        ("open_rate", format!("{}/s", c::OPEN_RATE_PER_S)),
        ("seed", c::SEED.to_string()),
        ("timeout", exact_duration(c::TIMEOUT)),
        ("user_agent", c::USER_AGENT.to_owned()),
    ];
    let defaults = defaults.into_iter().map(|(name, value)| (name.to_owned(), value));
    as_map().into_iter().chain(defaults).collect()
}

#[cfg(test)]
mod tests {
    use super::all_constants;

    /// A constant that is not printed would influence results invisibly.
    #[test]
    fn no_constant_is_left_out() {
        let source = include_str!("../../../plan/src/constants.rs");
        let declared = source.lines().filter(|line| line.starts_with("pub const ")).count();
        assert_eq!(all_constants().len(), declared, "{:?}", all_constants().keys());
    }
}
