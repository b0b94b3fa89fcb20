//! `/api/runs/RUN/live`: the states of a running run as server-sent events.

use std::convert::Infallible;

use axum::extract::{Path, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::unfold;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, Sender, channel, error::TrySendError};
use wavetank_control::client;
use wavetank_record::LiveState;
use wavetank_units::WATCHER_NICENESS;

use crate::context::{STREAMS_MAX, Shared, waiting};
use crate::problem::Problem;

/// States that wait for a browser that does not read, e.g. because it sleeps. It misses later ones.
const STATES_MAX: usize = 4;

/// What a browser receives.
enum Message {
    /// A state as JSON.
    State(String),
    /// The run is over or cannot be reached any more; nothing follows.
    Ended,
}

/// Passes on the state at each seal until the run is over. The browser connects again if the
/// connection is cut.
pub(crate) async fn live(State(shared): State<Shared>, Path(run): Path<String>) -> Result<Response, Problem> {
    let slot = std::sync::Arc::clone(&shared.streams).try_acquire_owned().map_err(|_| {
        let message = format!("{STREAMS_MAX} pages watch runs already");
        Problem::internal(message, "close some of them")
    })?;
    let (sender, receiver) = channel(STATES_MAX);
    let ended = sender.clone();
    let started = waiting(move || {
        if !shared.running()?.iter().any(|state| state.id == run) {
            return Ok(false);
        }
        let watch = move || {
            let _ = rustix::process::setpriority_process(None, WATCHER_NICENESS);
            watch(&shared, &run, &sender);
        };
        // Without a thread the browser tries again.
        Ok(std::thread::Builder::new().name("ui-watch".to_owned()).spawn(watch).is_ok())
    });
    if !started.await? {
        // The queue is empty, so there is room.
        let _ = ended.try_send(Message::Ended);
    }
    drop(ended);
    let events = unfold((receiver, slot), next_event);
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

type Stream = (Receiver<Message>, OwnedSemaphorePermit);

async fn next_event((mut receiver, slot): Stream) -> Option<(Result<Event, Infallible>, Stream)> {
    let event = match receiver.recv().await? {
        Message::State(state) => Event::default().data(state),
        Message::Ended => Event::default().event("ended").data("{}"),
    };
    Some((Ok(event), (receiver, slot)))
}

/// Reads states until the run ends or the browser leaves. It always reads on, so that the run never
/// waits for a browser.
fn watch(shared: &Shared, run: &str, sender: &Sender<Message>) {
    let Ok(states) = client::watch(&shared.config.run_folder, run) else { return };
    let mut over = false;
    for state in states {
        let Ok(state) = state else { break };
        over = state.state == LiveState::Over;
        match sender.try_send(Message::State(state.to_json())) {
            Err(TrySendError::Closed(_)) => return,
            // The last state must arrive. This waits for the browser, not the run.
            Err(TrySendError::Full(last)) if over => drop(sender.blocking_send(last)),
            _ => {}
        }
    }
    let is_gone = || shared.running().is_ok_and(|runs| runs.iter().all(|state| state.id != run));
    if over || is_gone() {
        let _ = sender.blocking_send(Message::Ended);
    }
}
