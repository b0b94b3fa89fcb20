//! [`SummaryStrings`]: the first page.

use super::{Of1, Of2};

/// The first page.
pub(crate) struct SummaryStrings {
    pub(crate) tested: &'static str,
    pub(crate) target: &'static str,
    pub(crate) load: &'static str,
    pub(crate) defaults: &'static str,
    pub(crate) claimed: &'static str,
    pub(crate) nothing_claimed: &'static str,
    /// Before implicit thresholds.
    pub(crate) unasked: &'static str,
    /// How long the load ran, and its planned length.
    pub(crate) cut_short: Of2,
    /// The known part of the load, in a record without an end.
    pub(crate) known_of: Of2,
    pub(crate) limit_owner: &'static str,
    /// Before evidence against the answer above it.
    pub(crate) however: &'static str,
    /// Shown instead of a number that cannot be known.
    pub(crate) unknown: &'static str,
    pub(crate) next_limit: &'static str,
    pub(crate) room_none: &'static str,
    pub(crate) room_thread: Of1,
    pub(crate) room_cpus: Of1,
    pub(crate) room_target: &'static str,
    pub(crate) room_lab: Of2,
    pub(crate) room_memory: Of2,
    pub(crate) room_files: Of2,
    pub(crate) plateau: &'static str,
    pub(crate) phases: &'static str,
    pub(crate) hosts: &'static str,
    pub(crate) generator_host: &'static str,
    pub(crate) repeat: &'static str,
    pub(crate) try_next: &'static str,
    pub(crate) notes: &'static str,
    pub(crate) rehearsal: &'static str,
    pub(crate) more_below: Of1,
    /// Number of findings that are not shown here.
    pub(crate) more_found: Of1,
    pub(crate) done_rate: &'static str,
    /// Next to the rate: the number of requests done after the load.
    pub(crate) done_later: fn(&str) -> String,
    pub(crate) of_offered: Of1,
    pub(crate) done_in: Of2,
    pub(crate) response_p99: &'static str,
    pub(crate) half_within: Of1,
    /// The part of a time that the generator caused.
    pub(crate) lag_of_it: Of1,
    /// Number of failed requests that the response time does not include, and their p99.
    pub(crate) failed_apart: Of2,
    pub(crate) failed_share: &'static str,
    pub(crate) failed_of: Of2,
    pub(crate) held: &'static str,
    pub(crate) held_of: Of2,
    /// Shown if every second had all of them.
    pub(crate) held_all: fn(&str) -> String,
    pub(crate) peak_of: Of1,
    pub(crate) nothing_sent: &'static str,
    pub(crate) nothing_done: &'static str,
    pub(crate) done_after_load: &'static str,
    pub(crate) cpus: Of1,
    pub(crate) memory_free: Of1,
}
