//! The [`LoadDemand`] of an experiment: its plan at its highest.

use wavetank_units::{Code, Nanos, UserError};

use super::result::show_length;
use super::{
    CloseSide, LoadDemand, PerSecond, Quantity, SERVICE, SizeOptions, SizingResult, TransactionProfile,
};
use crate::forecast::{Forecast, PhaseForecast, SessionForecast};
use wavetank_plan::{Close, ConnectionOwner, Load, Phase, Plan};

/// Sizes of a plan's requests in bytes. Sizes that differ from request to request are unknown.
#[derive(Clone, Copy, Debug)]
pub struct PlanBytes<'a> {
    /// Sizes of each scenario's steps.
    pub each: &'a [Vec<Option<u64>>],
    /// The value for sizes that are unknown.
    pub otherwise: u64,
    /// Size of a response.
    pub answer: u64,
}

/// The simultaneous load at one instant.
#[derive(Clone, Copy, Debug, Default)]
struct PeakLoad {
    requests: f64,
    connections: f64,
    opens: f64,
    opening: f64,
}

/// A moment of the plan: one at which a phase has just begun, or is just about to end.
#[derive(Clone, Copy, Debug)]
struct Instant {
    at: Nanos,
    before: bool,
}

impl Instant {
    /// Returns whether the phase is active.
    fn is_in(self, phase: &Phase) -> bool {
        if self.before {
            phase.start < self.at && phase.end().is_none_or(|end| self.at <= end)
        } else {
            phase.is_active_at(self.at)
        }
    }
}

impl PeakLoad {
    /// Returns the sum of both loads.
    fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            connections: self.connections + other.connections,
            opens: self.opens + other.opens,
            opening: self.opening + other.opening,
        }
    }
}

impl LoadDemand {
    /// Computes the demand of a plan. Phases that run at the same time are summed.
    ///
    /// # Errors
    /// The number of connections overflows.
    pub fn from_plan(plan: &Plan, bytes: &PlanBytes<'_>, wishes: &SizeOptions) -> Result<Self, UserError> {
        let forecast = Forecast::for_plan(plan);
        let service = wishes.service.unwrap_or(SERVICE);
        let scope = Scope { plan, forecast: &forecast, service };
        let peak = scope.peak();
        let (request_bytes, unknown) = scope.request_bytes(bytes, wishes);
        let holds = plan.phases.iter().any(|phase| matches!(phase.load, Load::Hold { .. }));
        let closing = match (plan.http.close, plan.http.keepalive) {
            _ if holds => CloseSide::Reset,
            (Close::Rst, _) => CloseSide::Reset,
            (Close::Fin, false) => CloseSide::Server,
            (Close::Fin, true) => CloseSide::Client,
        };
        let exchange = TransactionProfile {
            service: scope.longest_service(),
            service_given: wishes.service.is_some(),
            request_bytes,
            answer_bytes: bytes.answer,
            tls: plan.tls.is_some(),
            closing,
        };
        let connections = peak.connections.ceil();
        if connections > super::CONNECTIONS_MAX as f64 {
            let message = "the file's connections are out of range";
            return Err(UserError::usage(Code::Overflow, message, "a trillion at most: --scale 1/1000"));
        }
        let (requests, opens) =
            (PerSecond::from_f64(rounded(peak.requests)), PerSecond::from_f64(rounded(peak.opens)));
        let mut demand = Self::new(requests, connections as u64, opens, exchange);
        demand.held = holds;
        demand.opening = PerSecond::from_f64(rounded(peak.opening)).max(opens);
        demand.length = forecast.load_end.map(|end| end - forecast.timeline.from);
        demand.note(&scope.why_requests(), unknown);
        Ok(demand)
    }

    fn note(&mut self, why: &str, unknown: bool) {
        let one = |what, value, formula: &str| SizingResult {
            role: None,
            what,
            value,
            formula: formula.to_owned(),
        };
        let most = "the maximum in the file";
        self.asked = vec![
            one("connections", Quantity::Count(self.connections), most),
            one("requests_per_s", Quantity::PerSecond(self.requests), why),
            one("opens_per_s", Quantity::PerSecond(self.opens), "while it runs, because others end"),
            one("opening_per_s", Quantity::PerSecond(self.opening), "at the steepest"),
            one(
                "in_flight",
                Quantity::Count(self.in_flight),
                &format!("answers within {}", show_length(self.exchange.service)),
            ),
        ];
        self.asked.extend(self.length.map(|length| one("length", Quantity::Length(length), "of all phases")));
        if unknown {
            self.notes.push(
                "requests differ in length: those with variables count as 200 B (--request-bytes)".to_owned(),
            );
        }
    }
}

/// A plan with what its answers are taken to last.
struct Scope<'a> {
    plan: &'a Plan,
    forecast: &'a Forecast,
    service: Nanos,
}

impl Scope<'_> {
    /// Returns the maximum of each value over all instants at which a phase starts or ends.
    fn peak(&self) -> PeakLoad {
        let phases = &self.plan.phases;
        let begins = phases.iter().map(|phase| Instant { at: phase.start, before: false });
        let ends = phases.iter().filter_map(Phase::end).map(|at| Instant { at, before: true });
        begins.chain(ends).map(|at| self.at(at)).fold(PeakLoad::default(), |most, own| PeakLoad {
            requests: most.requests.max(own.requests),
            connections: most.connections.max(own.connections),
            opens: most.opens.max(own.opens),
            opening: most.opening.max(own.opening),
        })
    }

    /// All phases together at an instant.
    fn at(&self, at: Instant) -> PeakLoad {
        let own = self.plan.phases.iter().zip(&self.forecast.phases).map(|(phase, own)| {
            let mut peak = PeakLoad::default();
            let total = phase.mix.total().max(1) as f64;
            for &(scenario, weight) in phase.mix.parts() {
                let Some(scenario) = self.forecast.scenarios.get(usize::from(scenario)) else { continue };
                let share = weight as f64 / total;
                peak = peak.plus(match own.sessions_per_s_max {
                    Some(rate) => self.arriving(scenario, (phase, own), rate, share, at),
                    None if at.is_in(phase) => self.repeating(scenario, own.level_max as f64 * share),
                    None => PeakLoad::default(),
                });
            }
            if !at.is_in(phase) {
                return peak;
            }
            let steepest = match own.opening.ahead {
                Some(_) => self.plan.open_rate.as_per_second(),
                None => own.opening.per_s_max.unwrap_or(peak.opens),
            };
            PeakLoad { opening: steepest.min(peak.connections.max(peak.opens)), ..peak }
        });
        own.fold(PeakLoad::default(), PeakLoad::plus)
    }

    /// Returns the load of sessions that arrive at this rate. Sessions that arrived within one
    /// session's length are still present, even after the end of their phase.
    fn arriving(
        &self,
        scenario: &SessionForecast,
        (phase, own): (&Phase, &PhaseForecast),
        rate: f64,
        share: f64,
        at: Instant,
    ) -> PeakLoad {
        let whole = scenario.whole();
        let (busy, think) = (self.busy_s(scenario), likely(whole.think_ns) / 1e9);
        let length = (busy + think).max(1e-9);
        let (start, now) = (phase.start.as_secs_f64(), at.at.as_secs_f64());
        // A rate without an end is treated as steady from its start on.
        let now = if phase.length.is_none() { now.max(start + length) } else { now };
        let end = phase.end().map(Nanos::as_secs_f64).map_or(now, |end| end.min(now));
        // At the start of a phase no session is present yet. At its end all sessions of one session
        // length are present.
        let came = (end - start.max(now - length)).max(0.0);
        let sessions = own.sessions.mean_or_upper().unwrap_or(f64::MAX) * share;
        let there = (rate * share * came).min(sessions);
        let requests = there * likely(whole.requests) / length;
        let busy_there = there * busy / length;
        let targets = scenario.targets as f64;
        let arrives = if at.is_in(phase) { rate * share } else { 0.0 };
        let (connections, opens) = match scenario.connection {
            _ if !self.plan.http.keepalive => (busy_there, requests),
            ConnectionOwner::Request => (busy_there, requests),
            ConnectionOwner::Shared => (busy_there, 0.0),
            ConnectionOwner::User | ConnectionOwner::Session => (there * targets, arrives * targets),
        };
        let opens = opens.max(self.renewed(requests));
        let connections = if there > 0.0 { connections.max(1.0) } else { 0.0 };
        PeakLoad { requests, connections, opens, opening: opens }
    }

    /// Users or held connections that repeat their sessions.
    fn repeating(&self, scenario: &SessionForecast, users: f64) -> PeakLoad {
        let each = likely(scenario.session.requests);
        let turn = scenario.pace.map_or(0.0, Nanos::as_secs_f64).max(
            self.busy_of(scenario.session.requests, scenario.session.delay_ns)
                + likely(scenario.session.think_ns) / 1e9,
        );
        let turns = if turn > 0.0 { users / turn } else { 0.0 };
        let requests = turns * each;
        let targets = scenario.targets as f64;
        let opens = match scenario.connection {
            _ if !self.plan.http.keepalive => requests,
            ConnectionOwner::Request => requests,
            ConnectionOwner::Session if each > 0.0 => turns * targets,
            _ => self.renewed(requests),
        };
        PeakLoad { requests, connections: users * targets, opens, opening: 0.0 }
    }

    /// Returns the new connections that are needed because each serves only a limited number of
    /// requests.
    fn renewed(&self, requests: f64) -> f64 {
        self.plan.http.requests_per_connection.map_or(0.0, |each| requests / each.max(1) as f64)
    }

    fn busy_s(&self, scenario: &SessionForecast) -> f64 {
        let whole = scenario.whole();
        self.busy_of(whole.requests, whole.delay_ns)
    }

    /// Returns the seconds for which a session has open requests: the delays that paths name, or
    /// the service time where they name none.
    fn busy_of(
        &self,
        requests: crate::forecast::BoundedEstimate,
        delay_ns: crate::forecast::BoundedEstimate,
    ) -> f64 {
        let named = likely(delay_ns) / 1e9;
        if named > 0.0 { named } else { likely(requests) * self.service.as_secs_f64() }
    }

    /// The longest answer that a path names, or the service.
    fn longest_service(&self) -> Nanos {
        let sessions = self.forecast.scenarios.iter();
        let named = sessions
            .filter(|one| likely(one.session.requests) > 0.0)
            .map(|one| Nanos((likely(one.session.delay_ns) / likely(one.session.requests)) as i64));
        named.max().filter(|named| *named > Nanos::ZERO).unwrap_or(self.service)
    }

    /// Bytes of a request on average over all steps, and whether some are unknown.
    fn request_bytes(&self, bytes: &PlanBytes<'_>, wishes: &SizeOptions) -> (u64, bool) {
        if let Some(given) = wishes.request_bytes {
            return (given, false);
        }
        let (mut sum, mut count, mut unknown) = (0.0, 0.0, false);
        for (scenario, own) in self.forecast.scenarios.iter().zip(bytes.each) {
            for (amount, known) in scenario.steps.iter().zip(own) {
                let often = likely(*amount);
                unknown |= known.is_none() && often > 0.0;
                sum += often * known.unwrap_or(bytes.otherwise) as f64;
                count += often;
            }
        }
        let mean = if count > 0.0 { (sum / count).ceil() as u64 } else { bytes.otherwise };
        (mean, unknown)
    }

    /// Returns where the rate of requests comes from.
    fn why_requests(&self) -> String {
        let waits = |one: &SessionForecast| likely(one.session.think_ns) > 0.0 || one.pace.is_some();
        let levels = self.plan.phases.iter().any(|phase| phase.load.levels().is_some());
        let silent = self.forecast.scenarios.iter().all(|one| likely(one.session.requests) <= 0.0);
        match (levels, self.forecast.scenarios.iter().all(waits)) {
            _ if silent => "held in silence".to_owned(),
            (false, _) => "what arrives".to_owned(),
            (true, true) => format!("pauses, and answers within {}", show_length(self.service)),
            (true, false) => {
                format!("as fast as answers come: {} each (--service)", show_length(self.service))
            }
        }
    }
}

/// Returns the mean, or the upper bound if only that is known, or the lower bound.
fn likely(amount: crate::forecast::BoundedEstimate) -> f64 {
    amount.mean_or_upper().unwrap_or(amount.least)
}

/// Without what floating point added: 9999.999999 is 10,000.
fn rounded(value: f64) -> f64 {
    let near = value.round();
    if (value - near).abs() < 1e-6 * near.abs().max(1.0) { near } else { value }
}
