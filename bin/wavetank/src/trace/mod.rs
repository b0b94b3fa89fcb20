//! The trace of one user: from what happened to what may be shown of it.

mod message;
mod recorder;
mod secrets;
mod text;

pub(crate) use recorder::TraceRecorder;
pub(crate) use secrets::SecretScrubber;
pub(crate) use text::{event_text, walk_title};
