//! [`History`]: what the charts show.

use std::collections::VecDeque;

use wavetank_record::LiveDoc;

/// Seconds that the charts show at most.
const SECONDS_MAX: usize = 600;

/// The latest seconds of a run.
#[derive(Default)]
pub(super) struct History {
    points: VecDeque<Point>,
}

/// One sealed interval.
#[derive(Clone, Copy)]
struct Point {
    at_s: f64,
    offered: f64,
    done: f64,
    /// Milliseconds; absent without a response.
    p50: Option<f64>,
    p99: Option<f64>,
}

/// A line of a chart: seconds on the run's clock, and values.
pub(super) type Line = Vec<(f64, f64)>;

impl History {
    /// Adds the latest interval of `state`, unless it is there already.
    pub(super) fn add(&mut self, state: &LiveDoc) {
        let at_s = state.at_s.0;
        let is_new = self.points.back().is_none_or(|last| last.at_s < at_s);
        // Connections are opened before the first request is due.
        let is_idle = at_s <= 0.0 && state.latest.offered_per_s.0 <= 0.0;
        if state.latest.length_s.0 <= 0.0 || is_idle || !is_new {
            return;
        }
        if self.points.len() == SECONDS_MAX {
            self.points.pop_front();
        }
        let spread = state.latest.response_us.spread.as_ref();
        self.points.push_back(Point {
            at_s,
            offered: state.latest.offered_per_s.0,
            done: state.latest.done_per_s.0,
            p50: spread.map(|spread| spread.p50.0 / 1e3),
            p99: spread.map(|spread| spread.p99.0 / 1e3),
        });
    }

    /// Offered and done requests per second.
    pub(super) fn rates(&self) -> [Line; 2] {
        [|point: &Point| Some(point.offered), |point: &Point| Some(point.done)].map(|value| self.line(value))
    }

    /// p50 and p99 of the response time in milliseconds.
    pub(super) fn percentiles(&self) -> [Line; 2] {
        [|point: &Point| point.p50, |point: &Point| point.p99].map(|value| self.line(value))
    }

    /// The first and the last second.
    pub(super) fn span(&self) -> [f64; 2] {
        let first = self.points.front().map_or(0.0, |point| point.at_s);
        let last = self.points.back().map_or(first, |point| point.at_s);
        // A chart of one instant has no width.
        [first, last.max(first + 10.0)]
    }

    fn line(&self, value: fn(&Point) -> Option<f64>) -> Line {
        self.points.iter().filter_map(|point| Some((point.at_s, value(point)?))).collect()
    }
}
