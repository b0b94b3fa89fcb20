//! Times and limits of the fleet's protocol.

use wavetank_plan::Nanos;

/// Agents report and the controller extends leases this often.
pub const BEAT: Nanos = Nanos::SECOND;
/// An agent is lost when more than this many heartbeats in a row are missing.
pub const BEATS_MISSED_MAX: u32 = 3;
/// An agent with a lease that was not extended for this long drains, so that no load continues
/// without a controller.
pub const ORPHAN_GRACE: Nanos = Nanos::from_secs(30);
/// An orphan, and an agent at its hard end, stops this long after it began to drain.
pub const ORPHAN_DRAIN_MAX: Nanos = Nanos::from_secs(10);
/// A change is ordered at least this long ahead, so that it reaches everybody in time.
pub const CHANGE_AHEAD_MIN: Nanos = Nanos::SECOND;
/// An agent refuses a change that arrives less than this before its instant, because its threads
/// may already have looked further ahead.
pub const CHANGE_ARRIVAL_MIN: Nanos = Nanos::from_millis(50);
/// An unanswered command is repeated this often.
pub const REPEAT_EVERY: Nanos = Nanos::from_millis(250);
/// Most unanswered commands at a time; an agent remembers as many answers.
pub const UNANSWERED_MAX: u64 = 32;
/// Agents get this long to prepare, unless the run says otherwise.
pub const PREPARE_MAX: Nanos = Nanos::from_secs(120);
/// Agents get this long to end after a stop; then the controller gives them up.
pub const STOP_MAX: Nanos = Nanos::from_secs(30);
/// Most unseen intervals that are reported again in one step.
pub const RESEND_MAX: u64 = 64;
