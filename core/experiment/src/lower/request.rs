//! Lowers requests to steps of the plan.

use wavetank_grammar::{Diagnostic, Span};
use wavetank_plan::constants::USER_AGENT;
use wavetank_plan::redact::is_secret_header;
use wavetank_plan::{
    self as plan, AuthPlan, Escape, Expr, Extract, RequestPlan, TargetUrl, TemplatePart, UrlProtocol,
};
use wavetank_units::Code;

use super::body::{self, BodyTemplate};
use super::message;
use super::scope::ScenarioScope;
use super::target::Targets;
use super::{LowerError, datagram, grpc};
use crate::model::{Auth, Header, OnFailure, Part, Request, RequestHead, Template};

/// Lowers a request to a step of the plan. `number` is its index among the scenario's steps.
pub(super) fn step(
    names: &ScenarioScope<'_>,
    targets: &mut Targets<'_>,
    request: &Request,
    place: Span,
    number: usize,
) -> Result<plan::Step, LowerError> {
    let http = &names.shared.experiment.http;
    let (target, sent, call) = match &request.head {
        RequestHead::Http { method, url } => {
            let (target, path) = path(names, targets, request, url)?;
            let mut sent = http_request(names, request, &method.value, path, number)?;
            if let Some(own) = &request.message {
                message::add_opening_fields(names.shared.experiment, own.protocol, &mut sent);
            }
            (target, sent, None)
        }
        RequestHead::Raw(text) if request.message.is_some() => {
            let payload = message::payload(names, request, text, number)?;
            (target_of(names, targets, request, place)?, payload, None)
        }
        RequestHead::Raw(text) => {
            let body = names.template(text, Escape::Plain)?;
            (target_of(names, targets, request, place)?, RequestPlan { body, ..RequestPlan::default() }, None)
        }
        RequestHead::Grpc(method) => {
            let (headers, secret_headers) = headers(names, request, Vec::new())?;
            let headers = if request.is_in_open_call() { Vec::new() } else { headers };
            let (sent, call) = grpc::call(names, request, method, headers, secret_headers)?;
            (target_of(names, targets, request, method.place)?, sent, Some(call))
        }
    };
    if (targets.all()[target].url.protocol == UrlProtocol::Grpc) != call.is_some() {
        return Err(grpc::wrong_scheme(call.is_some(), place).into());
    }
    let url = targets.url(target);
    message::check_protocol(url.protocol, request, &url.url(), place)?;
    if url.protocol == UrlProtocol::Udp {
        datagram::check_length(&sent.body, place)?;
    }
    let messages = request.message.as_ref().map(|own| message::message(names, own)).transpose()?;
    let auth = credentials(names, request)?.filter(|_| !sent.method.is_empty());
    let follow = request.follow.or(http.follow).filter(|_| call.is_none() && messages.is_none()).unwrap_or(0);
    let checks = request.checks.iter();
    let checks = checks.map(|one| names.check(&one.check, one.name.as_ref().map(|name| name.value.as_str())));
    let counts = request.counts.iter().map(|(name, check)| {
        let count = super::shared::index(&names.shared.counts, &name.value)
            .ok_or_else(|| super::shared::too_many("counts"))?;
        Ok::<_, LowerError>((count, names.check(check, None)?))
    });
    let extract = request.extract.iter().map(|one| {
        let variable = names.slot(&one.name.value).ok_or_else(|| super::shared::too_many("variables"))?;
        Ok::<_, LowerError>(Extract { variable, from: one.from.value.text(), all: one.all })
    });
    Ok(plan::Step {
        auth,
        timeout: request.timeout.as_ref().map(|timeout| timeout.value),
        expect: call.is_some().then(|| plan::StatusSet(vec![(0, 0)])),
        grpc: call,
        follow: u8::try_from(follow).unwrap_or(u8::MAX),
        resources: request.resources,
        extract: extract.collect::<Result<_, _>>()?,
        checks: checks.collect::<Result<_, _>>()?,
        counts: counts.collect::<Result<_, _>>()?,
        on_failure: request.on_failure.map(on_failure),
        message: messages,
        ..plan::Step::plain(request.display_name(), target, sent)
    })
}

/// Returns the credentials of a request: its own, or those of all requests.
fn credentials(names: &ScenarioScope<'_>, request: &Request) -> Result<Option<AuthPlan>, LowerError> {
    let auth = request.auth.as_ref().or(names.shared.experiment.http.auth.as_ref());
    Ok(match auth {
        None | Some(Auth::None) => None,
        Some(Auth::Basic(user, password)) => Some(AuthPlan::Basic(
            names.template(user, Escape::Plain)?,
            names.template(password, Escape::Plain)?,
        )),
        Some(Auth::Digest(user, password)) => Some(AuthPlan::Digest(
            names.template(user, Escape::Plain)?,
            names.template(password, Escape::Plain)?,
        )),
        Some(Auth::Bearer(token)) => Some(AuthPlan::Bearer(names.template(token, Escape::Header)?)),
    })
}

pub(super) const fn on_failure(failure: OnFailure) -> plan::OnFailure {
    match failure {
        OnFailure::Continue => plan::OnFailure::Continue,
        OnFailure::EndSession => plan::OnFailure::EndSession,
        OnFailure::EndRun => plan::OnFailure::EndRun,
    }
}

fn target_of(
    names: &ScenarioScope<'_>,
    targets: &Targets<'_>,
    request: &Request,
    place: Span,
) -> Result<usize, LowerError> {
    targets.named(request.to.as_ref().or(names.target), place)
}

/// Returns the target, and path and query as in the request line.
fn path(
    names: &ScenarioScope<'_>,
    targets: &mut Targets<'_>,
    request: &Request,
    url: &Template,
) -> Result<(usize, plan::Template), LowerError> {
    let mut out = plan::Template::default();
    // A URL may start with a variable of the file.
    let mut written = plan::Template::default();
    names.append(url, Escape::Path, &mut written)?;
    let first = match written.pieces.first() {
        Some(TemplatePart::Fixed(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    };
    let target = if let Some(at) = first.find("://") {
        let rest = &first[at + 3..];
        let end = rest.find(['/', '?', '#']);
        if end.is_none() && written.pieces.len() > 1 {
            let message = "the host of a URL must be the same for all sessions";
            let hint = "targets: {NAME: URL, …}, and to: NAME in the step";
            return Err(Diagnostic::error(Code::NotFixed, url.place, message, hint).into());
        }
        let (authority, path) = first.split_at(at + 3 + end.unwrap_or(rest.len()));
        let known = TargetUrl::parse(authority).map_err(|error| Diagnostic::from_error(error, url.place))?;
        written.pieces.remove(0);
        if !path.starts_with('/') {
            out.push_fixed(b"/");
        }
        out.push_fixed(path.as_bytes());
        targets.add_url(known, url.place)?
    } else {
        let target = target_of(names, targets, request, url.place)?;
        // Nothing precedes the value, so it is a whole address, such as an extracted link.
        if let Some(TemplatePart::Hole(whole)) = written.pieces.first_mut() {
            whole.escape = Escape::Address;
        }
        out.push_fixed(targets.base_path(target).as_bytes());
        target
    };
    append(&mut out, written);
    in_query(&mut out);
    if !request.query.is_empty() {
        let has_query =
            out.pieces.iter().any(|piece| matches!(piece, TemplatePart::Fixed(text) if text.contains(&b'?')));
        out.push_fixed(if has_query { b"&" } else { b"?" });
        body::form(names, &request.query, &mut out)?;
    }
    Ok((target, out))
}

/// Escapes values after the question mark as in a form, where `&` and `=` are separators.
fn in_query(path: &mut plan::Template) {
    let mut query = false;
    for piece in &mut path.pieces {
        match piece {
            TemplatePart::Fixed(text) => query |= text.contains(&b'?'),
            TemplatePart::Hole(hole) if query => hole.escape = Escape::Form,
            TemplatePart::Hole(_) => {}
        }
    }
}

fn append(out: &mut plan::Template, more: plan::Template) {
    for piece in more.pieces {
        match piece {
            TemplatePart::Fixed(text) => out.push_fixed(&text),
            hole @ TemplatePart::Hole(_) => out.pieces.push(hole),
        }
    }
}

fn http_request(
    names: &ScenarioScope<'_>,
    request: &Request,
    method: &str,
    path: plan::Template,
    number: usize,
) -> Result<RequestPlan, LowerError> {
    let written = match &request.body {
        Some(own) => body::body(names, own, number)?,
        None => BodyTemplate::default(),
    };
    let (headers, secret_headers) = headers(names, request, written.headers)?;
    Ok(RequestPlan { method: method.to_owned(), path, headers, body: written.body, secret_headers })
}

/// Headers with their values, in order.
type Headers = Vec<(String, plan::Template)>;

/// Returns the headers of a request, and the names of those with secrets.
fn headers(
    names: &ScenarioScope<'_>,
    request: &Request,
    of_body: Vec<(&'static str, plan::Template)>,
) -> Result<(Headers, Vec<String>), LowerError> {
    let experiment = names.shared.experiment;
    let own = &request.headers;
    let overrides =
        |header: &&Header| !own.iter().any(|one| one.name.value.eq_ignore_ascii_case(&header.name.value));
    let all: Vec<&Header> = experiment.http.headers.iter().filter(overrides).chain(own).collect();
    let given = |name: &str| all.iter().any(|header| header.name.value.eq_ignore_ascii_case(name));
    let mut headers: Vec<(String, plan::Template)> = Vec::new();
    if !given("user-agent") && !experiment.http.no_user_agent {
        headers.push(("User-Agent".to_owned(), USER_AGENT.into()));
    }
    let of_body = of_body.into_iter().filter(|(name, _)| !given(name));
    headers.extend(of_body.map(|(name, value)| (name.to_owned(), value)));
    for header in &all {
        headers.push((header.name.value.clone(), names.template(&header.value, Escape::Header)?));
    }
    let redacted = |name: &str| experiment.redact.iter().any(|own| own.eq_ignore_ascii_case(name));
    let mut secret_headers: Vec<String> = headers
        .iter()
        .filter(|(name, value)| {
            is_secret_header(&name.to_ascii_lowercase()) || redacted(name) || is_secret(value)
        })
        .map(|(name, _)| name.to_ascii_lowercase())
        .chain(
            all.iter()
                .filter(|header| names_secret(&header.value))
                .map(|header| header.name.value.to_ascii_lowercase()),
        )
        .collect();
    secret_headers.sort_unstable();
    secret_headers.dedup();
    Ok((headers, secret_headers))
}

fn is_secret(template: &plan::Template) -> bool {
    template.holes().any(|hole| matches!(hole.value, Expr::Secret { .. }))
}

fn names_secret(template: &Template) -> bool {
    template.parts.iter().any(|part| matches!(part, Part::Secret(_)))
}
