//! Lowers WebSocket messages and the settings of upgrades.

use wavetank_grammar::{Diagnostic, Span};
use wavetank_plan::constants::USER_AGENT;
use wavetank_plan::redact::is_secret_header;
use wavetank_plan::{
    self as plan, Escape, MessagePlan, Plan, Reply, RequestPlan, UrlProtocol, WebSocketPlan,
};

use super::LowerError;
use super::body;
use super::scope::ScenarioScope;
use crate::model::{AwaitedReply, Experiment, Message, Request, Template};

/// The fields that every upgrade has (RFC 6455 §4.1).
const FIELDS: [(&str, &str); 3] =
    [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")];

/// Lowers the message of a step.
pub(super) fn message(names: &ScenarioScope<'_>, message: &Message) -> Result<MessagePlan, LowerError> {
    let reply = match &message.reply {
        AwaitedReply::None => Reply::None,
        AwaitedReply::Any => Reply::Any,
        AwaitedReply::Matching(check) => Reply::Matching(Box::new(names.check(check, None)?)),
    };
    Ok(MessagePlan { action: message.action, binary: message.binary, reply, count: message.count })
}

/// Lowers what a message contains.
pub(super) fn payload(
    names: &ScenarioScope<'_>,
    request: &Request,
    text: &Template,
    number: usize,
) -> Result<RequestPlan, LowerError> {
    let body = match &request.body {
        Some(own) => body::body(names, own, number)?.body,
        None => names.template(text, Escape::Plain)?,
    };
    Ok(RequestPlan { body, ..RequestPlan::default() })
}

/// Adds the fields of an upgrade to its request.
pub(super) fn add_upgrade_fields(experiment: &Experiment, request: &mut RequestPlan) {
    let own = FIELDS.iter().map(|(name, value)| ((*name).to_owned(), plan::Template::from(*value)));
    request.headers.extend(own);
    let settings = WebSocketPlan {
        subprotocol: experiment.ws.subprotocol.clone(),
        deflate: experiment.ws.deflate.unwrap_or_default(),
        ..WebSocketPlan::default()
    };
    let own = settings.fields().into_iter().map(|(name, value)| (name.to_owned(), value.as_str().into()));
    request.headers.extend(own);
}

/// Lowers the settings of upgrades that no step sends.
pub(super) fn websocket(experiment: &Experiment) -> WebSocketPlan {
    let mut urls = experiment.targets.iter().flat_map(|target| &target.urls);
    if !urls.any(|one| one.url.value.protocol == UrlProtocol::WebSocket) {
        return WebSocketPlan::default();
    }
    let fixed = experiment.http.headers.iter().filter_map(|header| {
        let value = header.value.as_fixed()?;
        Some((header.name.value.clone(), value.to_owned()))
    });
    let mut headers: Vec<(String, String)> =
        fixed.filter(|(name, _)| !name.eq_ignore_ascii_case("host")).collect();
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("user-agent")) {
        headers.insert(0, ("User-Agent".to_owned(), USER_AGENT.to_owned()));
    }
    let redacted = |name: &str| experiment.redact.iter().any(|own| own.eq_ignore_ascii_case(name));
    let secret_headers = headers
        .iter()
        .map(|(name, _)| name.to_ascii_lowercase())
        .filter(|name| is_secret_header(name) || redacted(name))
        .collect();
    WebSocketPlan {
        subprotocol: experiment.ws.subprotocol.clone(),
        deflate: experiment.ws.deflate.unwrap_or_default(),
        headers,
        secret_headers,
    }
}

/// Checks that a step fits the protocol of its target.
pub(super) fn check_protocol(
    is_websocket: bool,
    request: &Request,
    url: &str,
    place: Span,
) -> Result<(), LowerError> {
    let name = request.display_name();
    let (message, hint) = match (is_websocket, &request.message) {
        (true, None) => (
            format!("`{name}` is HTTP, and {url} is a WebSocket"),
            "ws.send: MESSAGE, or to: another target with http://",
        ),
        (false, Some(_)) => (
            format!("`{name}` needs a WebSocket, and {url} is not one"),
            "target: ws://HOST, or to: another target with ws://",
        ),
        _ => return Ok(()),
    };
    Err(Diagnostic::error("wrong_protocol", place, message, hint).into())
}

/// Checks the settings of upgrades that no step sends.
pub(super) fn check_upgrades(experiment: &Experiment, plan: &Plan) -> Result<(), LowerError> {
    let reads_some = |step: &plan::Step| {
        step.message.as_ref().is_some_and(|own| {
            own.action != plan::MessageAction::Send
                || own.count > 1
                || matches!(own.reply, Reply::Matching(_))
        })
    };
    if plan.http.pipeline > 1 && plan.scenarios.iter().any(|own| own.steps.iter().any(reads_some)) {
        let message = "users that share a WebSocket by pipelining can only send messages, with reply: any";
        let error = wavetank_units::UserError::usage("conflict", message, "leave the pipeline out");
        return Err(error.into());
    }
    if !(0..plan.targets.len()).any(|target| plan.upgrades_itself(target)) {
        return Ok(());
    }
    let hint = "upgrade in a step: ws.connect: /path";
    if let Some(header) = experiment.http.headers.iter().find(|header| header.value.as_fixed().is_none()) {
        let message = format!("the header {} differs between users", header.name.value);
        return Err(Diagnostic::error("not_fixed", header.name.place, message, hint).into());
    }
    if experiment.http.auth.is_some() {
        let error = wavetank_units::UserError::usage(
            "conflict",
            "http.auth has no effect on a WebSocket that no step opens",
            "upgrade in a step: ws.connect: /path, or use -H 'Authorization: …'",
        );
        return Err(error.into());
    }
    Ok(())
}
