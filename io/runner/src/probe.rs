//! [`probe`]: sends the uncounted request before a run, which the record describes.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_driver::{Clock, Signals, TlsClient};
use wavetank_engine::{Probe, ProbeAnswer, ProbeFailure};
use wavetank_journey::auth::{Challenge, ChallengeFault};
use wavetank_plan::{HttpVersion, Plan, StatusSet};
use wavetank_record::{Number, Probe as ProbeDoc, Setup};
use wavetank_units::{Nanos, Sentence, address_text, phrase, sentence};

use super::Host;

/// What the probe found.
pub(crate) struct ProbeResult {
    /// For the record.
    pub(crate) doc: Option<ProbeDoc>,
    /// For the record.
    pub(crate) setup: Setup,
    /// From sending the request until the answer was complete; of several, the shortest.
    pub(crate) latency: Option<Nanos>,
    /// Why there is no point in going on.
    pub(crate) failure: Option<ProbeFailure>,
    /// What to do about an answer that the plan does not expect.
    pub(crate) cure: Option<Sentence>,
    /// Addresses to which no connection could be made, if there are others, with the reason.
    pub(crate) unreached: Vec<(SocketAddr, String)>,
}

/// Whether a request of this method may be sent just to look (RFC 9110 §9.2.1: safe methods).
pub(crate) fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS")
}

impl ProbeResult {
    /// No probe was sent.
    pub(crate) fn none() -> Self {
        Self {
            doc: None,
            setup: Setup::default(),
            latency: None,
            failure: None,
            cure: None,
            unreached: Vec::new(),
        }
    }

    /// Returns the plan of the load: it leaves out addresses that cannot be reached.
    pub(crate) fn reached(&self, plan: Arc<Plan>) -> Arc<Plan> {
        if self.unreached.is_empty() {
            return plan;
        }
        let unreached: Vec<_> = self.unreached.iter().map(|(address, _)| *address).collect();
        Arc::new(Plan::clone(&plan).without_addresses(&unreached))
    }

    /// Returns notes: addresses that are left out, and what to do about an unexpected answer.
    pub(crate) fn notes(&self) -> impl Iterator<Item = Sentence> {
        let left_out = self.unreached.iter().map(|(address, detail)| {
            let address = address_text(*address);
            sentence!("no load goes to {address}, because the probe could not connect to it: {detail}")
        });
        left_out.chain(self.cure.clone())
    }
}

/// Sends it and waits for the answer. If the step's target has several addresses, each gets one.
///
/// The result is the first that is more than a failure to connect. The others only say which
/// addresses the load must leave out.
pub(crate) fn probe(
    plan: &Plan,
    clock: Clock,
    host: &Host,
    tls: Option<&Arc<TlsClient>>,
    signals: Signals,
) -> ProbeResult {
    let target = &plan.targets[plan.scenarios[0].steps[0].target];
    let addresses = plan.connect_addresses(target);
    if addresses.len() < 2 {
        return probe_one(plan, clock, host, tls.cloned(), signals);
    }
    let (mut first, mut none, mut unreached, mut setup) = (None, None, Vec::new(), Setup::default());
    for &address in addresses.iter().take(ADDRESSES_PROBED_MAX) {
        let others: Vec<_> = addresses.iter().copied().filter(|&other| other != address).collect();
        let mut one = plan.clone().without_addresses(&others);
        let share = Nanos(plan.http.connect_timeout.0 / addresses.len() as i64);
        one.http.connect_timeout = share.max(CONNECT_TIME_MIN).min(plan.http.connect_timeout);
        let probed = probe_one(&one, clock, host, tls.cloned(), signals);
        setup.sent += probed.setup.sent;
        setup.done += probed.setup.done;
        setup.failed += probed.setup.failed;
        match &probed.failure {
            _ if signals.received() > 0 => return ProbeResult { setup, ..probed },
            Some(failure) if failure.unreached => {
                unreached.push((address, failure.detail.clone()));
                none = none.or(Some(probed));
            }
            _ => first = first.or(Some(probed)),
        }
    }
    match (first, none) {
        (Some(first), _) => ProbeResult { setup, unreached, ..first },
        (None, Some(mut none)) => {
            let all: Vec<_> = unreached
                .iter()
                .map(|(address, detail)| format!("{}: {detail}", address_text(*address)))
                .collect();
            none.failure.iter_mut().for_each(|failure| failure.detail = all.join(", "));
            ProbeResult { setup, ..none }
        }
        (None, None) => ProbeResult::none(),
    }
}

/// Most addresses of a name that are probed.
const ADDRESSES_PROBED_MAX: usize = 8;
/// The time that each of several addresses has at least to accept a connection.
const CONNECT_TIME_MIN: Nanos = Nanos::SECOND;

fn probe_one(
    plan: &Plan,
    clock: Clock,
    host: &Host,
    tls: Option<Arc<TlsClient>>,
    signals: Signals,
) -> ProbeResult {
    // One slow answer must not decide how many connections the load may have.
    let repeats = |latency| plan.default_pools_depend_on(latency);
    match Probe::new(plan, clock, host.found.features, host.source_ports(), tls)
        .repeated_while(&repeats)
        .run(&|| signals.received() > 0)
    {
        Ok(answer) => ProbeResult {
            doc: Some(answered(plan, &answer)),
            setup: Setup {
                sent: 1 + answer.repeated.done + answer.repeated.failed,
                done: 1 + answer.repeated.done,
                failed: answer.repeated.failed,
            },
            latency: Some(answer.latency()),
            failure: None,
            unreached: Vec::new(),
            cure: hint_for_unexpected_answer(plan, &answer)
                .map(|cure| sentence!("the probe was answered with status {}: {cure}", answer.status)),
        },
        Err(failure) => {
            let request = &plan.scenarios[0].steps[0].request;
            let doc = ProbeDoc {
                method: request.method.clone(),
                path: request.path.shown(),
                address: address_text(failure.address),
                time_us: Number::micros(failure.waited.0.unsigned_abs()),
                error: Sentence::quoted(failure.detail.clone()),
                ..ProbeDoc::default()
            };
            let sent = u64::from(failure.sent);
            let setup = Setup { sent, done: 0, failed: 1 };
            ProbeResult { doc: Some(doc), setup, failure: Some(failure), ..ProbeResult::none() }
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
            HttpVersion::Http2 => "HTTP/2",
            HttpVersion::Http3 => "HTTP/3",
        }
        .to_owned(),
        address: address_text(answer.address),
        time_us: Number::micros(answer.complete.since(answer.begun)),
        error: Sentence::empty(),
    }
}

/// What to do about an answer that is not what was asked for.
pub fn hint_for_unexpected_answer(plan: &Plan, answer: &ProbeAnswer) -> Option<Sentence> {
    let https = plan.tls.is_none() && wants_tls(answer);
    if https {
        return Some(phrase!("the target requires TLS on this port: use https:// instead of http://"));
    }
    if wants_http2(answer) {
        return Some(phrase!(
            "the target speaks HTTP/2 on this port: use --http 2, or `version: 2` in an experiment file"
        ));
    }
    if answer.status == 401
        && !plan.http.expect.contains(401)
        && let Some(hint) = of_challenge(answer)
    {
        return Some(hint);
    }
    of_status(answer.status, &plan.http.expect, answer.location.as_deref())
}

/// Returns a hint for a challenge (status 401) that a plain `--basic` does not meet.
fn of_challenge(answer: &ProbeAnswer) -> Option<Sentence> {
    let fields = |bytes: &'_ [u8], name: &str| -> Vec<Vec<u8>> {
        let field = |line: &[u8]| {
            let at = line.iter().position(|&byte| byte == b':')?;
            line[..at].eq_ignore_ascii_case(name.as_bytes()).then(|| line[at + 1..].trim_ascii().to_vec())
        };
        bytes.split(|&byte| byte == b'\n').filter_map(field).collect()
    };
    let challenges = fields(&answer.head, "www-authenticate");
    match Challenge::first(challenges.iter().map(Vec::as_slice)) {
        Err(ChallengeFault::NoDigest(schemes))
            if schemes.iter().any(|one| one.eq_ignore_ascii_case("basic")) =>
        {
            let gave = !fields(&answer.request, "authorization").is_empty();
            gave.then(|| {
                phrase!("the target refused the credentials of this request: check user and password")
            })
        }
        Ok(_) => Some(phrase!(
            "the target asks for Digest authentication: auth: digest USER:PASSWORD in an experiment file"
        )),
        Err(_) => None,
    }
}

/// Servers answer plain HTTP on a TLS port with a page of status 400, each with its own text:
/// nginx, Apache, Go, Tomcat.
fn wants_tls(answer: &ProbeAnswer) -> bool {
    let texts = ["HTTPS port", "SSL-enabled server port", "HTTPS server", "port requires TLS"];
    let body = String::from_utf8_lossy(&answer.body);
    answer.status == 400 && texts.iter().any(|text| body.contains(text))
}

/// A server of HTTP/2 alone refuses HTTP/1 with a status that says so, with an upgrade (RFC 9110
/// §15.5.22), or with a page as Node.js has.
fn wants_http2(answer: &ProbeAnswer) -> bool {
    if answer.version == HttpVersion::Http2 || answer.version == HttpVersion::Http3 {
        return false;
    }
    let head = String::from_utf8_lossy(&answer.head).to_ascii_lowercase();
    let upgrade = head.lines().any(|line| line.starts_with("upgrade:") && line.contains("h2"));
    match answer.status {
        426 => upgrade,
        // RFC 9110 §15.6.6, and the status of load balancers of AWS.
        505 | 464 => true,
        400 | 403 => String::from_utf8_lossy(&answer.body).contains("expected `h2`"),
        _ => false,
    }
}

/// Returns a hint for a response with an unexpected status.
fn of_status(status: u16, expect: &StatusSet, location: Option<&str>) -> Option<Sentence> {
    if expect.contains(status) {
        // A user who lists status codes needs no hint. By default, however, a redirect counts as
        // success.
        let reported = *expect != StatusSet::default_expected() || !(300..400).contains(&status);
        return location
            .filter(|_| !reported)
            .map(|location| sentence!("redirects are not followed; to load where it leads: {location}"));
    }
    Some(match status {
        301 | 302 | 303 | 307 | 308 => match location {
            Some(location) => sentence!("the target redirects: load {location} instead"),
            None => phrase!("the target redirects: load the address it names instead"),
        },
        401 => {
            phrase!("the target requires authentication: use --basic USER:PASSWORD, or -H 'Authorization: …'")
        }
        407 => {
            phrase!(
                "the proxy requires authentication: --proxy http://USER:PASSWORD@HOST:PORT, or @FILE with that"
            )
        }
        403 => sentence!("the target forbids it; if that is what you test: --expect-status {status}"),
        404 => sentence!("there is no such path; if that is what you test: --expect-status {status}"),
        405 => phrase!("the target does not accept this method here: use -X METHOD"),
        429 => phrase!("the target limits the rate of requests"),
        _ => sentence!("if this is the response you expect: --expect-status {status}"),
    })
}
