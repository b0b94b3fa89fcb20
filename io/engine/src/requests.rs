//! [`Requests`]: every step's request, rendered once.

use std::sync::Arc;

use wavetank_plan::{HttpVersion, Plan, Template};
use wavetank_wire::h1::{RequestParts, render_request};

/// One step's request as it goes over the wire.
pub(crate) struct Rendered {
    pub(crate) bytes: Arc<[u8]>,
    /// The answer has no body.
    pub(crate) head: bool,
    /// May be sent again on another connection (RFC 9110 §9.2.2).
    pub(crate) idempotent: bool,
    /// Index into the plan's targets.
    pub(crate) target: u16,
}

/// All steps' requests, by scenario and step.
pub(crate) struct Requests {
    scenarios: Vec<Vec<Rendered>>,
}

impl Requests {
    pub(crate) fn render(plan: &Plan) -> Self {
        let scenarios = plan.scenarios.iter().map(|scenario| {
            scenario.steps.iter().map(|step| {
                let request = &step.request;
                let headers: Vec<_> =
                    request.headers.iter().map(|(name, value)| (name.as_str(), fixed_text(value))).collect();
                let bytes = render_request(&RequestParts {
                    method: &request.method,
                    target: fixed_text(&request.path),
                    http_10: plan.http.version == HttpVersion::Http10,
                    host: &plan.targets[step.target].host,
                    keep_alive: plan.http.keepalive,
                    headers: &headers,
                    body: request.body.as_fixed().unwrap_or_default(),
                });
                let method = request.method.as_str();
                Rendered {
                    bytes: bytes.into(),
                    head: method == "HEAD",
                    idempotent: matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE"),
                    target: u16::try_from(step.target).expect("the plan limits targets"),
                }
            })
        });
        Self { scenarios: scenarios.map(Iterator::collect).collect() }
    }

    #[inline]
    pub(crate) fn get(&self, scenario: u16, step: u16) -> &Rendered {
        &self.scenarios[usize::from(scenario)][usize::from(step)]
    }
}

/// What a step without holes sends.
fn fixed_text(template: &Template) -> &str {
    template.as_fixed().and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
}
