//! [`SeriesLine`]: one element of an interval line's `series`.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use wavetank_measure::{
    DropReason, ErrorClass, Histogram, MessageCounters, PhaseSeries, RequestCounters, StatusCounts,
    StepSeries, TargetSeries, WireCounters,
};
use wavetank_plan::Key;

use crate::DecodeError;
use crate::handshakes_line::HandshakesLine;
use crate::histogram_code::HistogramCode;
use crate::run_parts;

/// One of three kinds, distinguished by their fields: `key` (phase, scenario, step), or `phase`
/// alone, or `phase` and `target`. One struct with optional fields, because a tagged one could not
/// contain 128-bit sums. `T` is the form of its times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    bound(serialize = "T: SeriesTimes + Serialize", deserialize = "T: SeriesTimes + Deserialize<'de>")
)]
pub(crate) struct SeriesLine<T> {
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
    #[serde(skip_serializing_if = "is_zero")]
    pings: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<run_parts::Messages>,
    #[serde(skip_serializing_if = "SeriesTimes::is_empty")]
    times: T,
}

/// How the times of a series are read: completely, or not at all.
pub(crate) trait SeriesTimes: Default {
    /// Whether there are none.
    fn is_empty(&self) -> bool;

    /// Fills `series`, reusing the histograms in `pool` while there are any.
    fn fill(self, series: &mut Series, pool: &mut Vec<Histogram>) -> Result<(), DecodeError>;
}

/// Times that are skipped. They are most of a line, and take most of the time to read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SkipTimes;

impl<'de> Deserialize<'de> for SkipTimes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|IgnoredAny| Self)
    }
}

impl SeriesTimes for SkipTimes {
    fn is_empty(&self) -> bool {
        true
    }

    fn fill(self, _: &mut Series, _: &mut Vec<Histogram>) -> Result<(), DecodeError> {
        Ok(())
    }
}

/// Times by name; those of one kind of series, where they are not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TimesLine<'a> {
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    response: Option<HistogramCode<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    service: Option<HistogramCode<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    lag: Option<HistogramCode<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    wait: Option<HistogramCode<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    ttfb: Option<HistogramCode<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    transfer: Option<HistogramCode<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    failed: Option<HistogramCode<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    connect: Option<HistogramCode<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    tls: Option<HistogramCode<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    hello: Option<HistogramCode<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    ping: Option<HistogramCode<'a>>,
}

/// Counts of one key; `open` is a gauge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RequestsLine {
    offered: u64,
    sent: u64,
    done: u64,
    #[serde(skip_serializing_if = "is_zero")]
    late: u64,
    #[serde(skip_serializing_if = "is_zero")]
    open: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    errors: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    dropped_by: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    status: Vec<(u16, u64)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The kind of a decoded element.
pub(crate) enum Series {
    /// Requests of one key.
    Step(StepSeries),
    /// Times of one phase.
    Phase(PhaseSeries),
    /// Connection set-up towards one target.
    Target(TargetSeries),
}

impl SeriesLine<TimesLine<'static>> {
    pub(crate) fn from_step(series: &StepSeries) -> Self {
        // Taken apart by name, so that a new field cannot be forgotten here.
        let StepSeries { key, counters, open, status, wire, response, service } = series;
        let WireCounters { sent, retried, redirected, resources, one_way } = *wire;
        let plain = *wire == WireCounters { sent: counters.sent, ..WireCounters::default() };
        Self {
            key: Some([key.phase, key.scenario, key.step]),
            requests: Some(RequestsLine::new(counters, *open, status)),
            wire: (!plain).then_some(run_parts::Wire { sent, retried, redirected, resources, one_way }),
            times: TimesLine {
                response: HistogramCode::new(response),
                service: HistogramCode::delta_to(service, response),
                ..TimesLine::default()
            },
            ..Self::default()
        }
    }

    pub(crate) fn from_phase(series: &PhaseSeries) -> Self {
        let PhaseSeries { phase, lag, wait, ttfb, transfer, failed } = series;
        let times = TimesLine {
            lag: HistogramCode::new(lag),
            wait: HistogramCode::new(wait),
            ttfb: HistogramCode::new(ttfb),
            transfer: HistogramCode::new(transfer),
            failed: HistogramCode::new(failed),
            ..TimesLine::default()
        };
        Self { phase: Some(*phase), times, ..Self::default() }
    }

    pub(crate) fn from_target(series: &TargetSeries) -> Self {
        let TargetSeries { phase, target, connect, tls, handshakes, hello, ping, pings_sent, messages } =
            series;
        let MessageCounters { sent, received } = *messages;
        let has_messages = *messages != MessageCounters::default();
        Self {
            phase: Some(*phase),
            target: Some(*target),
            handshakes: HandshakesLine::new(handshakes),
            pings: *pings_sent,
            messages: has_messages.then_some(run_parts::Messages { sent, received }),
            times: TimesLine {
                connect: HistogramCode::new(connect),
                tls: HistogramCode::new(tls),
                hello: HistogramCode::new(hello),
                ping: HistogramCode::new(ping),
                ..TimesLine::default()
            },
            ..Self::default()
        }
    }
}

impl<T: SeriesTimes> SeriesLine<T> {
    /// Decodes the element. Its times reuse the histograms in `pool` while there are any.
    pub(crate) fn decode(self, pool: &mut Vec<Histogram>) -> Result<Series, DecodeError> {
        let mut series = match (self.key, self.phase, self.target) {
            (Some([phase, scenario, step]), None, None) => {
                let requests = self.requests.unwrap_or_default();
                let plain = run_parts::Wire { sent: requests.sent, ..run_parts::Wire::default() };
                let run_parts::Wire { sent, retried, redirected, resources, one_way } =
                    self.wire.unwrap_or(plain);
                Series::Step(StepSeries {
                    key: Key { phase, scenario, step },
                    counters: requests.counters()?,
                    open: requests.open,
                    status: StatusCounts(requests.status),
                    wire: WireCounters { sent, retried, redirected, resources, one_way },
                    ..StepSeries::default()
                })
            }
            (None, Some(phase), None) => Series::Phase(PhaseSeries { phase, ..PhaseSeries::default() }),
            (None, Some(phase), Some(target)) => Series::Target(TargetSeries {
                phase,
                target,
                handshakes: self.handshakes.unwrap_or_default().decode(),
                pings_sent: self.pings,
                messages: self.messages.map_or_else(MessageCounters::default, |own| MessageCounters {
                    sent: own.sent,
                    received: own.received,
                }),
                ..TargetSeries::default()
            }),
            _ => return Err(DecodeError::new("series: key, phase and target are missing")),
        };
        self.times.fill(&mut series, pool)?;
        Ok(series)
    }
}

impl SeriesTimes for TimesLine<'_> {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn fill(mut self, series: &mut Series, pool: &mut Vec<Histogram>) -> Result<(), DecodeError> {
        let mut take_alongside = |times: &mut Option<HistogramCode<'_>>, other: &Histogram| match times.take()
        {
            Some(code) => code.decode(other, pool.pop().unwrap_or_default()),
            None => Ok(Histogram::default()),
        };
        let nothing = Histogram::default();
        match series {
            Series::Step(step) => {
                step.response = take_alongside(&mut self.response, &nothing)?;
                step.service = take_alongside(&mut self.service, &step.response)?;
            }
            Series::Phase(phase) => {
                phase.lag = take_alongside(&mut self.lag, &nothing)?;
                phase.wait = take_alongside(&mut self.wait, &nothing)?;
                phase.ttfb = take_alongside(&mut self.ttfb, &nothing)?;
                phase.transfer = take_alongside(&mut self.transfer, &nothing)?;
                phase.failed = take_alongside(&mut self.failed, &nothing)?;
            }
            Series::Target(target) => {
                target.connect = take_alongside(&mut self.connect, &nothing)?;
                target.tls = take_alongside(&mut self.tls, &nothing)?;
                target.hello = take_alongside(&mut self.hello, &nothing)?;
                target.ping = take_alongside(&mut self.ping, &nothing)?;
            }
        }
        if self.is_empty() { Ok(()) } else { Err(DecodeError::new("series: its times are of another kind")) }
    }
}

impl RequestsLine {
    fn new(counters: &RequestCounters, open: u64, status: &StatusCounts) -> Self {
        let RequestCounters { offered, sent, done, late, errors, dropped_by } = counters;
        Self {
            offered: *offered,
            sent: *sent,
            done: *done,
            late: *late,
            open,
            errors: count_by_name(errors),
            dropped_by: named(&DropReason::ALL.map(DropReason::name), dropped_by),
            status: status.0.clone(),
        }
    }

    fn counters(&self) -> Result<RequestCounters, DecodeError> {
        let mut counters = RequestCounters {
            offered: self.offered,
            sent: self.sent,
            done: self.done,
            late: self.late,
            errors: count_by_class(&self.errors)?,
            ..RequestCounters::default()
        };
        for (name, &count) in &self.dropped_by {
            let reason = DropReason::parse(name);
            let reason =
                reason.ok_or_else(|| DecodeError::new(format!("series: unknown drop reason `{name}`")))?;
            counters.dropped_by[reason as usize] = count;
        }
        Ok(counters)
    }
}

/// Returns the counts that occurred, by name.
fn named(names: &[&'static str], counts: &[u64]) -> BTreeMap<String, u64> {
    let occurred = names.iter().zip(counts).filter(|&(_, &count)| count > 0);
    occurred.map(|(name, &count)| ((*name).to_owned(), count)).collect()
}

/// Returns the counts of error classes that occurred, by the name of the class.
pub(super) fn count_by_name(errors: &[u64; ErrorClass::ALL.len()]) -> BTreeMap<String, u64> {
    named(&ErrorClass::ALL.map(ErrorClass::name), errors)
}

/// The reverse of [`count_by_name`]. Fails on an unknown class.
pub(super) fn count_by_class(
    names: &BTreeMap<String, u64>,
) -> Result<[u64; ErrorClass::ALL.len()], DecodeError> {
    let mut errors = [0; ErrorClass::ALL.len()];
    for (name, &count) in names {
        let class = ErrorClass::parse(name);
        let class = class.ok_or_else(|| DecodeError::new(format!("series: unknown error class `{name}`")))?;
        errors[class as usize] = count;
    }
    Ok(errors)
}
