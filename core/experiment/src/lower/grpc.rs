//! Lowers gRPC calls: descriptions of services are compiled, and messages are checked against them.

use std::cell::RefCell;

use serde_json::{Map, Value as Json};
use wavetank_grammar::{Diagnostic, Span};
use wavetank_grpc::{Descriptors, Method, RequestEncoding, timeout_text};
use wavetank_plan::constants::TIMEOUT;
use wavetank_plan::{self as plan, DescriptorSet, GrpcPlan, HttpVersion, RequestPlan};
use wavetank_units::UserError;

use super::scope::ScenarioScope;
use super::{LowerContext, LowerError, body};
use crate::model::{Body, Experiment, Request, Value};

/// Reads the descriptions of services; `None` if the file names none.
pub(super) fn descriptors(
    experiment: &Experiment,
    input: &LowerContext<'_>,
) -> Result<Option<Descriptors>, LowerError> {
    let grpc = &experiment.grpc;
    if let Some(file) = &grpc.descriptors {
        let read = (input.file)(&file.value).and_then(|bytes| Descriptors::decode(&bytes));
        return read.map(Some).map_err(|error| Diagnostic::from_error(error, file.place).into());
    }
    let Some(first) = grpc.proto.first() else { return Ok(None) };
    let mut folders: Vec<String> = grpc.paths.iter().map(|path| with_slash(path)).collect();
    if folders.is_empty() {
        folders.extend(grpc.proto.iter().map(|file| folder(&file.value).to_owned()));
        folders.push(String::new());
    }
    // Each file is named as others import it: from the first folder that has it.
    let name = |file: &str| {
        let inside = folders.iter().find_map(|folder| file.strip_prefix(folder.as_str()));
        inside.unwrap_or(file).to_owned()
    };
    let names: Vec<String> = grpc.proto.iter().map(|file| name(&file.value)).collect();
    for (file, name) in grpc.proto.iter().zip(&names) {
        if file.value == *name {
            // Reports a missing file by the name that the user gave it.
            (input.file)(name).map_err(|error| Diagnostic::from_error(error, file.place))?;
        }
    }
    let unreadable = RefCell::new(None);
    let source = |name: &str| {
        let read = folders.iter().find_map(|folder| (input.file)(&format!("{folder}{name}")).ok());
        let text = String::from_utf8(read.or_else(|| (input.file)(name).ok())?);
        if text.is_err() {
            *unreadable.borrow_mut() = Some(format!("{name} is not UTF-8 text"));
        }
        text.ok()
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let compiled = Descriptors::compile(&names, &source);
    if let Some(message) = unreadable.into_inner() {
        let hint = "name a .proto file; a compiled one is descriptors: FILE";
        return Err(Diagnostic::error("bad_proto", first.place, message, hint).into());
    }
    compiled.map(Some).map_err(|error| Diagnostic::from_error(error, first.place).into())
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
pub(super) fn verify_targets(experiment: &Experiment) -> Result<(), LowerError> {
    let urls = || experiment.targets.iter().flat_map(|target| &target.urls).map(|one| &one.url);
    let Some(call) = urls().find(|url| url.value.grpc) else { return Ok(()) };
    if experiment.http.version != Some(HttpVersion::Http2) {
        let message = "gRPC needs HTTP/2, but http.version is another one";
        return Err(Diagnostic::error("option_conflict", call.place, message, "http: {version: 2}").into());
    }
    Ok(())
}

/// Lowers a call.
pub(super) fn call(
    names: &ScenarioScope<'_>,
    request: &Request,
    method: &wavetank_grammar::Spanned<String>,
    mut headers: Vec<(String, plan::Template)>,
    secret_headers: Vec<String>,
) -> Result<(RequestPlan, GrpcPlan), LowerError> {
    let experiment = names.shared.experiment;
    let Some(descriptors) = &names.shared.descriptors else {
        let message = format!("`{}` is described nowhere", method.value);
        let hint = "name the .proto file: grpc: {proto: FILE}, or --proto FILE for a URL";
        return Err(Diagnostic::error("grpc_method", method.place, message, hint).into());
    };
    let found =
        descriptors.method(&method.value).map_err(|error| Diagnostic::from_error(error, method.place))?;
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
            return Err(Diagnostic::error("bad_body", method.place, message, "--json '{…}'").into());
        }
    }
    if let Some(fixed) = json.as_fixed() {
        let place = request.body.as_ref().and_then(|body| match body {
            Body::Json(value) => place_of(value),
            _ => None,
        });
        found.encode(fixed, RequestEncoding::Identity, &mut Vec::new()).map_err(|error| {
            let hint = "compare it with the message in the .proto file";
            Diagnostic::error("grpc_message", place.unwrap_or(method.place), error.to_string(), hint)
        })?;
    }
    let gzip = experiment.grpc.gzip;
    let timeout = request.timeout.as_ref().or(experiment.http.timeout.as_ref());
    let deadline = timeout_text(timeout.map_or(TIMEOUT, |timeout| timeout.value));
    let mut own = vec![
        ("Content-Type".to_owned(), "application/grpc".into()),
        ("TE".to_owned(), "trailers".into()),
        ("grpc-timeout".to_owned(), deadline.as_str().into()),
    ];
    if gzip {
        own.push(("grpc-encoding".to_owned(), "gzip".into()));
        own.push(("grpc-accept-encoding".to_owned(), "gzip".into()));
    }
    own.retain(|(name, _)| !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)));
    headers.splice(0..0, own);
    let path = plan::Template::from(format!("/{}", found.full_name()));
    let sent = RequestPlan { method: "POST".to_owned(), path, headers, body: json, secret_headers };
    Ok((sent, GrpcPlan { descriptors: 0, method: found.full_name(), gzip }))
}

/// Returns the descriptions for the plan.
pub(super) fn for_plan(descriptors: Option<&Descriptors>) -> Vec<DescriptorSet> {
    descriptors.map(|all| DescriptorSet(all.encode())).into_iter().collect()
}

/// Returns the error for a verb that does not fit the scheme of its target.
pub(super) fn wrong_scheme(is_call: bool, place: Span) -> LowerError {
    let (message, hint) = if is_call {
        ("grpc.call needs a target with grpc:// or grpcs://", "target: grpc://10.0.0.5:50051")
    } else {
        ("the target speaks gRPC, and this is a request of HTTP", "use grpc.call, or a target with http://")
    };
    Diagnostic::error("wrong_scheme", place, message, hint).into()
}

fn check_names(method: &Method, message: &Json, place: Span) -> Result<(), LowerError> {
    let check = method.check_names(message);
    check
        .map_err(|UserError { code, message, hint, .. }| Diagnostic::error(code, place, message, hint).into())
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

/// Returns the position of the first text in a value.
fn place_of(value: &Value) -> Option<Span> {
    match value {
        Value::Text(template) => Some(template.place),
        Value::List(items) => items.iter().find_map(place_of),
        Value::Map(entries) => entries.iter().find_map(|(_, value)| place_of(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}
