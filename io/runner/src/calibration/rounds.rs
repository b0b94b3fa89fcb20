//! [`RoundStats`]: what the rounds of one figure come to.

use wavetank_capacity::calibration::{RoundValues, median};
use wavetank_record::{LagDoc, Number, RunRecord, ThroughputDoc};

/// One figure, round by round.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundStats {
    per_s: RoundValues,
    cpu_us: Vec<f64>,
    busiest: Vec<f64>,
    failed: u64,
    /// Handshakes of all rounds, and those of them that resumed a session.
    handshakes: (u64, u64),
}

/// Requests that left in the whole run, its warm-up included.
pub(super) fn sent(record: &RunRecord) -> u64 {
    record.wire.sent + record.setup.sent + record.warmup.wire.map_or(0, |wire| wire.sent)
}

impl RoundStats {
    /// With one more round.
    pub(super) fn add(&mut self, record: &RunRecord) {
        let cpu_s = record.generator.cpu_user_s.0 + record.generator.cpu_system_s.0;
        self.per_s.0.push(record.rate.done_per_s.0);
        self.cpu_us.push(cpu_s * 1e6 / sent(record).max(1) as f64);
        self.busiest.push(record.generator.busiest_thread.0);
        self.failed += record.requests.failed;
        let tls = record.tls.as_ref();
        self.handshakes.0 += tls.map_or(0, |tls| tls.handshakes);
        self.handshakes.1 += tls.map_or(0, |tls| tls.resumed);
    }

    /// The median of what was done each second.
    pub(super) fn rate(&self) -> f64 {
        self.per_s.median().unwrap_or(0.0)
    }

    /// By which share of the median the rounds lie apart.
    pub(super) fn spread(&self) -> f64 {
        self.per_s.spread()
    }

    /// Share of the handshakes that resumed a session; `None` without any.
    pub(super) fn resumed(&self) -> Option<f64> {
        (self.handshakes.0 > 0).then(|| self.handshakes.1 as f64 / self.handshakes.0 as f64)
    }

    /// The highest share of its time that a load thread was busy.
    pub(super) fn busiest(&self) -> f64 {
        median(&self.busiest).unwrap_or(0.0)
    }

    /// Returns the figure as reported, on a host of this many CPUs.
    pub(super) fn figure(&self, cpus: usize, against: &str) -> ThroughputDoc {
        let (least, most) = self.per_s.range().unwrap_or_default();
        let cpu_us = median(&self.cpu_us).unwrap_or(0.0);
        let alone = if cpu_us > 0.0 { cpus as f64 * 1e6 / cpu_us } else { 0.0 };
        ThroughputDoc {
            unit: "per_s".to_owned(),
            measured: rounded(self.rate()),
            least: rounded(least),
            most: rounded(most),
            rounds: self.per_s.0.iter().copied().map(rounded).collect(),
            cpu_us_each: rounded(cpu_us),
            alone: rounded(alone),
            busiest_thread: rounded(self.busiest()),
            failed: self.failed,
            against: against.to_owned(),
        }
    }
}

/// What the rounds of one share's lag come to; `share` in percent.
pub(super) fn lag_doc(share: u64, offered_per_s: f64, rounds: &[RunRecord]) -> LagDoc {
    let of = |value: &dyn Fn(&RunRecord) -> f64| RoundValues(rounds.iter().map(value).collect());
    let middle = |value: &dyn Fn(&RunRecord) -> f64| rounded(of(value).median().unwrap_or(0.0));
    let lag = |name: &'static str| {
        move |record: &RunRecord| {
            record.lag_us.spread.as_ref().and_then(|lag| lag.percentile(name)).map_or(0.0, |us| us.0)
        }
    };
    let part = |of: fn(&RunRecord) -> u64| {
        move |record: &RunRecord| of(record) as f64 / record.requests.offered.max(1) as f64
    };
    let (least, most) = of(&lag("p99")).range().unwrap_or_default();
    LagDoc {
        share: Number(share as f64 / 100.0),
        offered_per_s: rounded(offered_per_s),
        done_per_s: middle(&|record| record.rate.done_per_s.0),
        late: middle(&part(|record| record.requests.late)),
        dropped: middle(&part(|record| record.requests.dropped)),
        p50_us: middle(&lag("p50")),
        p99_us: middle(&lag("p99")),
        p99_9_us: middle(&lag("p99_9")),
        p99_least_us: rounded(least),
        p99_most_us: rounded(most),
    }
}

/// Rounds to six decimal places.
pub(super) fn rounded(value: f64) -> Number {
    Number((value * 1e6).round() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rate: f64, cpu_s: f64, wire: u64) -> RunRecord {
        let mut record = RunRecord::default();
        record.rate.done_per_s = Number(rate);
        record.generator.cpu_user_s = Number(cpu_s);
        record.wire.sent = wire - 10;
        record.warmup.wire = Some(wavetank_record::Wire { sent: 10, ..Default::default() });
        record
    }

    #[test]
    fn rounds_come_to_a_median_and_to_what_threads_would_do_alone() {
        let mut tally = RoundStats::default();
        for (rate, cpu_s, wire) in [(1_000.0, 0.1, 10_000), (3_000.0, 0.3, 10_000), (2_000.0, 0.2, 10_000)] {
            tally.add(&record(rate, cpu_s, wire));
        }
        let figure = tally.figure(2, "own");
        assert_eq!((figure.measured.0, figure.least.0, figure.most.0), (2_000.0, 1_000.0, 3_000.0));
        assert_eq!((figure.cpu_us_each.0, figure.alone.0), (20.0, 100_000.0));
        assert_eq!(figure.rounds.len(), 3);
        assert!((tally.spread() - 1.0).abs() < 1e-9);
        assert_eq!(tally.resumed(), None);
        assert!(
            RoundStats::default().figure(2, "own").alone.0.abs() < 1e-9,
            "nothing measured, nothing derived"
        );
    }
}
