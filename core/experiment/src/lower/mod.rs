//! Lowers an [`Experiment`] to a [`Plan`]: names become numbers, and every number is fixed.
//!
//! Everything outside the file (addresses, files, secrets, rows, the host) is passed in. What this
//! version's plan cannot hold is an error with its position. What this host cannot do is reported
//! with the plan, because `plan` shows it and `run` refuses it.

mod action;
mod body;
mod check;
mod context;
mod data;
mod datagram;
mod error;
mod escape;
mod grpc;
mod http;
mod load;
mod message;
mod phase;
mod plan_checks;
mod proxy;
mod request;
mod scenario;
mod scope;
mod session;
mod shared;
mod target;
mod template;
mod tls;
mod trace;

use wavetank_capacity::forecast::risks;
use wavetank_plan::{
    AddressFilter, HooksPlan, HttpPlan, Plan, PlannedEvent, SharedPlan, SourcesPlan, TargetUrl, Unsupported,
    feasibility,
};
use wavetank_units::{Nanos, UserError};

pub use context::LowerContext;
pub use data::rows_table;
pub use error::LowerError;
pub use grpc::verify_grpc;
use load::LoweredPhases;
use scenario::Scenarios;
use shared::GlobalScope;
use target::Targets;
pub(crate) use tls::check_tls_options;
pub use trace::verify_traces;

use crate::model::Experiment;
use crate::run_name::run_name;
use wavetank_plan::constants::SEED;

/// The plan, and notes about how it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct LoweredPlan {
    /// The plan. Each of its addresses must still pass the guard.
    pub plan: Plan,
    /// Requirements of the plan that this host does not meet. With any of them nothing may be sent.
    pub lacking: Vec<UserError>,
    /// Notes for the user, one line each.
    pub remarks: Vec<String>,
    /// Why the engine is not the best one available.
    pub engine_why: Option<Unsupported>,
}

/// Returns the plan of an experiment that was read without errors.
///
/// # Errors
/// Settings that a plan cannot contain, and missing files and names.
pub fn lower(experiment: &Experiment, input: &LowerContext<'_>) -> Result<LoweredPlan, LowerError> {
    let shared = GlobalScope::new(experiment, input, grpc::descriptors(experiment, input.file)?);
    let mut targets = Targets::new(experiment, input)?;
    let Scenarios { load: mut scenarios, before, after } = Scenarios::new(&shared, &mut targets)?;
    let (tls, own_tls) = http::tls(experiment, input, &targets)?;
    let http = HttpPlan {
        proxy: proxy::proxy(&shared, &targets)?,
        dns: targets.renewal(),
        ..http::http(experiment, &scenarios)
    };
    let engine = feasibility::choose_engine(input.engine, &input.host.sockets)?;
    let addresses = http.proxy.as_ref().map_or_else(|| targets.addresses(), |proxy| proxy.addresses.clone());
    let room = feasibility::HostCapacity::new(
        input.host,
        &input.sources.ranges,
        &addresses,
        engine.choice,
        input.threads,
        feasibility::Transport::with_version(http.version, tls.is_some()),
    )?;
    let LoweredPhases { phases, threads, files, fewer, remarks } =
        load::loads(experiment, input, &mut scenarios, &http, &room, targets.len())?;
    let mut remarks: Vec<_> =
        http::dns_option_unused(experiment.http.dns, &http).into_iter().chain(remarks).collect();
    let begin =
        phases.iter().find(|phase| !phase.warmup).map_or(Nanos::ZERO, |_| load::warmup_offset(experiment));
    let longest = load::longest_timeout(&scenarios, &http);
    let mut plan = Plan {
        name: run_name(experiment),
        seed: experiment.seed.unwrap_or(SEED),
        targets: targets.into_plan(own_tls),
        drain: experiment
            .drain
            .as_ref()
            .map_or(wavetank_plan::constants::DRAIN_MIN.max(longest), |drain| drain.value),
        http,
        tls,
        sources: input.sources.clone(),
        scenarios,
        shared: SharedPlan {
            data: data::plans(&shared),
            counts: shared.counts.clone(),
            rendezvous: shared.rendezvous.clone(),
            descriptors: grpc::for_plan(shared.descriptors.as_ref()),
        },
        around: HooksPlan { before: before.map(Box::new), after: after.map(Box::new) },
        phases,
        threads,
        engine: engine.choice,
        files,
        open_rate: experiment
            .open_rate
            .unwrap_or(wavetank_units::Rate::per_second(wavetank_plan::constants::OPEN_RATE_PER_S)),
        late_tolerance: experiment.late_tolerance.unwrap_or(wavetank_plan::constants::LATE_TOLERANCE),
        thresholds: experiment.thresholds.iter().map(|at| at.value.clone()).collect(),
        stop: experiment.stop.iter().map(|at| at.value.clone()).collect(),
        under_test: experiment.under_test.iter().map(|host| host.value.clone()).collect(),
        events: experiment.event_plans(begin),
        tags: experiment.tags.iter().cloned().collect(),
    };
    grpc::expect_ok(&mut plan);
    name_whole_url(&mut plan);
    plan_checks::check_series(&plan)?;
    plan_checks::check_messages(&plan)?;
    plan_checks::check_streams(&plan)?;
    message::check_upgrades(experiment, &plan)?;
    let lacking = feasibility::shortfalls(&plan, &room, fewer, experiment.setting_names);
    remarks.extend(risks(&plan, input.host));
    Ok(LoweredPlan { plan, lacking, remarks, engine_why: engine.why })
}

/// A plan of one request shows its whole URL, as a run of that URL does.
fn name_whole_url(plan: &mut Plan) {
    let Plan { targets, scenarios, around, .. } = plan;
    let ([target], [scenario]) = (targets.as_mut_slice(), scenarios.as_slice()) else { return };
    let [step] = scenario.steps.as_slice() else { return };
    if around.before.is_some() || around.after.is_some() || step.request.method.is_empty() {
        return;
    }
    let (Some(path), Ok(url)) = (step.request.path.as_fixed(), TargetUrl::parse(&target.url)) else { return };
    target.url = TargetUrl { path: String::from_utf8_lossy(path).into_owned(), ..url }.url();
}

impl Experiment {
    /// Returns the events on hosts in order of time; `begin` is the start of the load on the file's
    /// clock.
    pub fn event_plans(&self, begin: Nanos) -> Vec<PlannedEvent> {
        let one = |event: &crate::model::Event| PlannedEvent {
            when: event.when - begin,
            host: event.host.value.clone(),
            run: event.run.clone(),
            undo: event.undo.clone(),
            lasts: event.lasts,
        };
        let mut events: Vec<PlannedEvent> = self.events.iter().map(one).collect();
        events.sort_by_key(|event| event.when);
        events
    }

    /// Returns which addresses the settings and `sources` leave.
    pub fn address_filter<'a>(&self, sources: &'a SourcesPlan) -> AddressFilter<'a> {
        AddressFilter {
            ip: self.http.ip,
            sources,
            proxy_protocol: self.http.proxy_protocol.is_some(),
            names: self.setting_names,
        }
    }

    /// Returns the host and port to resolve and connect to for `url`: its own, or those of
    /// `http.connect_to`.
    pub fn connect_point(&self, url: &TargetUrl) -> (String, u16) {
        let rule = self.http.connect_to.iter().find_map(|rule| rule.apply(url));
        rule.unwrap_or_else(|| (url.host.clone(), url.port))
    }
}
