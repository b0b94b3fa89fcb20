//! [`Times`]: a histogram as percentiles, in microseconds.

use serde::{Deserialize, Serialize};

use crate::Number;

/// One histogram of the run; `{"count":0}` when nothing was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Values recorded, censored ones included.
    pub count: u64,
    /// Everything else; absent when `count` is 0.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

impl Times {
    /// Whether nothing was recorded.
    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Minimum to maximum of a histogram that is not empty. All values are microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Values in `count` that are only the time waited so far, because no response came.
    pub censored: u64,
    /// Values in `count` above the layout's highest bucket.
    pub clipped: u64,
    /// Exact minimum.
    pub min: Number,
    /// Exact mean.
    pub mean: Number,
    /// Nearest-rank percentile, as all below.
    pub p50: Number,
    /// 75 %.
    pub p75: Number,
    /// 90 %.
    pub p90: Number,
    /// 95 %.
    pub p95: Number,
    /// 99 %.
    pub p99: Number,
    /// 99.9 %.
    pub p99_9: Number,
    /// 99.99 %.
    pub p99_99: Number,
    /// Exact maximum.
    pub max: Number,
    /// Names of percentiles with fewer than ten values above them.
    pub uncertain: Vec<String>,
    /// Names of percentiles that dropped requests would have affected: their value is a lower
    /// bound.
    pub unknown: Vec<String>,
}

impl Spread {
    /// The percentiles of the block: field name and share in percent, in rising order.
    pub const PERCENTILES: [(&'static str, f64); 7] = [
        ("p50", 50.0),
        ("p75", 75.0),
        ("p90", 90.0),
        ("p95", 95.0),
        ("p99", 99.0),
        ("p99_9", 99.9),
        ("p99_99", 99.99),
    ];

    /// The value of the percentile called `name`, a name of [`Spread::PERCENTILES`].
    pub fn percentile(&self, name: &str) -> Option<Number> {
        Some(match name {
            "p50" => self.p50,
            "p75" => self.p75,
            "p90" => self.p90,
            "p95" => self.p95,
            "p99" => self.p99,
            "p99_9" => self.p99_9,
            "p99_99" => self.p99_99,
            _ => return None,
        })
    }

    /// Whether the percentile called `name` is only a lower bound because of dropped requests.
    pub fn is_unknown(&self, name: &str) -> bool {
        self.unknown.iter().any(|listed| listed == name)
    }

    /// Whether the percentile called `name` has fewer than ten values above it.
    pub fn is_uncertain(&self, name: &str) -> bool {
        self.uncertain.iter().any(|listed| listed == name)
    }
}
