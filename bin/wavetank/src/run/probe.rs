//! [`probe`]: sends the one uncounted request before a run, which the record describes.

use std::sync::Arc;

use wavetank_driver::{Clock, Signals, TlsClient};
use wavetank_engine::{Probe, ProbeAnswer, ProbeFailure};
use wavetank_plan::{HttpVersion, Nanos, Plan, StatusSet};
use wavetank_record::{Number, Probe as ProbeDoc, Setup};

use super::Host;

/// What the probe found.
pub(crate) struct ProbeResult {
    /// For the record.
    pub(crate) doc: Option<ProbeDoc>,
    /// For the record.
    pub(crate) setup: Setup,
    /// From sending the request until the answer was complete.
    pub(crate) latency: Option<Nanos>,
    /// Why there is no point in going on.
    pub(crate) failure: Option<ProbeFailure>,
    /// What to do about an answer that the plan does not expect.
    pub(crate) cure: Option<String>,
}

/// Whether a request of this method may be sent just to look (RFC 9110 §9.2.1: safe methods).
pub(crate) fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS")
}

impl ProbeResult {
    /// No probe was sent.
    pub(crate) fn none() -> Self {
        Self { doc: None, setup: Setup::default(), latency: None, failure: None, cure: None }
    }
}

/// Send it and wait for the answer.
pub(crate) fn probe(
    plan: &Plan,
    clock: Clock,
    host: &Host,
    tls: Option<Arc<TlsClient>>,
    signals: Signals,
) -> ProbeResult {
    match Probe::new(plan, clock, host.found.features, host.source_ports(), tls)
        .run(&|| signals.received() > 0)
    {
        Ok(answer) => ProbeResult {
            doc: Some(answered(plan, &answer)),
            setup: Setup { sent: 1, done: 1, failed: 0 },
            latency: Some(answer.complete - answer.sent),
            failure: None,
            cure: hint_for_unexpected_answer(plan, &answer)
                .map(|cure| format!("the probe was answered with status {}: {cure}", answer.status)),
        },
        Err(failure) => {
            let request = &plan.scenarios[0].steps[0].request;
            let doc = ProbeDoc {
                method: request.method.clone(),
                path: request.path.shown(),
                address: failure.address.to_string(),
                time_us: Number::micros(failure.waited.0.unsigned_abs()),
                error: failure.detail.clone(),
                ..ProbeDoc::default()
            };
            let sent = u64::from(failure.sent);
            let setup = Setup { sent, done: 0, failed: 1 };
            ProbeResult { doc: Some(doc), setup, latency: None, failure: Some(failure), cure: None }
        }
    }
}

fn answered(plan: &Plan, answer: &ProbeAnswer) -> ProbeDoc {
    let request = &plan.scenarios[0].steps[0].request;
    let media = answer.content_type.as_deref().unwrap_or_default();
    ProbeDoc {
        method: request.method.clone(),
        path: request.path.shown(),
        status: answer.status,
        body_bytes: answer.body_bytes,
        content_type: media.split(';').next().unwrap_or_default().trim().to_owned(),
        version: match answer.version {
            HttpVersion::Http10 => "HTTP/1.0",
            HttpVersion::Http11 => "HTTP/1.1",
        }
        .to_owned(),
        address: answer.address.to_string(),
        time_us: Number::micros(answer.complete.since(answer.begun)),
        error: String::new(),
    }
}

/// What to do about an answer that is not what was asked for.
pub(crate) fn hint_for_unexpected_answer(plan: &Plan, answer: &ProbeAnswer) -> Option<String> {
    let https = plan.tls.is_none() && wants_tls(answer);
    if https {
        return Some("the target requires TLS on this port: use https:// instead of http://".to_owned());
    }
    of_status(answer.status, &plan.http.expect, answer.location.as_deref())
}

/// nginx and Apache answer plain HTTP on a TLS port with a specific response of status 400.
fn wants_tls(answer: &ProbeAnswer) -> bool {
    let body = String::from_utf8_lossy(&answer.body);
    answer.status == 400 && ["HTTPS port", "SSL-enabled server port"].iter().any(|words| body.contains(words))
}

/// Returns a hint for a response with an unexpected status.
fn of_status(status: u16, expect: &StatusSet, location: Option<&str>) -> Option<String> {
    if expect.contains(status) {
        // A user who lists status codes needs no hint. By default, however, a redirect counts as
        // success.
        let told = *expect != StatusSet::default_expected() || !(300..400).contains(&status);
        return location
            .filter(|_| !told)
            .map(|location| format!("redirects are not followed; to load where it leads: {location}"));
    }
    Some(match status {
        301 | 302 | 303 | 307 | 308 => match location {
            Some(location) => format!("the target redirects: load {location} instead"),
            None => "the target redirects: load the address it names instead".to_owned(),
        },
        401 => "the target requires authentication: use --basic USER:PASSWORD, or -H 'Authorization: …'"
            .to_owned(),
        407 => {
            "the proxy requires authentication: --proxy http://USER:PASSWORD@HOST:PORT, or @FILE with that"
                .to_owned()
        }
        403 => format!("the target forbids it; if that is what you test: --expect-status {status}"),
        404 => format!("there is no such path; if that is what you test: --expect-status {status}"),
        405 => "the target does not accept this method here: use -X METHOD".to_owned(),
        429 => "the target limits the rate of requests".to_owned(),
        _ => format!("if this is the response you expect: --expect-status {status}"),
    })
}
