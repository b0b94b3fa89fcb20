//! What one user met on his way: from what happened to what may be shown of it.

mod message;
mod secrets;
mod story;
mod text;

pub(crate) use secrets::Secrets;
pub(crate) use story::Story;
pub(crate) use text::{event_text, walk_title};
