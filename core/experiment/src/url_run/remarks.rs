//! Remarks on a run of one URL: defaults, and settings that look unintended.

use wavetank_plan::feasibility::port_search_note;
use wavetank_plan::{Condition, HostFacts, HttpVersion, Plan, RunOptions, TlsPlan, TlsResume};
use wavetank_units::Nanos;

/// Returns one line for each thing that a user should know before the numbers.
pub(super) fn remarks(plan: &Plan, options: &RunOptions, host: &HostFacts) -> Vec<String> {
    let mut remarks = Vec::new();
    request(options, plan, &mut remarks);
    if let Some(tls) = &plan.tls {
        let can_resume = !options.once && plan.http.version != HttpVersion::Http3;
        self::tls(tls, can_resume, &mut remarks);
    }
    remarks.extend(through_proxy(plan));
    remarks.extend(plan.thresholds.iter().chain(&plan.stop).filter_map(|one| window_too_long(plan, one)));
    remarks.extend(port_search_note(plan, host));
    remarks
}

/// Adds notes about the request that look unintended.
fn request(options: &RunOptions, plan: &Plan, remarks: &mut Vec<String>) {
    if options.body.is_some() && options.method.is_none() {
        remarks.push("method POST, because there is a body (-X changes it)".to_owned());
    }
    let request = &plan.scenarios[0].steps[0].request;
    let typed = request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if !typed && request.body.as_fixed().is_some_and(|body| body.starts_with(b"{")) {
        remarks.push("the body looks like JSON: -H 'Content-Type: application/json'?".to_owned());
    }
}

/// Adds notes about TLS that are needed to read the numbers.
fn tls(plan: &TlsPlan, can_resume: bool, remarks: &mut Vec<String>) {
    if can_resume {
        remarks.push(
            match plan.resume {
                TlsResume::Never => {
                    "every TLS handshake is a full one (--tls-resume user or shared resumes sessions)"
                }
                TlsResume::User => "TLS sessions are resumed, each user its own",
                TlsResume::Shared => {
                    "TLS sessions are resumed from one cache for all connections of a load thread"
                }
            }
            .to_owned(),
        );
    }
    if !plan.verify {
        remarks.push(
            "--insecure: certificates are not verified, so the target's identity is not proven".to_owned(),
        );
    }
}

/// The proxy's time is in every number, and the numbers do not show it.
fn through_proxy(plan: &Plan) -> Option<String> {
    let proxy = plan.http.proxy.as_ref()?;
    Some(format!("all connections go through {}: all measured times include it", proxy.url))
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
