//! [`MtuSearch`]: which probes find the largest packet that a path carries.

/// Attempts of each size before its packets count as lost.
const ATTEMPTS: u32 = 3;

/// The next step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MtuProbe {
    /// Send a packet of this size, in bytes with IP header, and report what became of it.
    Send(u32),
    /// The search has ended.
    Done(MtuResult),
}

/// What a search has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MtuResult {
    /// The largest packet that passed, bytes with IP header; `None` if none did.
    pub largest: Option<u32>,
    /// Whether larger packets vanished without any message: an MTU black hole.
    pub is_black_hole: bool,
    /// Packets sent.
    pub probes: u32,
}

/// Finds the largest packet by bisection. A smaller MTU that a router reports by ICMP ends it
/// early: that is the path's.
#[derive(Clone, Debug)]
pub struct MtuSearch {
    /// The largest size that passed; 0 if none did.
    low: u32,
    /// The smallest size that is known not to pass.
    high: u32,
    current: u32,
    attempts: u32,
    probes: u32,
    /// Whether a packet vanished that the local interface accepted.
    is_lossy: bool,
}

impl MtuSearch {
    /// A search between `smallest`, which every path carries, and `largest`, the MTU of the
    /// interface.
    pub const fn new(smallest: u32, largest: u32) -> Self {
        Self { low: 0, high: largest + 1, current: smallest, attempts: 0, probes: 0, is_lossy: false }
    }

    /// Returns the next step.
    pub fn poll(&self) -> MtuProbe {
        let is_open = self.high > self.low + 1 && self.current > self.low && self.current < self.high;
        if is_open { MtuProbe::Send(self.current) } else { MtuProbe::Done(self.result()) }
    }

    /// The current packet was answered.
    pub fn handle_passed(&mut self) {
        let is_first = self.low == 0;
        self.count();
        self.low = self.current;
        // The whole path usually has the MTU of the interface.
        self.go_to(if is_first { self.high - 1 } else { self.middle() });
    }

    /// The current packet was not answered in time.
    pub fn handle_lost(&mut self) {
        self.count();
        self.attempts += 1;
        if self.attempts < ATTEMPTS {
            return;
        }
        self.is_lossy = true;
        if self.low == 0 {
            // Not even small packets pass: there is nothing to search.
            self.high = 0;
            return;
        }
        self.high = self.current;
        self.go_to(self.middle());
    }

    /// The kernel refuses the current size: it has learned from an ICMP message that the path
    /// carries `mtu` bytes.
    pub fn handle_too_big(&mut self, mtu: u32) {
        self.count();
        let known = mtu.min(self.current - 1);
        if self.low == 0 || known <= self.low {
            (self.high, self.current) = (known.max(self.low) + 1, known);
            return;
        }
        self.high = known + 1;
        self.go_to(known);
    }

    fn count(&mut self) {
        self.probes += 1;
    }

    fn go_to(&mut self, size: u32) {
        (self.current, self.attempts) = (size, 0);
    }

    const fn middle(&self) -> u32 {
        u32::midpoint(self.low, self.high)
    }

    const fn result(&self) -> MtuResult {
        let largest = if self.low == 0 { None } else { Some(self.low) };
        MtuResult { largest, is_black_hole: self.is_lossy && self.low > 0, probes: self.probes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path with an interface of `local` bytes that carries `path` bytes and reports that or not.
    #[track_caller]
    fn check(local: u32, path: u32, is_reported: bool, expected: (Option<u32>, bool)) {
        let mut search = MtuSearch::new(576, local);
        let mut is_known = false;
        for _ in 0..200 {
            match search.poll() {
                MtuProbe::Done(result) => {
                    assert_eq!((result.largest, result.is_black_hole), expected, "{local} {path}");
                    return;
                }
                MtuProbe::Send(size) if size <= path => search.handle_passed(),
                // The first packet is lost and causes the message; the next one is refused.
                MtuProbe::Send(_) if is_reported && is_known => search.handle_too_big(path),
                MtuProbe::Send(_) => {
                    is_known = true;
                    search.handle_lost();
                }
            }
        }
        panic!("the search does not end: {search:?}");
    }

    #[test]
    fn the_largest_packet_is_found() {
        check(1_500, 1_500, false, (Some(1_500), false));
        check(1_500, 1_400, true, (Some(1_400), false));
        check(9_000, 1_500, true, (Some(1_500), false));
    }

    #[test]
    fn silence_about_large_packets_is_a_black_hole() {
        check(1_500, 1_400, false, (Some(1_400), true));
        check(9_000, 1_500, false, (Some(1_500), true));
        check(65_535, 577, false, (Some(577), true));
        check(1_500, 576, false, (Some(576), true));
    }

    #[test]
    fn a_path_that_carries_nothing_is_no_black_hole() {
        check(1_500, 100, false, (None, false));
    }
}
