//! Constants that are printed into the archive's `plan.yaml`. Limits of single findings are next to
//! their rules in `core/diagnose` and `core/measure`.
//! Sources: `docs/measuring.md` §2, §5 and §6.

use wavetank_units::Nanos;

/// Lag above which a request counts as late, unless the plan says otherwise.
pub const LATE_TOLERANCE: Nanos = Nanos::from_millis(1);
/// An arrival not begun within this time of its intended instant is dropped (`behind`).
pub const BEHIND_MAX: Nanos = Nanos::SECOND;
/// Length of one sealed interval.
pub const INTERVAL: Nanos = Nanos::SECOND;
/// Request timeout from *begun*.
pub const TIMEOUT: Nanos = Nanos::from_secs(60);
/// Connect timeout, inside the request timeout.
pub const CONNECT_TIMEOUT: Nanos = Nanos::from_secs(5);
/// Shortest default drain; the default is the longer of this and the longest request timeout.
pub const DRAIN_MIN: Nanos = Nanos::from_secs(30);
/// Longest drain after SIGINT or SIGTERM.
pub const SIGNAL_DRAIN_MAX: Nanos = Nanos::from_secs(10);
/// Connections opened per second ahead of a phase.
pub const OPEN_RATE_PER_S: u64 = 5_000;
/// Default connections of a closed run.
pub const CONNECTIONS: u64 = 50;
/// Default length of a run.
pub const DURATION: Nanos = Nanos::from_secs(10);
/// Highest default of `max_open`.
pub const MAX_OPEN: u64 = 16_000_000;
/// A run in which nothing is done for this long and everything fails alike is stopped.
pub const HOPELESS_AFTER: Nanos = Nanos::from_secs(5);
/// Maximum number of series (phase, scenario, step) with histograms of their own; further ones
/// share `other`.
pub const SERIES_MAX: usize = 4_096;
/// Doubt: share of late requests in any ten seconds.
pub const DOUBT_LATE_SHARE: f64 = 0.01;
/// Doubt: lag p99 above the larger of this and a tenth of the response p99.
pub const DOUBT_LAG_P99: Nanos = Nanos::from_millis(1);
/// Doubt: share of requests dropped for a generator reason.
pub const DOUBT_DROPPED_SHARE: f64 = 0.001;
/// Doubt: share of starved or stalled loop turns.
pub const DOUBT_STALLED_SHARE: f64 = 0.01;
/// A load thread at or above this busy share is full.
pub const THREAD_FULL_SHARE: f64 = 0.95;
/// A run is generator-limited when its threads were full in more than this share of intervals.
pub const THREAD_FULL_INTERVALS: f64 = 0.10;
/// Invalid (a): share of offered dropped or failed for a generator reason.
pub const INVALID_GENERATOR_SHARE: f64 = 0.01;
/// The sliding window of validity rules.
pub const VALIDITY_WINDOW: Nanos = Nanos::from_secs(10);
/// A percentile with fewer samples above it is `uncertain`.
pub const UNCERTAIN_BELOW: u64 = 10;
/// Implicit threshold: failed below this share of offered.
pub const IMPLICIT_FAILED_SHARE: f64 = 0.01;
/// A cumulative checkpoint line is written to the archive this often.
pub const CHECKPOINT_EVERY: Nanos = Nanos::from_secs(60);
/// The archive is synced to disk this often.
pub const FSYNC_EVERY: Nanos = Nanos::from_secs(5);
/// The default `User-Agent`.
pub const USER_AGENT: &str = concat!("wavetank/", env!("CARGO_PKG_VERSION"));
/// Seed of a run that names none: the same command gives the same load.
pub const SEED: u64 = 1;
/// Maximum number of sends, completions or arrivals handled in one loop turn before the pacer is
/// asked again.
pub const WORK_PER_TURN_MAX: usize = 64;
