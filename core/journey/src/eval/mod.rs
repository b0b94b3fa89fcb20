//! Evaluates compiled data on the data of a session: the next action, the next request, and the
//! consequences of its response.

mod advance;
mod authenticate;
mod check;
mod cookie_field;
mod embedded;
mod follow_up;
mod follow_up_sink;
mod follow_ups;
mod judge;
mod message;
mod referrer;
mod rejection;
mod render_context;
mod render_error;
mod request;
mod rewrite;
mod session_event;
mod template;

pub use advance::SessionAction;
pub use follow_up::{FollowUp, FollowUpKind, NextMessage, is_html_media_type};
pub use follow_up_sink::{FollowUpSink, Observation};
pub use rejection::Rejection;
pub use render_context::RenderContext;
pub use render_error::RenderError;
pub use session_event::SessionEvent;
