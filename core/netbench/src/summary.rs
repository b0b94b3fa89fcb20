//! From what both ends have measured to the values of a result.

use wavetank_measure::Histogram;
use wavetank_record::{NetLatencyDoc, Number, TcpThroughputDoc, UdpDoc};
use wavetank_units::Nanos;

use crate::{Direction, FlowResult, UdpResult};

/// Buckets for each doubling of a time in a result.
const BUCKETS_PER_OCTAVE: usize = 16;

/// Returns the throughput of the streams of a test. `received` and `sent` are the results of the
/// two ends.
pub fn tcp_doc(
    direction: Direction,
    both: bool,
    interval: Nanos,
    (received, sent): (&[FlowResult], &[FlowResult]),
) -> TcpThroughputDoc {
    let bytes: u64 = received.iter().map(|flow| flow.bytes).sum();
    let nanos = received.iter().map(|flow| flow.nanos).max().unwrap_or_default();
    let count = received.iter().map(|flow| flow.intervals.len()).max().unwrap_or_default();
    // The last interval is not a whole one.
    let whole = (nanos / interval.0.max(1).unsigned_abs()) as usize;
    let of_interval = |at: usize| -> u64 { received.iter().filter_map(|flow| flow.intervals.get(at)).sum() };
    let intervals = (0..count.min(whole)).map(|at| bits_per_s(of_interval(at), interval.0.unsigned_abs()));
    let cpu = |flows: &[FlowResult]| Number(flows.iter().map(|flow| flow.cpu_ns).sum::<u64>() as f64 / 1e9);
    let retransmits = sent.iter().filter_map(|flow| flow.retransmits);
    let is_known = sent.iter().any(|flow| flow.retransmits.is_some());
    TcpThroughputDoc {
        direction: direction.name().to_owned(),
        both,
        streams: received.len() as u32,
        bits_per_s: bits_per_s(bytes, nanos),
        bytes,
        duration_s: Number(nanos as f64 / 1e9),
        intervals: intervals.collect(),
        interval_s: Number(interval.as_secs_f64()),
        each: received.iter().map(|flow| bits_per_s(flow.bytes, flow.nanos)).collect(),
        retransmits: is_known.then(|| retransmits.sum()),
        sender_cpu_s: cpu(sent),
        receiver_cpu_s: cpu(received),
    }
}

/// Returns the loss and the rates of a flow of datagrams of `bytes` each.
pub fn udp_doc(
    direction: Direction,
    (bytes, target): (u32, Option<u64>),
    (sent, sent_nanos): (u64, u64),
    received: &UdpResult,
) -> UdpDoc {
    let lost = sent.saturating_sub(received.received);
    UdpDoc {
        direction: direction.name().to_owned(),
        mode: if target.is_some() { "rate" } else { "packets" }.to_owned(),
        bytes,
        target_bits_per_s: target.map(|rate| Number(rate as f64)),
        sent,
        received: received.received,
        loss: Number(if sent == 0 { 0.0 } else { lost as f64 / sent as f64 }),
        duplicates: received.duplicates,
        reordered: received.reordered,
        sent_per_s: per_s(sent, sent_nanos),
        received_per_s: per_s(received.received, received.nanos),
        bits_per_s: bits_per_s(received.received * u64::from(bytes), received.nanos),
        jitter_us: Number(received.jitter_ns / 1e3),
    }
}

/// Returns a histogram of nanoseconds as percentiles and a few buckets.
pub fn latency_doc(histogram: &Histogram) -> NetLatencyDoc {
    let percentile = |q: f64| Number::micros(histogram.percentile(q).unwrap_or_default());
    NetLatencyDoc {
        count: histogram.count(),
        min: Number::micros(histogram.min()),
        mean: Number(histogram.mean() / 1e3),
        p50: percentile(50.0),
        p90: percentile(90.0),
        p99: percentile(99.0),
        p999: percentile(99.9),
        max: Number::micros(histogram.max()),
        buckets: buckets(histogram),
    }
}

/// Merges the buckets of the histogram to [`BUCKETS_PER_OCTAVE`].
fn buckets(histogram: &Histogram) -> Vec<(Number, u64)> {
    // The histogram has 128 buckets in an octave.
    let merged = 128 / BUCKETS_PER_OCTAVE;
    let mut buckets: Vec<(usize, u64)> = Vec::new();
    for (index, count) in histogram.iter() {
        let group = index / merged;
        match buckets.last_mut() {
            Some(last) if last.0 == group => last.1 += count,
            _ => buckets.push((group, count)),
        }
    }
    let upper = |group: usize| Number::micros(Histogram::highest_equivalent(group * merged + merged - 1));
    buckets.into_iter().map(|(group, count)| (upper(group), count)).collect()
}

fn bits_per_s(bytes: u64, nanos: u64) -> Number {
    Number(per_s(bytes, nanos).0 * 8.0)
}

fn per_s(count: u64, nanos: u64) -> Number {
    Number(if nanos == 0 { 0.0 } else { count as f64 * 1e9 / nanos as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_add_up() {
        let flow = |stream, nanos, intervals: &[u64]| FlowResult {
            stream,
            bytes: intervals.iter().sum(),
            nanos,
            intervals: intervals.to_vec(),
            cpu_ns: 500_000_000,
            ..FlowResult::default()
        };
        let received = [flow(0, 1_000_000_000, &[1_000, 3_000]), flow(1, 1_100_000_000, &[1_000, 1_000, 10])];
        let sent = [FlowResult { retransmits: Some(3), ..flow(0, 1, &[]) }, flow(1, 1, &[])];
        let doc = tcp_doc(Direction::Forward, false, Nanos::from_millis(500), (&received, &sent));
        assert_eq!((doc.bytes, doc.streams, doc.retransmits), (6_010, 2, Some(3)));
        assert!((doc.bits_per_s.0 - 6_010.0 * 8.0 / 1.1).abs() < 1e-6);
        assert_eq!(doc.intervals, [Number(32_000.0), Number(64_000.0)], "the third is not a whole one");
        assert_eq!((doc.sender_cpu_s, doc.receiver_cpu_s), (Number(1.0), Number(1.0)));
    }

    #[test]
    fn loss_is_a_share_of_what_was_sent() {
        let received = UdpResult { received: 75, nanos: 1_000_000_000, ..UdpResult::default() };
        let doc = udp_doc(Direction::Reverse, (100, Some(80_000)), (100, 1_000_000_000), &received);
        assert_eq!(
            (doc.loss, doc.bits_per_s, doc.sent_per_s),
            (Number(0.25), Number(60_000.0), Number(100.0))
        );
        let none = udp_doc(Direction::Forward, (64, None), (0, 0), &UdpResult::default());
        assert_eq!((none.loss, none.mode.as_str()), (Number(0.0), "packets"));
    }

    #[test]
    fn merged_buckets_keep_the_count() {
        let mut histogram = Histogram::default();
        (1..100_000).step_by(7).for_each(|value| histogram.record(value));
        let doc = latency_doc(&histogram);
        assert_eq!(doc.buckets.iter().map(|bucket| bucket.1).sum::<u64>(), doc.count);
        assert!(doc.buckets.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(doc.buckets.len() < 200 && doc.p50 <= doc.p99 && doc.p999 <= doc.max, "{doc:?}");
        assert_eq!(latency_doc(&Histogram::default()).count, 0);
    }
}
