//! [`ConnectionInfo`]: what the kernel knows of a connection; [`PathInfo`]: the same of all
//! connections of a host.

/// Thousandths of one.
const MILLI: u64 = 1_000;

/// The part of `struct tcp_info` that shows what limits a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConnectionInfo {
    /// Smoothed round trip.
    pub(crate) rtt_us: u64,
    /// Segments sent again since it was opened.
    pub(crate) retransmits: u64,
    /// Time for which it had data to send.
    pub(crate) busy_us: u64,
    /// The part of it in which the receiver's window was full.
    pub(crate) rwnd_limited_us: u64,
    /// The part of it in which the send buffer was too small.
    pub(crate) sndbuf_limited_us: u64,
}

/// See the module's description.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathInfo {
    rtts_us: Vec<u64>,
    sum: ConnectionInfo,
}

impl PathInfo {
    /// Adds an established connection.
    pub(crate) fn add(&mut self, one: ConnectionInfo) {
        // Without a measured round trip the kernel reports zero.
        if one.rtt_us > 0 {
            self.rtts_us.push(one.rtt_us);
        }
        let sum = &mut self.sum;
        sum.retransmits = sum.retransmits.saturating_add(one.retransmits);
        sum.busy_us = sum.busy_us.saturating_add(one.busy_us);
        sum.rwnd_limited_us = sum.rwnd_limited_us.saturating_add(one.rwnd_limited_us);
        sum.sndbuf_limited_us = sum.sndbuf_limited_us.saturating_add(one.sndbuf_limited_us);
    }

    /// Returns the median and the longest round trip, what was sent again, and the shares of the
    /// time with data to send that were lost, in thousandths. Zeros are absent.
    pub(crate) fn levels(&self) -> impl Iterator<Item = (String, u64)> {
        let mut rtts = self.rtts_us.clone();
        rtts.sort_unstable();
        let share = |part: u64| part.saturating_mul(MILLI).checked_div(self.sum.busy_us).unwrap_or(0);
        let levels = [
            ("rtt_us", rtts.get(rtts.len() / 2).copied().unwrap_or(0)),
            ("rtt_us_max", rtts.last().copied().unwrap_or(0)),
            ("retransmits", self.sum.retransmits),
            ("rwnd_limited_milli", share(self.sum.rwnd_limited_us)),
            ("sndbuf_limited_milli", share(self.sum.sndbuf_limited_us)),
        ];
        levels.into_iter().filter(|(_, value)| *value > 0).map(|(name, value)| (format!("tcp.{name}"), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_summed_up() {
        let mut path = PathInfo::default();
        assert_eq!(path.levels().count(), 0);
        for rtt_us in [30, 10, 20, 0] {
            path.add(ConnectionInfo {
                rtt_us,
                retransmits: 2,
                busy_us: 1_000,
                rwnd_limited_us: 250,
                ..ConnectionInfo::default()
            });
        }
        let levels: Vec<_> = path.levels().collect();
        let expected = [
            ("tcp.rtt_us", 20),
            ("tcp.rtt_us_max", 30),
            ("tcp.retransmits", 8),
            ("tcp.rwnd_limited_milli", 250),
        ];
        assert_eq!(levels, expected.map(|(name, value)| (name.to_owned(), value)));
    }
}
