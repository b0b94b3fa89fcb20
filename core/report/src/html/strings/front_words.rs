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
    /// Ahead of conditions that nobody set.
    pub(crate) unasked: &'static str,
    /// How long the load ran, and how long it was to.
    pub(crate) cut_short: Of2,
    /// How much of it is known, of a record without an end.
    pub(crate) known_of: Of2,
    pub(crate) whose_limit: &'static str,
    /// Ahead of what speaks against the answer above it.
    pub(crate) however: &'static str,
    /// Instead of a number that nobody can know.
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
    /// Findings that are not told here.
    pub(crate) more_found: Of1,
    pub(crate) done_rate: &'static str,
    /// Beside it, what came after the load: how many.
    pub(crate) done_later: fn(&str) -> String,
    pub(crate) of_offered: Of1,
    pub(crate) done_in: Of2,
    pub(crate) response_p99: &'static str,
    pub(crate) half_within: Of1,
    /// How many failed requests are not in the time beside it, and their p99.
    pub(crate) failed_apart: Of2,
    pub(crate) failed_share: &'static str,
    pub(crate) failed_of: Of2,
    pub(crate) held: &'static str,
    pub(crate) held_of: Of2,
    /// Where every second had them all.
    pub(crate) held_all: fn(&str) -> String,
    pub(crate) peak_of: Of1,
    pub(crate) nothing_sent: &'static str,
    pub(crate) nothing_done: &'static str,
    pub(crate) done_after_load: &'static str,
    pub(crate) cpus: Of1,
    pub(crate) memory_free: Of1,
}
