//! [`forecast_doc`]: the `wavetank.plan/1` object of a plan.

use std::collections::BTreeSet;

use wavetank_capacity::forecast::{BoundedEstimate, CapReached, Forecast, HoldForecast, needs, notes};
use wavetank_plan::{Arrivals, ConnectionOwner, HostFacts, Load, Phase, Plan};
use wavetank_record::{
    CapDoc, FORECAST_SCHEMA, ForecastDoc, HoldingDoc, HoldingMemoryDoc, LackDoc, Number, PhaseForecastDoc,
    ScenarioForecastDoc, SpanDoc, StepForecastDoc, TimelineDoc, all_constants,
};
use wavetank_units::UserError;

use super::{conditions, sentences, settings};
use crate::load_text::load_of_phase;

/// A plan, and where its parts come from.
#[derive(Clone, Copy, Debug)]
pub struct ForecastInput<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The file as named.
    pub file: &'a str,
    /// Version of wavetank.
    pub version: &'a str,
    /// Settings that the user chose, by their names in the file.
    pub given: &'a BTreeSet<&'static str>,
    /// The host it was made on.
    pub host: &'a HostFacts,
    /// Bytes of each scenario's requests, by step; `None` if they vary.
    pub request_bytes: &'a [Vec<Option<u64>>],
    /// Resources that this host lacks.
    pub lacking: &'a [UserError],
    /// Notes in addition to what the plan itself says.
    pub notes: &'a [String],
}

/// Returns everything that is known of a plan before anything is sent.
pub fn forecast_doc(planned: &ForecastInput<'_>) -> ForecastDoc {
    let plan = planned.plan;
    let forecast = Forecast::for_plan(plan);
    let mut doc = ForecastDoc {
        schema: FORECAST_SCHEMA.to_owned(),
        name: plan.name.clone(),
        file: planned.file.to_owned(),
        version: planned.version.to_owned(),
        seed: plan.seed,
        targets: plan.targets.iter().map(|target| target.url.clone()).collect(),
        span: SpanDoc {
            from_s: Number(forecast.timeline.from.as_secs_f64()),
            load_end_s: forecast.load_end.map(|end| Number(end.as_secs_f64())),
            end_s: forecast.end.map(|end| Number(end.as_secs_f64())),
            drain_s: Number(plan.drain.as_secs_f64()),
        },
        sessions: forecast.sessions.into(),
        requests: forecast.requests.into(),
        scenarios: scenarios(planned, &forecast),
        phases: phases(plan, &forecast),
        timeline: TimelineDoc::from(&forecast.timeline),
        needs: needs(plan, planned.host).unwrap_or_default(),
        holding: HoldForecast::for_plan(plan, &forecast, planned.host).ok().flatten().map(holding),
        lacking: planned.lacking.iter().map(LackDoc::from).collect(),
        constants: all_constants(),
        conditions: conditions::conditions(plan, &forecast),
        settings: settings::settings(plan, planned.given),
        notes: notes(plan, &forecast, planned.host)
            .into_iter()
            .chain(planned.notes.iter().cloned())
            .collect(),
        ..ForecastDoc::default()
    };
    doc.summary = sentences::summary(&doc, &forecast, plan);
    doc
}

fn phases(plan: &Plan, forecast: &Forecast) -> Vec<PhaseForecastDoc> {
    let number = |value: f64| Number((value * 1e3).round() / 1e3);
    let one = |(phase, own): (&Phase, &wavetank_capacity::forecast::PhaseForecast)| PhaseForecastDoc {
        name: phase.name.clone(),
        warmup: phase.warmup,
        kind: kind(&phase.load).to_owned(),
        load: load_of_phase(plan, phase).into(),
        start_s: Number(phase.start.as_secs_f64()),
        end_s: own.ends.map(|end| Number(end.as_secs_f64())),
        sessions: own.sessions.into(),
        arrivals: match &phase.load {
            Load::Open { arrivals: Arrivals::Even, .. } => "even",
            Load::Open { arrivals: Arrivals::Poisson, .. } => "poisson",
            Load::Trace { .. } => "trace",
            _ => "",
        }
        .to_owned(),
        cap: own.cap.map(|(sessions, reached)| CapDoc {
            sessions,
            reached: match reached {
                CapReached::No => "no",
                CapReached::Perhaps => "perhaps",
                CapReached::Yes => "yes",
            }
            .to_owned(),
        }),
        requests: own.requests.into(),
        requests_per_s_max: own.requests_per_s_max.map(number),
        sessions_per_s_max: own.sessions_per_s_max.map(number),
        level_max: own.level_max,
        starts: own.starts,
        connections: own.opening.total.into(),
        connections_per_s_max: own.opening.per_s_max.map(number),
        opened_ahead: own.opening.ahead.map_or(0, |ahead| ahead.0),
        opened_ahead_s: own.opening.ahead.map_or(Number(0.0), |ahead| Number(ahead.1.as_secs_f64())),
        max_open: phase.max_open,
        max_open_why: settings::max_open_why(phase, forecast),
        mix: phase.mix.parts().iter().map(|&(at, weight)| (name_of(plan, at), weight)).collect(),
    };
    plan.phases.iter().zip(&forecast.phases).map(one).collect()
}

fn holding(one: HoldForecast) -> HoldingDoc {
    let number = |value: f64| Number((value * 1e3).round() / 1e3);
    let memory = |(part, each_bytes, bytes): (&str, u64, u64)| HoldingMemoryDoc {
        part: part.to_owned(),
        each_bytes,
        bytes,
    };
    HoldingDoc {
        connections: one.connections,
        source_addresses: one.sources.map(|sources| sources.0),
        ports_each: one.sources.map(|sources| sources.1),
        opening_s: Number(one.opening.as_secs_f64()),
        opened_per_s_max: one.opened_per_s_max.map(number),
        requests_per_s_max: one.requests_per_s_max.map(number),
        memory: one.memory.into_iter().map(memory).collect(),
        rings: one.rings,
        threads: one.threads,
        next_limit: one.next_limit.0.to_owned(),
        next_limit_connections: one.next_limit.1,
    }
}

fn name_of(plan: &Plan, scenario: u16) -> String {
    plan.scenarios.get(usize::from(scenario)).map_or_else(String::new, |one| one.name.clone())
}

const fn kind(load: &Load) -> &'static str {
    match load {
        Load::Open { .. } => "rate",
        Load::Trace { .. } => "trace",
        Load::Closed { .. } => "users",
        Load::Hold { .. } => "hold",
        Load::Pause => "pause",
    }
}

fn scenarios(planned: &ForecastInput<'_>, forecast: &Forecast) -> Vec<ScenarioForecastDoc> {
    let plan = planned.plan;
    let bytes = |scenario: u16, step: usize| *planned.request_bytes.get(usize::from(scenario))?.get(step)?;
    let one = |(at, (scenario, own)): (
        u16,
        (&wavetank_plan::Scenario, &wavetank_capacity::forecast::SessionForecast),
    )| {
        let judged = || forecast.judged(plan).filter(move |(phase, _)| phase.mix.contains(at));
        let sessions = judged().fold(BoundedEstimate::ZERO, |sum, (_, phase)| {
            phase.shares.iter().filter(|share| share.0 == at).fold(sum, |sum, share| sum.plus(share.1))
        });
        let users = judged().fold(BoundedEstimate::ZERO, |sum, (phase, own)| {
            let starts = if phase.load.levels().is_some() {
                BoundedEstimate::exact(own.starts as f64)
            } else {
                own.shares.iter().find(|share| share.0 == at).map_or(BoundedEstimate::ZERO, |share| share.1)
            };
            sum.plus(starts)
        });
        let micros = |ns: BoundedEstimate| BoundedEstimate {
            least: ns.least / 1e3,
            mean: ns.mean.map(|mean| mean / 1e3),
            most: ns.most.map(|most| most / 1e3),
        };
        let steps = scenario.steps.iter().enumerate().map(|(index, step)| StepForecastDoc {
            name: step.name.clone(),
            requests: sessions.times(own.steps[index]).plus(users.times(own.steps_around[index])).into(),
            request_bytes: bytes(at, index),
        });
        ScenarioForecastDoc {
            name: scenario.name.clone(),
            sessions: sessions.into(),
            requests_each: own.session.requests.into(),
            requests_around: own.before.requests.plus(own.after.requests).into(),
            think_us: micros(own.session.think_ns).into(),
            pace_us: scenario.pace.map(|pace| Number(pace.as_micros_f64())),
            connection: match scenario.connection {
                ConnectionOwner::User => "user",
                ConnectionOwner::Session => "session",
                ConnectionOwner::Request => "request",
                ConnectionOwner::Shared => "shared",
            }
            .to_owned(),
            steps: steps.collect(),
        }
    };
    (0_u16..).zip(plan.scenarios.iter().zip(&forecast.scenarios)).map(one).collect()
}
