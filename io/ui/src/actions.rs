//! Requests to a running run: stop, another load, an event.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use wavetank_control::{ControlReply, ControlRequest, client};
use wavetank_record::LoadChangeDoc;
use wavetank_units::quantity::{parse_count, parse_rate};

use crate::context::{Shared, waiting};
use crate::problem::{Problem, json_response};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StopBody {
    #[serde(default)]
    now: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetBody {
    kind: LoadKind,
    /// As typed: `2k/s` or `40`.
    value: String,
    /// Name of the phase.
    phase: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum LoadKind {
    Rate,
    Users,
    Connections,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventBody {
    text: String,
}

/// Reads the body of a request.
pub(crate) fn body<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Problem> {
    serde_json::from_slice(bytes)
        .map_err(|error| Problem::bad_request(format!("cannot read the request: {error}"), "reload the page"))
}

/// Ends the run.
pub(crate) async fn stop(
    shared: State<Shared>,
    run: Path<String>,
    bytes: Bytes,
) -> Result<Response, Problem> {
    let StopBody { now } = body(&bytes)?;
    send(shared, run, ControlRequest::Stop { now }).await
}

/// Changes the load of an active phase.
pub(crate) async fn set(shared: State<Shared>, run: Path<String>, bytes: Bytes) -> Result<Response, Problem> {
    let SetBody { kind, value, phase } = body(&bytes)?;
    let load = match kind {
        LoadKind::Rate => {
            let rate = parse_rate(&value)?;
            LoadChangeDoc::SessionRate { count: rate.count, per_ns: rate.per.0 }
        }
        LoadKind::Users => LoadChangeDoc::Users(parse_count(&value)?),
        LoadKind::Connections => LoadChangeDoc::Connections(parse_count(&value)?),
    };
    send(shared, run, ControlRequest::Set { load, phase: Some(phase) }).await
}

/// Adds an event to the run.
pub(crate) async fn event(
    shared: State<Shared>,
    run: Path<String>,
    bytes: Bytes,
) -> Result<Response, Problem> {
    let EventBody { text } = body(&bytes)?;
    send(shared, run, ControlRequest::Mark { text }).await
}

async fn send(
    State(shared): State<Shared>,
    Path(run): Path<String>,
    request: ControlRequest,
) -> Result<Response, Problem> {
    let reply = waiting(move || {
        // Only ids of running runs are names of sockets.
        if !shared.running()?.iter().any(|state| state.id == run) {
            let hint = if shared.entry(&run).is_ok() { "open its report" } else { "open the list of runs" };
            return Err(Problem::new(StatusCode::CONFLICT, format!("run {run} has ended"), hint));
        }
        client::send(&shared.config.run_folder, &run, &request).map_err(|error| {
            let message = format!("cannot reach run {run}: {error}");
            Problem::new(StatusCode::CONFLICT, message, "if it has ended, open its report")
        })
    });
    match reply.await? {
        ControlReply::Accepted(text) => Ok(json_response(&json!({ "accepted": text }))),
        ControlReply::Rejected { message, hint } => Err(Problem::bad_request(message, hint)),
        ControlReply::State(_) => {
            let message = "the run does not understand the request";
            Err(Problem::internal(message, "it was started by another version of wavetank"))
        }
    }
}
