//! [`SeriesLine`]: one element of an interval line's `series`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wavetank_measure::{
    Counters, DropReason, ErrorClass, Histogram, PhaseSeries, StatusCounts, StepSeries, TargetSeries, Wire,
};
use wavetank_plan::Key;

use crate::DecodeError;
use crate::handshakes_line::HandshakesLine;
use crate::histogram_code::HistogramCode;
use crate::run_parts;

/// One of three kinds, told apart by what they are of: `key` (phase, scenario, step), or `phase` alone, or
/// `phase` and `target`. One struct with optional fields, because a tagged one could not carry 128-bit sums.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SeriesLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<[u16; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<RequestsLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wire: Option<run_parts::Wire>,
    #[serde(skip_serializing_if = "Option::is_none")]
    handshakes: Option<HandshakesLine>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    times: BTreeMap<String, HistogramCode>,
}

/// Counts of one key; `open` is a gauge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RequestsLine {
    offered: u64,
    sent: u64,
    done: u64,
    late: u64,
    open: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    errors: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    dropped_by: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    status: Vec<(u16, u64)>,
}

/// What an element turned out to be.
pub(crate) enum Series {
    /// Requests of one key.
    Step(StepSeries),
    /// Times of one phase.
    Phase(PhaseSeries),
    /// Connection set-up towards one target.
    Target(TargetSeries),
}

impl SeriesLine {
    pub(crate) fn of_step(series: &StepSeries) -> Self {
        // Taken apart by name, so that a new field cannot be forgotten here.
        let StepSeries { key, counters, open, status, wire, response, service } = series;
        let Wire { sent, retried, redirected, resources } = *wire;
        Self {
            key: Some([key.phase, key.scenario, key.step]),
            requests: Some(RequestsLine::new(counters, *open, status)),
            wire: Some(run_parts::Wire { sent, retried, redirected, resources }),
            times: encode([("response", response), ("service", service)]),
            ..Self::default()
        }
    }

    pub(crate) fn of_phase(series: &PhaseSeries) -> Self {
        let PhaseSeries { phase, lag, wait, ttfb, transfer, failed } = series;
        Self {
            phase: Some(*phase),
            times: encode([
                ("lag", lag),
                ("wait", wait),
                ("ttfb", ttfb),
                ("transfer", transfer),
                ("failed", failed),
            ]),
            ..Self::default()
        }
    }

    pub(crate) fn of_target(series: &TargetSeries) -> Self {
        let TargetSeries { phase, target, connect, tls, handshakes } = series;
        Self {
            phase: Some(*phase),
            target: Some(*target),
            handshakes: HandshakesLine::new(handshakes),
            times: encode([("connect", connect), ("tls", tls)]),
            ..Self::default()
        }
    }

    pub(crate) fn decode(mut self) -> Result<Series, DecodeError> {
        let series = match (self.key, self.phase, self.target) {
            (Some([phase, scenario, step]), None, None) => {
                let requests = self.requests.take().unwrap_or_default();
                let run_parts::Wire { sent, retried, redirected, resources } = self.wire.unwrap_or_default();
                Series::Step(StepSeries {
                    key: Key { phase, scenario, step },
                    counters: requests.counters()?,
                    open: requests.open,
                    status: StatusCounts(requests.status),
                    wire: Wire { sent, retried, redirected, resources },
                    response: self.take("response")?,
                    service: self.take("service")?,
                })
            }
            (None, Some(phase), None) => Series::Phase(PhaseSeries {
                phase,
                lag: self.take("lag")?,
                wait: self.take("wait")?,
                ttfb: self.take("ttfb")?,
                transfer: self.take("transfer")?,
                failed: self.take("failed")?,
            }),
            (None, Some(phase), Some(target)) => Series::Target(TargetSeries {
                phase,
                target,
                connect: self.take("connect")?,
                tls: self.take("tls")?,
                handshakes: self.handshakes.take().unwrap_or_default().decode(),
            }),
            _ => return Err(DecodeError::new("series: neither of a key, nor of a phase, nor of a target")),
        };
        match self.times.keys().next() {
            None => Ok(series),
            Some(name) => Err(DecodeError::new(format!("series: unknown time `{name}`"))),
        }
    }

    fn take(&mut self, name: &str) -> Result<Histogram, DecodeError> {
        self.times.remove(name).map_or_else(|| Ok(Histogram::default()), |code| code.decode())
    }
}

impl RequestsLine {
    fn new(counters: &Counters, open: u64, status: &StatusCounts) -> Self {
        let Counters { offered, sent, done, late, errors, dropped_by } = counters;
        let named = |names: &[&'static str], counts: &[u64]| {
            let occurred = names.iter().zip(counts).filter(|&(_, &count)| count > 0);
            occurred.map(|(name, &count)| ((*name).to_owned(), count)).collect()
        };
        Self {
            offered: *offered,
            sent: *sent,
            done: *done,
            late: *late,
            open,
            errors: named(&ErrorClass::ALL.map(ErrorClass::name), errors),
            dropped_by: named(&DropReason::ALL.map(DropReason::name), dropped_by),
            status: status.0.clone(),
        }
    }

    fn counters(&self) -> Result<Counters, DecodeError> {
        let mut counters = Counters {
            offered: self.offered,
            sent: self.sent,
            done: self.done,
            late: self.late,
            ..Counters::default()
        };
        for (name, &count) in &self.errors {
            let class = ErrorClass::from_name(name);
            let class =
                class.ok_or_else(|| DecodeError::new(format!("series: unknown error class `{name}`")))?;
            counters.errors[class as usize] = count;
        }
        for (name, &count) in &self.dropped_by {
            let reason = DropReason::from_name(name);
            let reason =
                reason.ok_or_else(|| DecodeError::new(format!("series: unknown drop reason `{name}`")))?;
            counters.dropped_by[reason as usize] = count;
        }
        Ok(counters)
    }
}

fn encode<const N: usize>(times: [(&str, &Histogram); N]) -> BTreeMap<String, HistogramCode> {
    times
        .into_iter()
        .filter_map(|(name, times)| Some((name.to_owned(), HistogramCode::new(times)?)))
        .collect()
}
