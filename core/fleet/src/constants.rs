//! Times and limits of the fleet's protocol.

use wavetank_units::Nanos;

/// Agents report and the controller extends leases this often.
pub const BEAT: Nanos = Nanos::SECOND;
/// An agent is lost when more than this many heartbeats in a row are missing.
pub const BEATS_MISSED_MAX: u32 = 3;
/// A restarted controller waits for this many beats before it calls an agent lost: an agent first
/// has to notice that its former controller is silent.
pub const BEATS_MISSED_AFTER_RESTART_MAX: u32 = 9;
/// An agent with a lease that was not extended for this long drains, so that no load continues
/// without a controller. The default of [`crate::RunSetup::orphan_grace`].
pub const ORPHAN_GRACE: Nanos = Nanos::from_secs(30);
/// The shortest lease: the missed heartbeats after which an agent is lost.
pub const LEASE_MIN: Nanos = Nanos::from_secs(3);
/// An orphan, and an agent at its hard end, stops this long after it began to drain.
pub const ORPHAN_DRAIN_MAX: Nanos = Nanos::from_secs(10);
/// A change is ordered at least this long ahead, so that it reaches every agent in time.
pub const CHANGE_AHEAD_MIN: Nanos = Nanos::SECOND;
/// An agent refuses a change that arrives less than this before its instant, because its threads
/// may already have looked further ahead.
pub const CHANGE_ARRIVAL_MIN: Nanos = Nanos::from_millis(50);
/// Users of several agents continue from a rendezvous this long after the controller has seen that
/// all are there, and the way to the agents in addition: their load threads check every 20 ms.
pub const RELEASE_AHEAD: Nanos = Nanos::from_millis(50);
/// An unanswered command is repeated this often at first.
pub const REPEAT_EVERY: Nanos = Nanos::from_millis(250);
/// After this many repetitions without an answer, each time until the next one is twice as long.
pub const REPEATS_QUICK: u32 = 4;
/// Longest time between two repetitions: preparing may take minutes, and all agents do it.
pub const REPEAT_EVERY_MAX: Nanos = Nanos::from_secs(2);
/// Most unanswered commands at a time; an agent remembers as many answers.
pub const UNANSWERED_MAX: u64 = 32;
/// Agents of the fleet get this long to report to the controller.
pub const GATHER_MAX: Nanos = Nanos::from_secs(30);
/// Agents get this long to prepare, unless the run says otherwise.
pub const PREPARE_MAX: Nanos = Nanos::from_secs(120);
/// Agents get this long to end after a stop; then the controller gives them up.
pub const STOP_MAX: Nanos = Nanos::from_secs(30);
/// Agents get this long to confirm that they deleted their spools. A spool that remains is no loss.
pub const SETTLE_MAX: Nanos = Nanos::from_secs(10);
/// Most unseen intervals that are reported again in one step.
pub const RESEND_MAX: u64 = 64;
/// An interval of the fleet is sealed at the latest this long after its first agent delivered it.
pub const LATENESS: Nanos = Nanos::from_secs(3);

/// Most that two agents may start apart, unless the run says otherwise.
pub const START_TOLERANCE: Nanos = Nanos::from_millis(5);
/// Probes of a clock in each measurement of its offset.
pub const PROBES: u32 = 8;
/// Most probes in one measurement. More than [`PROBES`] are made while the result is too uncertain.
pub const PROBES_MAX: u32 = 64;
/// Time between two probes of an agent. In a fleet with more than [`PROBES_AT_ONCE_MAX`] agents it
/// is a multiple of this.
pub const PROBE_EVERY: Nanos = Nanos::from_millis(20);
/// Most agents that are probed in [`PROBE_EVERY`]: 4,000 probes per second, whatever the fleet.
pub const PROBES_AT_ONCE_MAX: usize = 80;
/// Longest time between two probes of an agent that does not answer, unless the fleet is larger.
pub const PROBE_EVERY_MAX: Nanos = Nanos::SECOND;
/// Offsets of clocks are measured again this often.
pub const CLOCK_EVERY: Nanos = Nanos::from_secs(10);
/// Most that two clocks drift apart, in millionths: the kernel slews a clock by at most 500 ppm.
pub const DRIFT_MAX_PPM: i64 = 500;
