//! The list of runs, and one run.

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use serde_json::{Value, json};
use url::form_urlencoded;
use wavetank_record::LiveDoc;
use wavetank_store::{SearchFolder, summarize};

use crate::context::{Shared, waiting};
use crate::problem::{Problem, json_response};

/// Runs in one reply.
const ROWS_MAX: usize = 100;

/// The value with this name in the query of an address.
pub(crate) fn query_value(query: Option<&str>, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.find(|(own, _)| own == name).map(|(_, value)| value.into_owned())
}

/// `/api/start-page`: the run that the page shows first.
pub(crate) async fn start_page(State(shared): State<Shared>) -> Result<Response, Problem> {
    let found = waiting(move || {
        let Some(process) = shared.config.process else { return Ok(None) };
        let run = shared.running()?.into_iter().find(|run| run.pid == process);
        Ok(run.map(|run| run.id))
    });
    Ok(json_response(&json!({ "run": found.await? })))
}

/// `/api/runs?offset=0&limit=100`: running runs, then stored ones, newest first. Only the rows of
/// the reply are read, so that many runs are no burden.
pub(crate) async fn list(
    State(shared): State<Shared>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let offset =
        query_value(query.as_deref(), "offset").and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
    let limit = query_value(query.as_deref(), "limit").and_then(|text| text.parse::<usize>().ok());
    let limit = limit.unwrap_or(ROWS_MAX).min(ROWS_MAX);
    let reply = waiting(move || {
        let running = if offset == 0 { shared.running()? } else { Vec::new() };
        let listing = shared.runs().list()?;
        let rows = listing.runs.iter().rev().skip(offset).take(limit).map(summarize);
        Ok(json!({
            "runs_dir": shared.config.runs_dir.to_string_lossy(),
            "running": running.iter().map(brief).collect::<Vec<_>>(),
            "total": listing.runs.len(),
            "others": listing.foreign.len(),
            "offset": offset,
            "runs": rows.collect::<Vec<_>>(),
        }))
    });
    Ok(json_response(&reply.await?))
}

/// `/api/runs/RUN`: the state of a running run or search, or the summary of a stored one.
pub(crate) async fn one(State(shared): State<Shared>, Path(run): Path<String>) -> Result<Response, Problem> {
    let reply = waiting(move || {
        if let Some(state) = shared.running()?.into_iter().find(|state| state.id == run) {
            return Ok(json!({ "running": state }));
        }
        if let Some(search) = shared.search(&run)? {
            return Ok(json!({ "search": search_summary(&search)? }));
        }
        let entry = shared.entry(&run)?;
        Ok(json!({ "stored": summarize(&entry) }))
    });
    Ok(json_response(&reply.await?))
}

/// What a page shows of the stored search in the folder `path`.
fn search_summary(path: &std::path::Path) -> Result<Value, Problem> {
    let gone = || Problem::no_run(&path.to_string_lossy());
    let doc = SearchFolder::open(path).ok_or_else(gone)?.read()?;
    Ok(json!({
        "folder": path.file_name().unwrap_or_default().to_string_lossy(),
        "id": doc.id, "name": doc.name, "target": doc.target, "started_at": doc.started_at,
        "of": doc.of, "end": doc.answer.end, "exit": doc.answer.exit, "headline": doc.answer.headline,
        "runs": doc.runs.len(),
    }))
}

/// `/api/host`: busy ticks and all ticks of each CPU of this host since boot. The page shows the
/// difference of two replies.
pub(crate) async fn host() -> Result<Response, Problem> {
    let cores = waiting(|| {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        Ok(wavetank_observe::parse::cores(&text))
    });
    Ok(json_response(&json!({ "cores": cores.await? })))
}

fn brief(state: &LiveDoc) -> Value {
    json!({
        "id": state.id, "name": state.name, "target": state.target, "load": state.load, "state": state.state,
        "at_s": state.at_s, "ends_at_s": state.ends_at_s, "modified": state.modified,
        "offered_per_s": state.latest.offered_per_s, "done_per_s": state.latest.done_per_s,
        "failed": state.requests.failed, "agents": state.agents.len(), "search": state.search,
    })
}
