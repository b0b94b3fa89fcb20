//! [`Snapshot`]: all metrics at the end of one interval.

use wavetank_measure::Histogram;
use wavetank_units::Nanos;

use crate::metric::Metric;

/// Names and values of labels, without empty values, in the order of their meaning.
pub type Labels = Vec<(&'static str, String)>;

/// All metrics at the end of one interval. Counters count from the start of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Id of the run.
    pub run: String,
    /// End of the interval in Unix time, nanoseconds.
    pub at_unix_ns: u64,
    /// Start of the run in Unix time, nanoseconds: where counters were 0.
    pub start_unix_ns: u64,
    /// End of the interval on the run's clock.
    pub elapsed: Nanos,
    /// The metrics with at least one series.
    pub families: Vec<Family>,
}

/// All series of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The metric.
    pub metric: Metric,
    /// Its series.
    pub points: Vec<Point>,
}

/// One series at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// What distinguishes it from other series of the metric.
    pub labels: Labels,
    /// The value.
    pub value: Value,
}

/// The value of a series.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a counter.
    Count(u64),
    /// Of a gauge.
    Gauge(f64),
    /// Of a histogram.
    Buckets(Box<Buckets>),
}

/// Number of finite bounds of a histogram.
const BOUND_COUNT: usize = 41;

/// Upper bounds of the buckets in nanoseconds, two in each power of 2 from 66 µs to 69 s. Each is
/// the upper end of a bucket of [`Histogram`], so that counts are exact.
pub const BOUNDS_NS: [u64; BOUND_COUNT] = bounds();

const fn bounds() -> [u64; BOUND_COUNT] {
    let mut bounds = [0; BOUND_COUNT];
    let mut place = 0;
    while place < BOUND_COUNT {
        let power = 1 << (16 + place / 2);
        bounds[place] = if place % 2 == 0 { power - 1 } else { power + power / 2 - 1 };
        place += 1;
    }
    bounds
}

/// A histogram in few buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets {
    /// Times up to each of [`BOUNDS_NS`], cumulative.
    pub cumulative: [u64; BOUND_COUNT],
    /// All times.
    pub count: u64,
    /// Sum of all times in nanoseconds.
    pub sum_ns: u128,
}

impl From<&Histogram> for Buckets {
    fn from(times: &Histogram) -> Self {
        let mut cumulative = [0; BOUND_COUNT];
        for (index, n) in times.iter() {
            let highest = Histogram::highest_equivalent(index);
            if let Some(count) = cumulative.get_mut(BOUNDS_NS.partition_point(|&bound| bound < highest)) {
                *count += n;
            }
        }
        let mut sum = 0;
        for count in &mut cumulative {
            sum += *count;
            *count = sum;
        }
        Self { cumulative, count: times.count(), sum_ns: times.sum() }
    }
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Buckets {
    /// Sum of all times in seconds.
    pub fn sum_seconds(&self) -> f64 {
        self.sum_ns as f64 / 1e9
    }
}

impl Snapshot {
    /// Adds a series of `metric`.
    pub(crate) fn add(&mut self, metric: Metric, labels: Labels, value: Value) {
        let known = self.families.iter().rposition(|family| family.metric.base == metric.base);
        let index = known.unwrap_or_else(|| {
            self.families.push(Family { metric, points: Vec::new() });
            self.families.len() - 1
        });
        self.families[index].points.push(Point { labels, value });
    }

    /// Adds a series of a counter.
    pub(crate) fn count(&mut self, metric: Metric, labels: Labels, count: u64) {
        self.add(metric, labels, Value::Count(count));
    }

    /// Adds a series of a gauge.
    pub(crate) fn gauge(&mut self, metric: Metric, labels: Labels, value: f64) {
        self.add(metric, labels, Value::Gauge(value));
    }

    /// Adds a series of a histogram, unless nothing was recorded.
    pub(crate) fn times(&mut self, metric: Metric, labels: &Labels, times: &Histogram) {
        if !times.is_empty() {
            self.add(metric, labels.clone(), Value::Buckets(Box::new(Buckets::from(times))));
        }
    }

    /// Adds the percentiles of `times` as gauges, unless nothing was recorded.
    pub(crate) fn percentiles(&mut self, metric: Metric, labels: &Labels, times: &Histogram) {
        for (name, q) in PERCENTILES {
            if let Some(ns) = times.percentile(q) {
                self.gauge(metric, with(labels, "percentile", name), seconds(ns));
            }
        }
    }
}

/// The exported percentiles: value of the label, and percent.
const PERCENTILES: [(&str, f64); 6] =
    [("p50", 50.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0), ("p99.9", 99.9), ("max", 100.0)];

/// `labels` and one more.
pub(crate) fn with(labels: &Labels, name: &'static str, value: &str) -> Labels {
    let mut all = labels.clone();
    push(&mut all, name, value);
    all
}

/// Adds a label unless its value is empty, which means the same as no label.
pub(crate) fn push(labels: &mut Labels, name: &'static str, value: &str) {
    if !value.is_empty() {
        labels.push((name, value.to_owned()));
    }
}
