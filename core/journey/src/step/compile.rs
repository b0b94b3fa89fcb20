//! Compiles a [`CompiledStep`] from a step of the plan.

use wavetank_plan::{AuthPlan, Plan, StatusSet, Step, UserError};

use super::{CompiledExtract, CompiledStep, FollowUpConfig, Retain};
use crate::auth::Credentials;
use crate::compiled_check::CompiledCheck;
use crate::extract::Extractor;
use crate::follow_up::is_idempotent;
use crate::request_template::RequestTemplate;
use crate::target_matcher::TargetMatcher;

impl CompiledStep {
    /// Compiles `step`. `cookies`: whether the users of its scenario keep cookies.
    ///
    /// # Errors
    /// If a path, selector or expression is invalid.
    pub fn new(step: &Step, plan: &Plan, cookies: bool) -> Result<Self, UserError> {
        let taken = |extract: &wavetank_plan::Extract| {
            let extractor = Extractor::parse(&extract.from)?;
            Ok::<_, UserError>(CompiledExtract { variable: extract.variable, extractor, all: extract.all })
        };
        let extract: Vec<_> = step.extract.iter().map(taken).collect::<Result<_, _>>()?;
        let checks: Vec<_> = step.checks.iter().map(CompiledCheck::new).collect::<Result<_, _>>()?;
        let counts: Vec<_> = step
            .counts
            .iter()
            .map(|(count, check)| Ok::<_, UserError>((*count, CompiledCheck::new(check)?)))
            .collect::<Result<_, _>>()?;
        let asked = || checks.iter().chain(counts.iter().map(|(_, asked)| asked));
        let looks = !extract.is_empty() || !checks.is_empty() || !counts.is_empty();
        let looks_inside = extract.iter().any(|taken| taken.extractor.needs_body())
            || asked().any(CompiledCheck::needs_body);
        let target = &plan.targets[step.target];
        // A check of the status replaces the default expectation.
        let status_checked = checks.iter().any(CompiledCheck::checks_status);
        let method = step.request.method.clone();
        let credentials = Credentials::for_step(step, plan);
        let afield = FollowUpConfig::of(step, plan, credentials.is_some());
        Ok(Self {
            name: step.name.clone(),
            target: u16::try_from(step.target).expect("the plan limits targets"),
            timeout: step.timeout.unwrap_or(plan.http.timeout),
            head: method == "HEAD",
            idempotent: is_idempotent(&method),
            host: without_port(&target.host).to_ascii_lowercase(),
            secure: target.server_name.is_some(),
            shape: RequestTemplate::new(step, plan),
            expect: if status_checked {
                StatusSet(vec![(100, 999)])
            } else {
                step.expect.clone().unwrap_or_else(|| plan.http.expect.clone())
            },
            keeps: Retain {
                fields: looks || afield.is_some(),
                body: looks_inside,
                page: afield.as_ref().is_some_and(|afield| afield.resources),
                cookies,
            },
            method,
            credentials,
            afield,
            extract,
            checks,
            counts,
        })
    }
}

impl FollowUpConfig {
    /// Returns `None` if every request is one message. Raw bytes have no follow-ups.
    fn of(step: &Step, plan: &Plan, answers_challenges: bool) -> Option<Box<Self>> {
        let request = &step.request;
        let is_raw = request.method.is_empty();
        if is_raw || !(step.follow > 0 || step.resources || answers_challenges) {
            return None;
        }
        debug_assert!(
            !answers_challenges || matches!(step.auth, Some(AuthPlan::Digest(..))),
            "only digests answer"
        );
        Some(Box::new(Self {
            places: TargetMatcher::new(plan),
            follow: step.follow,
            resources: step.resources,
            expect_resource: plan.http.expect.clone(),
            secrets: request.secret_headers.clone(),
        }))
    }
}

/// Returns the host of a `Host` field; an IPv6 address stays in brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}
