//! [`CompiledStep`]: everything that one step needs: its request, and the checks and extractions
//! for its response.

use std::sync::Arc;

use wavetank_plan::{AuthPlan, MessageAction, Plan, StatusSet, Step, UrlProtocol};
use wavetank_units::{Nanos, UserError};

use super::check::CompiledCheck;
use super::credentials::Credentials;
use super::grpc_codec::GrpcCodec;
use super::message::CompiledMessage;
use super::request_template::RequestTemplate;
use super::retain::Retain;
use super::target_matcher::TargetMatcher;
use crate::extract::Extractor;

/// A compiled step. Each load thread has its own clone.
#[derive(Clone, Debug)]
pub struct CompiledStep {
    /// The name in reports.
    pub name: String,
    /// Index into the plan's targets.
    pub target: u16,
    /// From *begun* to *complete*.
    pub timeout: Nanos,
    /// Whether the response has no body.
    pub head: bool,
    /// Whether the request may be sent again on another connection (RFC 9110 §9.2.2).
    pub idempotent: bool,
    /// The method and the target's host, for answers to challenges and for cookies.
    pub(crate) method: String,
    pub(crate) host: String,
    pub(crate) secure: bool,
    pub(crate) shape: RequestTemplate,
    /// The credentials for a challenge.
    pub(crate) credentials: Option<Credentials>,
    /// Set if a request may need more than one message.
    pub(crate) afield: Option<Box<FollowUpConfig>>,
    pub(crate) expect: StatusSet,
    pub(crate) extract: Vec<CompiledExtract>,
    pub(crate) checks: Vec<CompiledCheck>,
    pub(crate) counts: Vec<(u16, CompiledCheck)>,
    pub(crate) keeps: Retain,
    /// What it does on a connection with messages; `None`: it is an HTTP request.
    pub(crate) message: Option<CompiledMessage>,
}

#[derive(Clone, Debug)]
pub(crate) struct CompiledExtract {
    pub(crate) variable: u16,
    pub(crate) extractor: Extractor,
    pub(crate) all: bool,
}

/// The settings for further messages of a request.
#[derive(Clone, Debug)]
pub(crate) struct FollowUpConfig {
    pub(crate) places: TargetMatcher,
    /// Maximum number of redirects to follow.
    pub(crate) follow: u8,
    /// Whether embedded resources are fetched.
    pub(crate) resources: bool,
    /// Statuses that embedded resources may have.
    pub(crate) expect_resource: StatusSet,
    /// Names of headers (lower case) that stay with their origin.
    pub(crate) secrets: Vec<String>,
}

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
        let message = step.message.as_ref().map(CompiledMessage::new).transpose()?;
        let looks_inside = looks_inside || message.as_ref().is_some_and(CompiledMessage::needs_body);
        let looks = looks || message.as_ref().is_some_and(CompiledMessage::looks);
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
            shape: RequestTemplate::new(step, plan)?,
            expect: if let Some(statuses) =
                expected_of_message(message.as_ref(), target.protocol(), status_checked)
            {
                statuses
            } else if status_checked {
                StatusSet(vec![(0, 999)])
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
            message,
        })
    }

    /// Returns the codec of its messages, if it is a gRPC call.
    pub fn call(&self) -> Option<&GrpcCodec> {
        self.shape.call.as_deref()
    }

    /// Returns the fixed bytes, if no session changes them.
    pub fn as_fixed(&self) -> Option<&Arc<[u8]>> {
        self.shape.as_fixed().filter(|_| self.credentials.is_none())
    }

    /// The parts of the response that must be kept.
    pub const fn retention(&self) -> Retain {
        self.keeps
    }

    /// Whether it is done once its message was handed to the kernel.
    pub fn is_one_way(&self) -> bool {
        self.message.as_ref().is_some_and(|message| message.one_way)
    }

    /// Whether it is a message, or the upgrade to send them.
    pub const fn is_message(&self) -> bool {
        self.message.is_some()
    }

    /// Whether it sends nothing and only waits for messages.
    pub fn only_waits(&self) -> bool {
        self.message.as_ref().is_some_and(|message| message.action == MessageAction::Wait)
    }

    /// Whether messages that arrive before it starts are kept for it.
    pub fn reads_earlier_messages(&self) -> bool {
        self.message.as_ref().is_some_and(|message| {
            let is_wait = message.action == MessageAction::Wait;
            // The answer of a call has all messages that no step has read.
            let ends_call = message.action == MessageAction::Close && self.call().is_some();
            is_wait || ends_call || message.reads || message.reply.is_some() || message.count > 1
        })
    }

    /// The texts of the step's checks, in order.
    pub fn checks(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().map(CompiledCheck::text)
    }

    /// Whether an extraction sets variable `slot`.
    pub(crate) fn extracts(&self, slot: u16) -> bool {
        self.extract.iter().any(|taken| taken.variable == slot)
    }
}

/// Returns the statuses of a step with messages, which have none. A connection is ready for them
/// with one status only, unless a check looks at it.
fn expected_of_message(
    message: Option<&CompiledMessage>,
    protocol: UrlProtocol,
    status_checked: bool,
) -> Option<StatusSet> {
    let message = message?;
    if protocol == UrlProtocol::Grpc {
        return Some(StatusSet(vec![(0, if status_checked { 999 } else { 0 })]));
    }
    let ready = match (message.action, protocol) {
        (MessageAction::Connect, UrlProtocol::WebSocket) => 101,
        (MessageAction::Connect, UrlProtocol::Events) => 200,
        _ => return Some(StatusSet(vec![(0, 9_999)])),
    };
    Some(StatusSet(vec![if status_checked { (100, 999) } else { (ready, ready) }]))
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

/// Whether a request of `method` may be sent again on another connection (RFC 9110 §9.2.2).
pub(crate) fn is_idempotent(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE")
}
