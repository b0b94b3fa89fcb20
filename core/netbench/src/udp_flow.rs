//! [`UdpFlow`]: loss, order and jitter of datagrams with numbers.

/// Bytes at the start of each datagram: key of the test, number, time of sending.
pub const UDP_HEADER_BYTES: usize = 24;
/// Numbers behind the latest one that are remembered to recognise duplicates.
const WINDOW: u64 = 4_096;

/// The header of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpPacket {
    /// Key of the test.
    pub key: u64,
    /// Number, from 0.
    pub number: u64,
    /// When it was sent, ns of the sender's clock.
    pub sent_ns: u64,
}

impl UdpPacket {
    /// Encodes the header.
    pub fn encode(&self) -> [u8; UDP_HEADER_BYTES] {
        let mut bytes = [0; UDP_HEADER_BYTES];
        for (part, value) in bytes.chunks_exact_mut(8).zip([self.key, self.number, self.sent_ns]) {
            part.copy_from_slice(&value.to_be_bytes());
        }
        bytes
    }

    /// Decodes the header of a datagram; `None` if it is too short.
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let mut parts = datagram.get(..UDP_HEADER_BYTES)?.chunks_exact(8).map(|part| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(part);
            u64::from_be_bytes(bytes)
        });
        Some(Self { key: parts.next()?, number: parts.next()?, sent_ns: parts.next()? })
    }
}

/// What a receiver knows of a flow of datagrams.
#[derive(Clone, Debug)]
pub struct UdpFlow {
    received: u64,
    duplicates: u64,
    reordered: u64,
    /// The next number after the highest one received.
    expected: u64,
    /// For each of the last [`WINDOW`] numbers, whether it was received.
    window: Vec<bool>,
    /// Difference between arrival and sending of the last datagram, ns.
    transit: Option<i64>,
    jitter: f64,
    span: Option<(u64, u64)>,
}

impl Default for UdpFlow {
    fn default() -> Self {
        Self {
            received: 0,
            duplicates: 0,
            reordered: 0,
            expected: 0,
            window: vec![false; WINDOW as usize],
            transit: None,
            jitter: 0.0,
            span: None,
        }
    }
}

impl UdpFlow {
    /// Adds a datagram that arrived at `now`, ns of the receiver's clock. The two clocks need not
    /// agree.
    pub fn add(&mut self, packet: &UdpPacket, now: u64) {
        let number = packet.number;
        if number.checked_add(WINDOW).is_none() {
            return;
        }
        if number >= self.expected {
            let skipped = (number - self.expected).min(WINDOW);
            for missing in number - skipped..number {
                self.window[(missing % WINDOW) as usize] = false;
            }
            self.expected = number + 1;
        } else if number + WINDOW < self.expected {
            // Too late to know whether it came before.
            self.reordered += 1;
        } else if self.window[(number % WINDOW) as usize] {
            self.duplicates += 1;
            return;
        } else {
            self.reordered += 1;
        }
        self.window[(number % WINDOW) as usize] = true;
        self.received += 1;
        let first = self.span.map_or(now, |(first, _)| first);
        self.span = Some((first, now));
        // RFC 3550, 6.4.1: the mean deviation of the difference in transit times, with a gain of
        // 1/16.
        let transit = (now as i64).wrapping_sub(packet.sent_ns as i64);
        if let Some(last) = self.transit {
            let difference = transit.wrapping_sub(last).unsigned_abs() as f64;
            self.jitter += (difference - self.jitter) / 16.0;
        }
        self.transit = Some(transit);
    }

    /// Different datagrams received.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Datagrams received again.
    pub const fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Datagrams received after one with a higher number.
    pub const fn reordered(&self) -> u64 {
        self.reordered
    }

    /// Interarrival jitter, ns.
    pub const fn jitter_ns(&self) -> f64 {
        self.jitter
    }

    /// Time from the first to the last datagram, ns.
    pub fn nanos(&self) -> u64 {
        self.span.map_or(0, |(first, last)| last.saturating_sub(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds datagrams with these numbers and checks what is received, duplicated and reordered.
    #[track_caller]
    fn check(numbers: &[u64], expected: (u64, u64, u64)) {
        let mut flow = UdpFlow::default();
        for (at, &number) in numbers.iter().enumerate() {
            flow.add(&UdpPacket { key: 0, number, sent_ns: 0 }, at as u64);
        }
        assert_eq!((flow.received(), flow.duplicates(), flow.reordered()), expected, "{numbers:?}");
    }

    #[test]
    fn loss_order_and_duplicates_are_distinguished() {
        check(&[0, 1, 2, 3], (4, 0, 0));
        check(&[0, 3, 1, 2], (4, 0, 2));
        check(&[0, 0, 1, 1, 1], (2, 3, 0));
        check(&[2, 0, 0], (2, 1, 1));
        check(&[0, 10_000, 1, 9_999, 9_999], (4, 1, 2));
        check(&[u64::MAX], (0, 0, 0));
        check(&[], (0, 0, 0));
    }

    #[test]
    fn jitter_is_that_of_rfc_3550_and_ignores_the_offset_of_clocks() {
        let mut flow = UdpFlow::default();
        // Sent each millisecond of a clock that is an hour ahead; transit alternates by 160 ns.
        for number in 0..200_u64 {
            let sent_ns = 3_600_000_000_000 + number * 1_000_000;
            flow.add(&UdpPacket { key: 0, number, sent_ns }, number * 1_000_000 + number % 2 * 160);
        }
        assert!((flow.jitter_ns() - 160.0).abs() < 0.1, "{}", flow.jitter_ns());
        assert_eq!(flow.nanos(), 199_000_160);
    }

    #[test]
    fn a_header_is_read_back() {
        let packet = UdpPacket { key: 1 << 63, number: 5, sent_ns: 77 };
        assert_eq!(UdpPacket::decode(&packet.encode()), Some(packet));
        assert_eq!(UdpPacket::decode(&packet.encode()[..23]), None);
    }
}
