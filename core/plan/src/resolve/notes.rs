//! Things about a plan that are allowed but look unintended.

use wavetank_units::Nanos;
use wavetank_units::quantity::format_grouped;

use crate::{
    Condition, DnsPolicy, HostFacts, HttpPlan, Load, Op, Plan, RequestCounter, Subject, delay_in_path,
};

/// Adds one line for each thing that looks unintended.
pub(super) fn plan_warnings(plan: &Plan, host: &HostFacts, remarks: &mut Vec<String>) {
    remarks.extend(through_proxy(plan));
    for condition in &plan.thresholds {
        remarks.extend(upside_down(condition));
        remarks.extend(too_few_samples(plan, condition));
        remarks.extend(window_too_long(plan, condition));
    }
    remarks.extend(plan.stop.iter().filter_map(|condition| window_too_long(plan, condition)));
    remarks.extend(slower_than_timeout(plan));
    remarks.extend(port_search_note(plan, host));
}

/// Looking names up again was asked for where every target is an address.
pub fn dns_option_unused(asked: Option<DnsPolicy>, http: &HttpPlan) -> Option<String> {
    let asked = asked.filter(|asked| *asked != DnsPolicy::Once && http.dns.is_none());
    asked.map(|_| "no name is looked up again: the target is given as an address".to_owned())
}

/// The proxy's time is in every number, and the numbers do not show it.
fn through_proxy(plan: &Plan) -> Option<String> {
    let proxy = plan.http.proxy.as_ref()?;
    Some(format!("all connections go through {}: all measured times include it", proxy.url))
}

/// Share of one source's ports, in percent, above which the kernel searches long for a free port.
/// It takes 0.5 ms per connection at 60 %, and 4 ms or more near the end of the range (measured).
const PORTS_USED_PERCENT: u64 = 60;

/// Warns if the kernel chooses the source port and most ports will be in use. A closed load is not
/// checked, because its rate of new connections is not known in advance.
pub fn port_search_note(plan: &Plan, host: &HostFacts) -> Option<String> {
    if !plan.sources.is_empty() {
        return None;
    }
    let targets = || plan.targets.iter().flat_map(|target| &target.addresses);
    let pairs = host.ports.count().saturating_mul(targets().count() as u64);
    // On loopback Linux takes a port in TIME_WAIT again after a second.
    let rest_s = if targets().all(|target| target.ip().is_loopback()) { 1.0 } else { 60.0 };
    let used = plan.phases.iter().map(|phase| match &phase.load {
        Load::Open { rate, .. } if !plan.http.keepalive => (rate.max().as_per_second() * rest_s) as u64,
        _ if phase.open_before => phase.connections,
        _ => 0,
    });
    let used = used.max()?;
    (used.saturating_mul(100) > pairs.saturating_mul(PORTS_USED_PERCENT)).then(|| {
        format!(
            "{} of the {} pairs of address and port will be in use: connecting gets slow, because the kernel searches \
             for a free port; --source auto avoids that",
            format_grouped(used.min(pairs)),
            format_grouped(pairs)
        )
    })
}

/// Warns about a threshold such as `p99 > 250ms`, which requires that the target is slow.
fn upside_down(condition: &Condition) -> Option<String> {
    let bad_when_high = matches!(
        &condition.subject,
        Subject::Percentile(..)
            | Subject::Mean(..)
            | Subject::Max(..)
            | Subject::Errors(_)
            | Subject::ConnectionsFailed
            | Subject::Lost
            | Subject::Requests(RequestCounter::Failed | RequestCounter::Late | RequestCounter::Dropped, _)
    );
    let below = match condition.op {
        Op::Greater => "<",
        Op::GreaterEqual => "<=",
        _ => return None,
    };
    let above = if below == "<" { ">" } else { ">=" };
    bad_when_high.then(|| {
        let turned = condition.text.replacen(above, below, 1);
        format!(
            "`{}`: a threshold says what must be true: {turned}? (stop conditions say what must not be true)",
            condition.text
        )
    })
}

/// Warns if the plan cannot send enough requests for a percentile to be decided. A percentile needs
/// ten samples above it.
fn too_few_samples(plan: &Plan, condition: &Condition) -> Option<String> {
    let Subject::Percentile(percentile, ..) = condition.subject else { return None };
    let sends = offered_at_most(plan)?;
    let needs = (10.0 / (1.0 - percentile / 100.0)).round() as u64;
    (sends < needs).then(|| {
        format!(
            "`{}` needs about {} samples; the plan sends {}: it may stay undecided",
            condition.text,
            format_grouped(needs),
            format_grouped(sends)
        )
    })
}

/// Requests offered by the measured phases, where that is known beforehand.
fn offered_at_most(plan: &Plan) -> Option<u64> {
    let of_phase = |phase: &crate::Phase| {
        let end = phase.end().filter(|_| phase.load.is_open());
        let by_rate = end.and_then(|end| phase.sessions_between(phase.start, end));
        [by_rate, phase.requests_max].into_iter().flatten().min()
    };
    plan.phases.iter().filter(|phase| !phase.warmup).map(of_phase).sum()
}

/// A window longer than the load never fills.
fn window_too_long(plan: &Plan, condition: &Condition) -> Option<String> {
    let window = condition.window?;
    let judged = plan.phases.iter().filter(|phase| !phase.warmup);
    let length = judged.map(|phase| phase.length.map(|length| length.0)).sum::<Option<i64>>().map(Nanos)?;
    (window > length).then(|| {
        let text = &condition.text;
        format!(
            "`{text}`: the load lasts {length}, so the window never fills and the condition is never decided"
        )
    })
}

/// A path that names its own delay, longer than the request timeout.
fn slower_than_timeout(plan: &Plan) -> Option<String> {
    let timeout = plan.http.timeout;
    plan.scenarios.iter().flat_map(|scenario| &scenario.steps).find_map(|step| {
        let delay = delay_in_path(&step.request.path.shown()).filter(|delay| *delay >= timeout)?;
        Some(format!(
            "`{}` answers after {delay} and the timeout is {timeout}: every request will fail; raise --timeout",
            step.request.path.shown()
        ))
    })
}
