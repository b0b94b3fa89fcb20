//! Lowers gRPC calls: descriptions of services are compiled, and messages are checked against them.

use std::cell::RefCell;

use serde_json::{Map, Value as Json};
use wavetank_grammar::{Diagnostic, Diagnostics, Span, Spanned};
use wavetank_grpc::{Descriptors, Method, RequestEncoding, timeout_text};
use wavetank_plan::constants::TIMEOUT;
use wavetank_plan::{self as plan, DescriptorSet, GrpcPlan, HttpVersion, RequestPlan, UrlProtocol};
use wavetank_units::{Code, UserError};

use super::scope::ScenarioScope;
use super::{LowerError, body};
use crate::model::{Body, Experiment, Request, RequestHead, Target, Value};

/// Reads the descriptions of services; `None` if the file names none.
pub(super) fn descriptors(
    experiment: &Experiment,
    file: &ReadFile<'_>,
) -> Result<Option<Descriptors>, Diagnostic> {
    let grpc = &experiment.grpc;
    if let Some(set) = &grpc.descriptors {
        let read = file(&set.value).and_then(|bytes| Descriptors::decode(&bytes));
        return read.map(Some).map_err(|error| Diagnostic::from_error(error, set.place));
    }
    let Some(first) = grpc.proto.first() else { return Ok(None) };
    let mut folders: Vec<String> = grpc.paths.iter().map(|path| with_slash(path)).collect();
    if folders.is_empty() {
        folders.extend(grpc.proto.iter().map(|file| folder(&file.value).to_owned()));
        folders.push(String::new());
    }
    // Each file is named as others import it: from the first folder that has it.
    let name = |path: &str| {
        let inside = folders.iter().find_map(|folder| path.strip_prefix(folder.as_str()));
        inside.unwrap_or(path).to_owned()
    };
    for one in &grpc.proto {
        // Reports a missing file by the name that the user gave it.
        file(&one.value).map_err(|error| Diagnostic::from_error(error, one.place))?;
    }
    let names: Vec<String> = grpc.proto.iter().map(|one| name(&one.value)).collect();
    let unreadable = RefCell::new(None);
    let source = |name: &str| {
        let read = folders.iter().find_map(|folder| file(&format!("{folder}{name}")).ok());
        let text = String::from_utf8(read.or_else(|| file(name).ok())?);
        if text.is_err() {
            *unreadable.borrow_mut() = Some(format!("{name} is not UTF-8 text"));
        }
        text.ok()
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let compiled = Descriptors::compile(&names, &source);
    if let Some(message) = unreadable.into_inner() {
        let hint = "name a .proto file; a compiled one is descriptors: FILE";
        return Err(Diagnostic::error(Code::BadProto, first.place, message, hint));
    }
    compiled.map(Some).map_err(|error| Diagnostic::from_error(error, first.place))
}

fn with_slash(folder: &str) -> String {
    match folder.trim_end_matches('/') {
        "" | "." => String::new(),
        folder => format!("{folder}/"),
    }
}

/// Returns the folder of a file, with the slash.
fn folder(file: &str) -> &str {
    file.rfind('/').map_or("", |at| &file[..=at])
}

/// Checks that all targets work with one version of HTTP, which is 2 for gRPC.
fn verify_version(experiment: &Experiment) -> Result<(), Diagnostic> {
    let urls = || experiment.targets.iter().flat_map(|target| &target.urls).map(|one| &one.url);
    let Some(call) = urls().find(|url| url.value.protocol == UrlProtocol::Grpc) else { return Ok(()) };
    if experiment.http.version != Some(HttpVersion::Http2) {
        let message = "gRPC needs HTTP/2, but http.version is another one";
        let hint = "http: {version: 2}, or leave --http out";
        return Err(Diagnostic::error(Code::OptionConflict, call.place, message, hint));
    }
    Ok(())
}

/// Reads a file that the experiment names.
type ReadFile<'a> = dyn Fn(&str) -> Result<Vec<u8>, UserError> + 'a;

/// Checks the gRPC calls of an experiment against the descriptions of its services. Reports every
/// call that does not fit.
pub fn verify_grpc(experiment: &Experiment, file: &ReadFile<'_>) -> Diagnostics {
    let mut out = Diagnostics::default();
    let descriptors = verify_version(experiment).and_then(|()| descriptors(experiment, file));
    let descriptors = match descriptors {
        Ok(descriptors) => descriptors,
        Err(wrong) => {
            out.push(wrong);
            return out;
        }
    };
    for (steps, scenario) in experiment.step_lists() {
        let of_scenario = scenario.and_then(|scenario| scenario.target.as_ref());
        for step in experiment.flattened(steps) {
            let Some(request) = step.request() else { continue };
            let target = request.to.as_ref().or(of_scenario);
            let is_call = matches!(request.head, RequestHead::Grpc(_));
            let own_url =
                matches!(&request.head, RequestHead::Http { url, .. } if url.display_text().contains("://"));
            let checked = if !own_url && speaks_grpc(experiment, target).is_some_and(|grpc| grpc != is_call) {
                Err(wrong_scheme(is_call, step.place))
            } else {
                verify_call(descriptors.as_ref(), request)
            };
            checked.err().into_iter().for_each(|wrong| out.push(wrong));
        }
    }
    out
}

/// Whether a target speaks gRPC; `None`: there is no such target, which is reported elsewhere.
fn speaks_grpc(experiment: &Experiment, name: Option<&Spanned<String>>) -> Option<bool> {
    let named = |target: &&Target| match name {
        None => true,
        Some(name) => target.name.as_ref().is_some_and(|own| own.value == name.value),
    };
    Some(experiment.targets.iter().find(named)?.urls.first()?.url.value.protocol == UrlProtocol::Grpc)
}

fn verify_call(descriptors: Option<&Descriptors>, request: &Request) -> Result<(), Diagnostic> {
    let RequestHead::Grpc(method) = &request.head else { return Ok(()) };
    let found = find_method(descriptors, method)?;
    let (json, place) = match &request.body {
        Some(Body::Json(value)) => {
            let place = place_of(value).unwrap_or(method.place);
            check_names(&found, &shape(value), place)?;
            (fixed_json(value), place)
        }
        Some(Body::JsonText(text)) => {
            let json = text.as_fixed().and_then(|text| serde_json::from_str(text).ok());
            check_names(&found, json.as_ref().unwrap_or(&Json::Null), text.place)?;
            (json, text.place)
        }
        _ => return Ok(()),
    };
    match json {
        Some(json) => check_message(&found, json.to_string().as_bytes(), place),
        None => Ok(()),
    }
}

fn find_method(descriptors: Option<&Descriptors>, method: &Spanned<String>) -> Result<Method, Diagnostic> {
    let Some(descriptors) = descriptors else {
        let message = format!("`{}` is described nowhere", method.value);
        let hint = "name the .proto file: grpc: {proto: FILE}, or ask the server: grpc: {reflection: true}";
        return Err(Diagnostic::error(Code::GrpcMethod, method.place, message, hint));
    };
    descriptors.method(&method.value).map_err(|error| Diagnostic::from_error(error, method.place))
}

/// Checks that a message without templates fits its type.
fn check_message(method: &Method, json: &[u8], place: Span) -> Result<(), Diagnostic> {
    method.encode(json, RequestEncoding::Identity, &mut Vec::new()).map_err(|error| {
        let hint = "compare it with the message in the .proto file";
        Diagnostic::error(Code::GrpcMessage, place, error.to_string(), hint)
    })
}

/// Lowers a call.
pub(super) fn call(
    names: &ScenarioScope<'_>,
    request: &Request,
    method: &Spanned<String>,
    mut headers: Vec<(String, plan::Template)>,
    secret_headers: Vec<String>,
) -> Result<(RequestPlan, GrpcPlan), LowerError> {
    let experiment = names.shared.experiment;
    let found = find_method(names.shared.descriptors.as_ref(), method)?;
    let mut json = plan::Template::default();
    match &request.body {
        None => {}
        Some(Body::Json(value)) => {
            check_names(&found, &shape(value), place_of(value).unwrap_or(method.place))?;
            body::json(names, value, &mut json)?;
        }
        Some(Body::JsonText(text)) => {
            if let Some(fixed) = text.as_fixed() {
                check_names(&found, &serde_json::from_str(fixed).unwrap_or_default(), text.place)?;
            }
            json = body::body(names, &Body::JsonText(text.clone()), 0)?.body;
        }
        Some(_) => {
            let message = "the message of a gRPC call is written as JSON";
            return Err(Diagnostic::error(Code::BadBody, method.place, message, "--json '{…}'").into());
        }
    }
    let has_message =
        request.message.as_ref().is_none_or(|message| message.action == plan::MessageAction::Send);
    if let (Some(fixed), true) = (json.as_fixed(), has_message) {
        check_message(&found, fixed, method.place)?;
    }
    let gzip = experiment.grpc.gzip;
    let call = GrpcPlan { descriptors: 0, method: found.full_name(), gzip };
    if request.is_in_open_call() {
        return Ok((RequestPlan { body: json, ..RequestPlan::default() }, call));
    }
    let timeout = request.timeout.as_ref().or(experiment.http.timeout.as_ref());
    let deadline = timeout_text(timeout.map_or(TIMEOUT, |timeout| timeout.value));
    let mut own =
        vec![("Content-Type".to_owned(), "application/grpc".into()), ("TE".to_owned(), "trailers".into())];
    if request.message.is_none() && !experiment.grpc.hides_deadline {
        own.push(("grpc-timeout".to_owned(), deadline.as_str().into()));
    }
    if gzip {
        own.push(("grpc-encoding".to_owned(), "gzip".into()));
        own.push(("grpc-accept-encoding".to_owned(), "gzip".into()));
    }
    own.retain(|(name, _)| !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)));
    headers.splice(0..0, own);
    let path = plan::Template::from(format!("/{}", found.full_name()));
    let sent = RequestPlan { method: "POST".to_owned(), path, headers, body: json, secret_headers };
    Ok((sent, call))
}

/// Makes the status OK of gRPC an expected one. Steps of HTTP keep the statuses that they had.
pub(super) fn expect_ok(plan: &mut plan::Plan) {
    let around = [&mut plan.around.before, &mut plan.around.after].into_iter().flatten().map(Box::as_mut);
    let steps = plan.scenarios.iter_mut().chain(around).flat_map(|scenario| &mut scenario.steps);
    let (calls, others): (Vec<_>, Vec<_>) = steps.partition(|step| step.grpc.is_some());
    if calls.is_empty() {
        return;
    }
    for step in others {
        step.expect.get_or_insert_with(|| plan.http.expect.clone());
    }
    plan.http.expect.0.insert(0, (0, 0));
}

/// Returns the descriptions for the plan.
pub(super) fn for_plan(descriptors: Option<&Descriptors>) -> Vec<DescriptorSet> {
    descriptors.map(|all| DescriptorSet(all.encode())).into_iter().collect()
}

/// Returns the error for a verb that does not fit the scheme of its target.
pub(super) fn wrong_scheme(is_call: bool, place: Span) -> Diagnostic {
    let (message, hint) = if is_call {
        ("a gRPC call needs a target with grpc:// or grpcs://", "target: grpc://10.0.0.5:50051")
    } else {
        ("the target speaks gRPC, and this is a request of HTTP", "use grpc.call, or a target with http://")
    };
    Diagnostic::error(Code::WrongScheme, place, message, hint)
}

fn check_names(method: &Method, message: &Json, place: Span) -> Result<(), Diagnostic> {
    method.check_names(message).map_err(|error| Diagnostic::from_error(error, place))
}

/// Returns a value with the names of all fields; templates are null.
fn shape(value: &Value) -> Json {
    match value {
        Value::List(items) => Json::Array(items.iter().map(shape).collect()),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(name, value)| (name.clone(), shape(value)));
            Json::Object(entries.collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => Json::Null,
    }
}

/// Returns a value as JSON; `None`: it has templates.
fn fixed_json(value: &Value) -> Option<Json> {
    Some(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(digits) => serde_json::from_str(digits).ok()?,
        Value::Text(template) => Json::String(template.as_fixed()?.to_owned()),
        Value::List(items) => Json::Array(items.iter().map(fixed_json).collect::<Option<_>>()?),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(name, value)| Some((name.clone(), fixed_json(value)?)));
            Json::Object(entries.collect::<Option<Map<_, _>>>()?)
        }
    })
}

/// Returns the position of the first text in a value.
fn place_of(value: &Value) -> Option<Span> {
    match value {
        Value::Text(template) => Some(template.place),
        Value::List(items) => items.iter().find_map(place_of),
        Value::Map(entries) => entries.iter().find_map(|(_, value)| place_of(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
