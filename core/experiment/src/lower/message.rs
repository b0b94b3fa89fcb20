//! Lowers messages and the settings of connections that carry them.

use wavetank_grammar::{Diagnostic, Span};
use wavetank_plan::constants::USER_AGENT;
use wavetank_plan::redact::is_secret_header;
use wavetank_plan::{
    self as plan, EVENT_STREAM_FIELDS, Escape, HttpVersion, MessagePlan, Plan, Reply, RequestPlan,
    UrlProtocol, WebSocketPlan,
};
use wavetank_units::Code;

use super::LowerError;
use super::body;
use super::scope::ScenarioScope;
use crate::model::{AwaitedReply, Experiment, Message, Request, Template};

/// The fields that every upgrade to WebSocket has (RFC 6455 §4.1).
const FIELDS: [(&str, &str); 3] =
    [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13")];

/// Lowers the message of a step.
pub(super) fn message(names: &ScenarioScope<'_>, message: &Message) -> Result<MessagePlan, LowerError> {
    let reply = match &message.reply {
        AwaitedReply::None => Reply::None,
        AwaitedReply::Any => Reply::Any,
        AwaitedReply::Matching(check) => Reply::Matching(Box::new(names.check(check, None)?)),
    };
    let Message { action, binary, count, read, .. } = message;
    Ok(MessagePlan { action: *action, binary: *binary, reply, count: *count, read: read.clone() })
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

/// Adds the fields of the request that opens a connection with messages.
pub(super) fn add_opening_fields(experiment: &Experiment, protocol: UrlProtocol, request: &mut RequestPlan) {
    let fixed = if protocol == UrlProtocol::WebSocket { &FIELDS[..] } else { &EVENT_STREAM_FIELDS[..] };
    let settings = settings(experiment, protocol == UrlProtocol::WebSocket);
    let fixed = fixed.iter().map(|(name, value)| (*name, (*value).to_owned()));
    for (name, value) in fixed.chain(settings.fields()) {
        if !request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
            request.headers.push((name.to_owned(), value.as_str().into()));
        }
    }
}

fn settings(experiment: &Experiment, is_websocket: bool) -> WebSocketPlan {
    WebSocketPlan {
        subprotocol: experiment.ws.subprotocol.clone().filter(|_| is_websocket),
        deflate: experiment.ws.deflate.unwrap_or_default() && is_websocket,
        ..WebSocketPlan::default()
    }
}

/// Lowers the settings of upgrades that no step sends.
pub(super) fn websocket(experiment: &Experiment) -> WebSocketPlan {
    let urls = experiment.targets.iter().flat_map(|target| &target.urls);
    let protocols: Vec<_> = urls.map(|one| one.url.value.protocol).collect();
    let is_websocket = protocols.contains(&UrlProtocol::WebSocket);
    if !is_websocket && !protocols.contains(&UrlProtocol::Events) {
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
    WebSocketPlan { headers, secret_headers, ..settings(experiment, is_websocket) }
}

/// Checks that a step fits the protocol of its target.
pub(super) fn check_protocol(
    protocol: UrlProtocol,
    request: &Request,
    url: &str,
    place: Span,
) -> Result<(), LowerError> {
    let name = request.display_name();
    let own = request.message.as_ref().map_or(UrlProtocol::Http, |message| message.protocol);
    // That calls and targets of gRPC belong together is checked before.
    if own == protocol || own == UrlProtocol::Grpc || !(own.has_messages() || protocol.has_messages()) {
        return Ok(());
    }
    let (is_one, verb) = match protocol {
        UrlProtocol::WebSocket => ("is a WebSocket", "ws.send: MESSAGE"),
        UrlProtocol::Events => ("is an event stream", "sse.wait: any"),
        UrlProtocol::Tcp => ("is TCP without HTTP", "tcp.send: TEXT"),
        UrlProtocol::Udp => ("is UDP", "udp.send: TEXT"),
        _ => ("is not one", "get: /"),
    };
    let (needs, scheme) = match own {
        UrlProtocol::WebSocket => ("needs a WebSocket", "ws://"),
        UrlProtocol::Events => ("needs an event stream", "sse://"),
        UrlProtocol::Tcp => ("needs a TCP target", "tcp://"),
        UrlProtocol::Udp => ("needs a UDP target", "udp://"),
        _ => ("is HTTP", "http://"),
    };
    let (message, hint) = if protocol.has_messages() {
        (
            format!("`{name}` {needs}, and {url} {is_one}"),
            format!("{verb}, or to: another target with {scheme}"),
        )
    } else {
        (
            format!("`{name}` {needs}, and {url} is not one"),
            format!("target: {scheme}HOST, or to: another target with {scheme}"),
        )
    };
    Err(Diagnostic::error(Code::WrongProtocol, place, message, hint).into())
}

/// Checks that connections have the pings that were asked for.
fn check_pings(experiment: &Experiment, plan: &Plan) -> Result<(), LowerError> {
    let has_sockets = plan.targets.iter().any(|target| target.protocol() == UrlProtocol::WebSocket);
    let has_streams = plan.http.version == HttpVersion::Http2 && !plan.uses_tunnels();
    let (http, ws) = (&experiment.http.ping, &experiment.ws.ping);
    let conflict = |place, message: &str, hint: &str| {
        Err(Diagnostic::error(Code::OptionConflict, place, message, hint).into())
    };
    match (http, ws) {
        (Some(ping), _) if !has_streams => {
            let hint = "http: {version: 2}; or ws: {ping: 10s} for a target with ws://";
            conflict(
                ping.place,
                "`http.ping` needs HTTP/2 without WebSockets, event streams and open gRPC calls",
                hint,
            )
        }
        (_, Some(ping)) if !has_sockets => conflict(
            ping.place,
            "`ws.ping` needs a WebSocket",
            "target: ws://HOST, or http: {ping: 10s} for HTTP/2",
        ),
        _ => Ok(()),
    }
}

/// Checks the settings of upgrades that no step sends.
pub(super) fn check_upgrades(experiment: &Experiment, plan: &Plan) -> Result<(), LowerError> {
    check_pings(experiment, plan)?;
    let reads_some = |step: &plan::Step| {
        step.message.as_ref().is_some_and(|own| {
            own.action != plan::MessageAction::Send
                || own.count > 1
                || own.read.is_some()
                || matches!(own.reply, Reply::Matching(_))
        })
    };
    let is_shared = plan.http.pipeline > 1 && !plan.uses_tunnels();
    if is_shared && plan.scenarios.iter().any(|own| own.steps.iter().any(reads_some)) {
        let message =
            "users that share a connection by pipelining can only send WebSocket messages, with reply: any";
        let error = wavetank_units::UserError::usage(Code::Conflict, message, "leave the pipeline out");
        return Err(error.into());
    }
    let with_request =
        |target: usize| plan.upgrades_itself(target) && !plan.targets[target].protocol().is_bare();
    let Some(target) = (0..plan.targets.len()).find(|target| with_request(*target)) else { return Ok(()) };
    let is_websocket = plan.targets[target].protocol() == UrlProtocol::WebSocket;
    let verb = if is_websocket { "ws.connect" } else { "sse.open" };
    let hint = format!("open it in a step: {verb}: /path");
    if let Some(header) = experiment.http.headers.iter().find(|header| header.value.as_fixed().is_none()) {
        let message = format!("the header {} differs between users", header.name.value);
        return Err(Diagnostic::error(Code::NotFixed, header.name.place, message, hint).into());
    }
    if experiment.http.auth.is_some() {
        let error = wavetank_units::UserError::usage(
            Code::Conflict,
            format!("http.auth has no effect on a connection that no {verb} opens"),
            format!("{hint}, or use -H 'Authorization: …'"),
        );
        return Err(error.into());
    }
    Ok(())
}
