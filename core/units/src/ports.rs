//! [`Ports`]: which ports connections may be made from.

/// One in this number of ports is left to the kernel's choice.
const LEAVE_ONE_IN: u64 = 16;
/// In a small range a larger share is left, so that about this many ports remain.
const LEFT_MIN: u64 = 256;
/// At most one in this number of ports is left.
const LEAVE_ONE_IN_MIN: u64 = 4;

/// A set of ports, as ranges in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports(Vec<(u16, u16)>);

impl Ports {
    /// All from `first` to `last`; none if they run backwards.
    pub fn range(first: u16, last: u16) -> Self {
        Self(if first <= last { vec![(first, last)] } else { Vec::new() })
    }

    /// Returns these ports except every port in `taken`, which may overlap and be in any order.
    #[must_use]
    pub fn without(mut self, taken: &[(u16, u16)]) -> Self {
        for &(low, high) in taken {
            let cut = |(first, last): (u16, u16)| {
                let below = (first < low).then(|| (first, last.min(low.saturating_sub(1))));
                let above = (last > high).then(|| (first.max(high.saturating_add(1)), last));
                [below, above].into_iter().flatten()
            };
            self.0 = self.0.into_iter().flat_map(cut).collect();
        }
        self
    }

    /// Returns these ports without those that must be left to the kernel. `first` is the lowest
    /// port of the kernel's own range.
    ///
    /// Linux's `connect` skips each port that was bound explicitly, on any address and as long as a
    /// connection from it is in `TIME_WAIT` (`__inet_hash_connect` skips buckets with `fastreuse >=
    /// 0`). If a load bound all ports, no process on its host could connect for a minute. The
    /// kernel tries ports of the parity of `first` before the others. Ports of that parity are
    /// therefore left, and the kernel finds them soon.
    #[must_use]
    pub fn for_tuples(&self, first: u16) -> Self {
        // The stride is even, so that the parity is right wherever no port is missing.
        let stride = (self.count() / LEFT_MIN).clamp(LEAVE_ONE_IN_MIN, LEAVE_ONE_IN) & !1;
        let mut kept = Self::default();
        let mut since = 0;
        for port in self.iter() {
            let preferred = (port ^ first) & 1 == 0;
            since += 1;
            if since >= stride && preferred || since >= 2 * stride {
                since = 0;
            } else {
                kept.push(port);
            }
        }
        kept
    }

    /// Adds one above all the others.
    fn push(&mut self, port: u16) {
        match self.0.last_mut() {
            Some((_, last)) if port.checked_sub(1) == Some(*last) => *last = port,
            _ => self.0.push((port, port)),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|&(first, last)| u64::from(last - first) + 1).sum()
    }

    /// Every one, in order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        self.0.iter().flat_map(|&(first, last)| first..=last)
    }
}
