//! Formulas for sizes.

/// Open files of a process that are not connections: listening sockets, logs, libraries, event
/// queues.
const OTHER_FILES: u64 = 128;
/// The lab sets `net.core.somaxconn` to this value, which limits every accept queue.
const BACKLOG_MAX: u64 = 65_535;
/// Minimum length of an accept queue. A shorter one is too short for a burst and saves nothing.
const BACKLOG_MIN: u64 = 4_096;

/// Returns the number of simultaneous client connections of one process if each takes `files_each`
/// open files.
pub(super) const fn room(files: u64, files_each: u64) -> u64 {
    files.saturating_sub(OTHER_FILES) / files_each
}

/// Returns the maximum share of one part when a hash distributes `whole` items over `parts`. It is
/// the mean plus six standard deviations, which is exceeded once in a billion. A single part gets
/// all items.
pub(super) fn hash_share_max(whole: u64, parts: u64) -> u64 {
    let mean = whole.div_ceil(parts);
    if parts == 1 { mean } else { mean + 6 * (mean.isqrt() + 1) }
}

/// Returns the length of the accept queue: the connections of a quarter of a second if all arrive
/// within two seconds.
pub(super) fn backlog(connections: Option<u64>) -> u64 {
    let burst = connections.unwrap_or_default().div_ceil(8).min(BACKLOG_MAX);
    burst.next_power_of_two().clamp(BACKLOG_MIN, BACKLOG_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_holds_half_as_many_proxied_connections_as_files() {
        assert_eq!(room(20_000, 2), 9_936);
        assert_eq!(room(100, 2), 0);
    }

    #[test]
    fn shares_have_room_for_an_uneven_deal() {
        let check =
            |whole, parts, expected| assert_eq!(hash_share_max(whole, parts), expected, "{whole} on {parts}");
        check(100, 1, 100);
        check(100_000, 12, 8_334 + 6 * 92);
        check(0, 4, 6);
    }

    #[test]
    fn queues_have_two_ends() {
        let check = |connections, expected| assert_eq!(backlog(connections), expected, "{connections:?}");
        check(None, 4_096);
        check(Some(100), 4_096);
        check(Some(100_000), 16_384);
        check(Some(u64::MAX), 65_535);
    }
}
