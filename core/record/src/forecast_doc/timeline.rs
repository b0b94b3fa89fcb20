//! [`TimelineDoc`]: the load over time, column by column.

use serde::Serialize;
use wavetank_capacity::forecast::Timeline;

use crate::Number;

/// The load as planned. All lists have the same length; a list without any values is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimelineDoc {
    /// When the first point begins, on the run's clock.
    pub from_s: Number,
    /// How long each point lasts; the last one may be shorter.
    pub every_s: Number,
    /// Sessions that arrive a second, mean of each point.
    pub sessions_per_s: Vec<Number>,
    /// Requests per second that they will send; `null` if responses determine it.
    pub requests_per_s: Vec<Option<Number>>,
    /// Target number of users at the end of each point.
    pub users: Vec<u64>,
    /// Target number of held connections at the end of each point.
    pub held: Vec<u64>,
}

impl From<&Timeline> for TimelineDoc {
    fn from(timeline: &Timeline) -> Self {
        let points = &timeline.points;
        let arrive = points.iter().any(|point| point.sessions_per_s > 0.0);
        let of = |wanted: fn(&wavetank_capacity::forecast::TimelinePoint) -> u64| {
            let all: Vec<u64> = points.iter().map(wanted).collect();
            if all.iter().any(|count| *count > 0) { all } else { Vec::new() }
        };
        let thousandths = |rate: f64| Number((rate * 1e3).round() / 1e3);
        let arriving = points.iter().filter(|_| arrive);
        Self {
            from_s: Number(timeline.from.as_secs_f64()),
            every_s: Number(timeline.every.as_secs_f64()),
            sessions_per_s: arriving.clone().map(|point| thousandths(point.sessions_per_s)).collect(),
            requests_per_s: arriving.map(|point| point.requests_per_s.map(thousandths)).collect(),
            users: of(|point| point.users),
            held: of(|point| point.held),
        }
    }
}
