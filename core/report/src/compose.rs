//! [`compose`]: builds the record from measurements and diagnosis. No decision is made here.

use std::collections::BTreeMap;

use wavetank_diagnose::{Diagnosis, HookResult};
use wavetank_measure::{
    DropReason, HandshakeParams, Histogram, Impact, Observations, RequestCounters, Selection,
    ThresholdResult, Totals, TotalsView,
};
use wavetank_plan::{Plan, Scenario, Value};
use wavetank_record::{
    Bytes, ChangeDoc, ConnectionMemory, EnvironmentDoc, EventKind, EventLine, Finding, FixDoc, Generator,
    Messages, Number, Packets, PhaseDoc, Pings, RUN_SCHEMA, RateDoc, Requests, RunRecord, SampleLine, Setup,
    Spread, StepDoc, Threshold, Times, TlsDoc, VerdictDoc, Warmup, Wire,
};
use wavetank_units::{Nanos, Sentence};

use crate::counts::{by_class, occurred};
use crate::cut_short::cut_short;
use crate::next_steps::next_steps;
use crate::threshold_state::reason;
use crate::{hold, hosts, impacts, journeys, limits};

/// Everything that a record consists of.
#[derive(Clone, Copy, Debug)]
pub struct Composition<'a> {
    /// The plan of the run.
    pub plan: &'a Plan,
    /// SHA-256 of `plan.yaml`.
    pub plan_hash: &'a str,
    /// Id, command, start, load, probe: everything known before the first packet.
    pub environment: &'a EnvironmentDoc,
    /// The measurements.
    pub totals: &'a Totals,
    /// Observations other than the load itself.
    pub observed: &'a Observations,
    /// Results of the thresholds.
    pub thresholds: &'a [ThresholdResult],
    /// The diagnosis of the measurements.
    pub diagnosis: &'a Diagnosis,
    /// CPU time in user mode and in the kernel, in seconds; zeros if unknown.
    pub cpu_s: (f64, f64),
    /// Peak resident memory in bytes.
    pub peak_rss_bytes: u64,
    /// Memory per connection, if it was measured.
    pub connection_memory: Option<ConnectionMemory>,
    /// Requests of the probe.
    pub setup: Setup,
    /// Result of the run's `before`.
    pub before: &'a HookResult,
    /// Result of the run's `after`.
    pub after: &'a HookResult,
    /// Examples: failed requests and slow ones.
    pub samples: &'a [SampleLine],
    /// The events of the run.
    pub events: &'a [EventLine],
    /// The effect of the plan's events on clients.
    pub impacts: &'a [Impact],
}

/// The record of a run.
pub fn compose(parts: &Composition<'_>) -> RunRecord {
    let Composition { plan, environment, totals, diagnosis, .. } = *parts;
    let judged = totals.view(Selection::Judged);
    let mut record = RunRecord {
        schema: RUN_SCHEMA.to_owned(),
        name: plan.name.clone(),
        id: environment.id.clone(),
        version: environment.version.clone(),
        command: environment.command.clone(),
        seed: plan.seed,
        plan_hash: parts.plan_hash.to_owned(),
        started_at: environment.started_at.clone(),
        duration_s: Number(judged.duration.as_secs_f64()),
        cut_short: cut_short(plan, diagnosis, judged.duration),
        verdict: verdict(diagnosis),
        connections: hold::connections(totals),
        connections_failed_by: by_class(&totals.conns.failed_by),
        connections_lost_by: by_class(&totals.conns.lost_by),
        held: hold::held(plan, totals, parts.observed, parts.environment.lab.is_some()),
        bytes: Bytes { sent: totals.bytes.sent, received: totals.bytes.received },
        packets: packets(totals),
        generator: generator(parts),
        thresholds: parts.thresholds.iter().map(threshold).collect(),
        phases: phases(plan, totals),
        scenarios: scenarios(plan, totals),
        steps: steps(plan, totals),
        warmup: warmup(plan, totals),
        setup: journeys::setup(parts.setup, parts.before, parts.after),
        before: journeys::loop_doc(parts.before),
        after: journeys::loop_doc(parts.after),
        sessions: journeys::sessions(plan, totals, Selection::Judged),
        sessions_dropped_by: journeys::sessions_dropped_by(plan, totals),
        checks: journeys::checks(plan, totals),
        counts: journeys::counts(plan, totals),
        groups: journeys::groups(plan, totals),
        rendezvous: journeys::rendezvous(plan, totals),
        samples: parts.samples.to_vec(),
        impacts: impacts::docs(plan, parts.events, parts.impacts),
        rehearsal: environment.rehearsal.clone(),
        events: parts.events.to_vec(),
        modified: parts.events.iter().any(|event| event.load_change().is_some()),
        changes: changes(plan, parts.events),
        findings: diagnosis.findings.iter().map(finding).collect(),
        notes: diagnosis.notes.clone(),
        target: plan.targets.iter().map(|target| target.url.as_str()).collect::<Vec<_>>().join(", "),
        load: environment.load.clone(),
        probe: environment.probe.clone(),
        tags: plan.tags.clone(),
        tls: tls(totals),
        ..measured(&judged)
    };
    let warm = record.warmup.wire.map_or(0, |wire| wire.sent);
    record.hosts = hosts::hosts(environment, (parts.observed, totals), record.wire.sent + warm);
    record.nearest_limit = limits::nearest(&record.hosts);
    let reasons: Vec<_> =
        record.thresholds.iter().map(|one| Sentence::quoted(reason(&record, one))).collect();
    for (threshold, why) in record.thresholds.iter_mut().zip(reasons) {
        threshold.why = why;
    }
    record.next = next_steps(&record);
    record
}

/// The changes of the load while it ran.
fn changes(plan: &Plan, events: &[EventLine]) -> Vec<ChangeDoc> {
    let changed = events.iter().filter_map(|event| {
        let load = event.load.filter(|_| event.kind == EventKind::LoadChanged)?;
        let phase = plan.phases.get(usize::from(event.phase?))?;
        let at_s = Number(Nanos(event.at_ns).as_secs_f64());
        Some(ChangeDoc { at_s, phase: phase.name.clone(), load })
    });
    changed.collect()
}

/// The part of a record that one view fills.
fn measured(view: &TotalsView) -> RunRecord {
    RunRecord {
        requests: requests(view),
        dropped_by: occurred(&DropReason::ALL.map(DropReason::name), &view.counters.dropped_by),
        rate: rate(view),
        errors: errors(view),
        status: view.status.0.iter().copied().collect(),
        wire: wire(view),
        response_us: response(view),
        service_us: times(&view.service, 0, None),
        lag_us: times(&view.lag, 0, Some(view)),
        wait_us: times(&view.wait, 0, None),
        connect_us: times(&view.connect, 0, None),
        tls_us: times(&view.tls, 0, None),
        hello_us: times(&view.hello, 0, None),
        ping_us: times(&view.ping, 0, None),
        messages: messages(view),
        pings: (view.pings_sent > 0).then(|| Pings { sent: view.pings_sent, answered: view.ping.count() }),
        ttfb_us: times(&view.ttfb, 0, None),
        transfer_us: times(&view.transfer, 0, None),
        failed_us: times(&view.failed, 0, None),
        ..RunRecord::default()
    }
}

fn errors(view: &TotalsView) -> BTreeMap<String, u64> {
    by_class(&view.counters.errors)
}

fn requests(view: &TotalsView) -> Requests {
    let RequestCounters { offered, sent, done, late, .. } = view.counters;
    let (failed, dropped) = (view.counters.failed(), view.counters.dropped());
    Requests { offered, sent, done, failed, late, dropped, open: view.open }
}

fn rate(view: &TotalsView) -> RateDoc {
    RateDoc { offered_per_s: Number(view.offered_per_s()), done_per_s: Number(view.done_per_s()) }
}

fn wire(view: &TotalsView) -> Wire {
    let wavetank_measure::WireCounters { sent, retried, redirected, resources, one_way } = view.wire;
    Wire { sent, retried, redirected, resources, one_way }
}

fn packets(totals: &Totals) -> Option<Packets> {
    let wavetank_measure::PacketCounters { sent, lost } = totals.packets;
    (sent > 0).then_some(Packets { sent, lost })
}

fn messages(view: &TotalsView) -> Option<Messages> {
    let wavetank_measure::MessageCounters { sent, received } = view.messages;
    (sent + received > 0).then_some(Messages { sent, received })
}

fn response(view: &TotalsView) -> Times {
    times(&view.response, view.censored(), Some(view))
}

/// Returns the percentile block of `histogram`. `dropped` is the view with the drops that make
/// percentiles unknown, for times that start at the intended instant.
pub(crate) fn times(histogram: &Histogram, censored: u64, dropped: Option<&TotalsView>) -> Times {
    if histogram.is_empty() {
        return Times::default();
    }
    let [p50, p75, p90, p95, p99, p99_9, p99_99] =
        Spread::PERCENTILES.map(|(_, q)| Number::micros(histogram.percentile(q).unwrap_or_default()));
    let listed = |holds: &dyn Fn(f64) -> bool| {
        Spread::PERCENTILES.iter().filter(|&&(_, q)| holds(q)).map(|&(name, _)| name.to_owned()).collect()
    };
    let spread = Spread {
        censored,
        clipped: histogram.clipped(),
        min: Number::micros(histogram.min()),
        mean: Number(histogram.mean() / 1e3),
        p50,
        p75,
        p90,
        p95,
        p99,
        p99_9,
        p99_99,
        max: Number::micros(histogram.max()),
        uncertain: listed(&|q| histogram.is_uncertain(q)),
        unknown: listed(&|q| dropped.is_some_and(|view| view.is_unknown(q))),
    };
    Times { count: histogram.count(), spread: Some(spread) }
}

fn phases(plan: &Plan, totals: &Totals) -> Vec<PhaseDoc> {
    let judged = plan.phases.iter().enumerate().filter(|(_, phase)| !phase.warmup);
    judged
        .map(|(index, phase)| {
            let view = totals.view(Selection::Phase(index as u16));
            PhaseDoc {
                name: phase.name.clone(),
                start_s: Number(phase.start.as_secs_f64()),
                duration_s: Number(view.duration.as_secs_f64()),
                requests: requests(&view),
                rate: rate(&view),
                response_us: response(&view),
                lag_us: times(&view.lag, 0, Some(&view)),
                wait_us: times(&view.wait, 0, None),
                errors: errors(&view),
                sessions: journeys::sessions(plan, totals, Selection::Phase(index as u16)),
                connections: hold::phase_connections(totals, index as u16),
            }
        })
        .collect()
}

fn scenarios(plan: &Plan, totals: &Totals) -> Vec<StepDoc> {
    let doc = |(index, scenario): (u16, &Scenario)| {
        let selection = Selection::Scenario(index);
        let sessions = Some(journeys::sessions(plan, totals, selection));
        StepDoc { sessions, ..scope(&scenario.name, &totals.view(selection)) }
    };
    (0_u16..).zip(&plan.scenarios).map(doc).collect()
}

fn steps(plan: &Plan, totals: &Totals) -> Vec<StepDoc> {
    let mut docs = Vec::new();
    for (number, scenario) in plan.scenarios.iter().enumerate() {
        for (index, step) in scenario.steps.iter().enumerate() {
            let view = totals.view(Selection::Step(number as u16, index as u16));
            docs.push(StepDoc { scenario: scenario.name.clone(), ..scope(&step.name, &view) });
        }
    }
    docs
}

fn scope(name: &str, view: &TotalsView) -> StepDoc {
    StepDoc {
        name: name.to_owned(),
        requests: requests(view),
        response_us: response(view),
        service_us: times(&view.service, 0, None),
        errors: errors(view),
        status: view.status.0.iter().copied().collect(),
        ..StepDoc::default()
    }
}

fn warmup(plan: &Plan, totals: &Totals) -> Warmup {
    if !plan.phases.iter().any(|phase| phase.warmup) {
        return Warmup::default();
    }
    let view = totals.view(Selection::Warmup);
    Warmup { requests: Some(requests(&view)), wire: Some(wire(&view)), response_us: Some(response(&view)) }
}

/// TLS parameters negotiated, from the counts of the run; `None` if there was no handshake.
fn tls(totals: &Totals) -> Option<TlsDoc> {
    let handshakes = totals.handshakes();
    if handshakes.is_empty() {
        return None;
    }
    let by = |name: fn(&HandshakeParams) -> &str| {
        let mut counts = BTreeMap::new();
        for (agreed, n) in handshakes.complete.iter().filter(|(agreed, _)| !name(agreed).is_empty()) {
            *counts.entry(name(agreed).to_owned()).or_insert(0) += n;
        }
        counts
    };
    Some(TlsDoc {
        handshakes: handshakes.count(),
        resumed: handshakes.resumed(),
        failed: handshakes.failed,
        version: by(|agreed| &agreed.version),
        cipher: by(|agreed| &agreed.cipher),
        group: by(|agreed| &agreed.group),
        alpn: by(|agreed| &agreed.alpn),
    })
}

fn generator(parts: &Composition<'_>) -> Generator {
    Generator {
        cpu_user_s: Number(parts.cpu_s.0),
        cpu_system_s: Number(parts.cpu_s.1),
        peak_rss_bytes: peak_rss_bytes(parts),
        threads: parts.plan.threads,
        engine: parts.environment.engine.clone(),
        cpu_over_s: (parts.cpu_s.0 + parts.cpu_s.1 > 0.0)
            .then(|| parts.totals.span())
            .filter(|length| length.0 > 0)
            .map(|length| Number(length.as_secs_f64())),
        connection_memory: parts.connection_memory,
        busiest_thread: Number((parts.totals.busy_share_max.min(1.0) * 1e4).round() / 1e4),
    }
}

/// Returns the peak resident memory; 0 if unknown. The kernel updates its own peak with a delay, so
/// a sample may have found more.
fn peak_rss_bytes(parts: &Composition<'_>) -> u64 {
    match parts.peak_rss_bytes {
        0 => 0,
        reported => reported.max(parts.observed.rss_max_bytes()),
    }
}

fn verdict(diagnosis: &Diagnosis) -> VerdictDoc {
    VerdictDoc {
        status: diagnosis.verdict.status,
        reasons: diagnosis.verdict.reasons.clone(),
        blame: diagnosis.verdict.blame,
        headline: diagnosis.headline.clone(),
        exit: diagnosis.exit as u8,
    }
}

fn finding(finding: &wavetank_diagnose::Finding) -> Finding {
    Finding {
        code: finding.code.to_string(),
        blame: finding.blame,
        decisive: finding.decisive,
        message: finding.message.clone(),
        evidence: finding.evidence.clone(),
        hint: finding.hint.clone(),
        confidence: finding.code.confidence().to_owned(),
        fix: finding.fix.iter().map(fix).collect(),
    }
}

fn fix(fix: &wavetank_diagnose::Fix) -> FixDoc {
    FixDoc {
        text: fix.text(),
        host: fix.host.clone(),
        configured: fix.configured.name().to_owned(),
        section: fix.section.clone(),
        action: fix.action.name().to_owned(),
        directive: fix.directive.clone(),
        value: fix.value.clone(),
    }
}

fn threshold(result: &ThresholdResult) -> Threshold {
    let (unit, scale) = match result.condition.value {
        Value::Time(_) => ("us", 1e-3),
        Value::Count(_) => ("count", 1.0),
        Value::PerSecond(_) => ("per_s", 1.0),
        Value::Share(_) => ("share", 1.0),
        Value::Bytes(_) => ("bytes", 1.0),
        Value::BitsPerSecond(_) => ("bits_per_s", 1.0),
    };
    Threshold {
        expr: result.expr.clone(),
        value: result.value.map(|value| Number(value * scale)),
        ok: result.ok,
        implicit: result.implicit,
        unit: unit.to_owned(),
        why: result.why.clone().unwrap_or_default(),
    }
}
