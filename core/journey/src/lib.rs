//! What one virtual user does: the pure tools of a journey.
//!
//! Data files become tables ([`data`]), bodies and addresses are written ([`body`]), requests signed ([`auth`]), cookies
//! kept ([`cookies`]), answers uncompressed ([`content`]) and looked into ([`extract`], [`xpath`]), redirects followed
//! ([`redirect`]), what a page embeds is listed ([`embedded_resources`]), think times are drawn ([`think`]).
//!
//! **What this crate must not know.** No sockets, files, clock or randomness of its own: bytes, random words and
//! the time are arguments. It is kept out of `core/plan` so that its libraries are not built into everything.
//!
//! **Invariants.** Whatever bytes a server or a data file holds, nothing here panics, and work and memory are
//! bounded by named limits. What a person wrote wrongly is a [`UserError`](wavetank_plan::UserError) before the run.

pub mod auth;
pub mod body;
mod compiled_check;
pub mod content;
pub mod cookies;
pub mod data;
pub mod embedded_resources;
pub mod extract;
mod follow_up;
mod follow_up_error;
mod html_cost;
mod journeys;
mod number;
mod per_target_steps;
mod program;
pub mod redirect;
mod render_context;
mod request_template;
mod session;
mod step;
mod target_matcher;
pub mod think;
pub mod value;
pub mod xpath;

#[doc(hidden)]
pub mod fuzzing;

pub use compiled_check::CompiledCheck;
pub use follow_up::{FollowUp, FollowUpKind, NextMessage, is_html_media_type};
pub use follow_up_error::FollowUpError;
pub use journeys::{Journey, Journeys};
pub use program::Program;
pub use render_context::{RenderContext, RenderError};
pub use request_template::RequestTemplate;
pub use session::{DEPTH_MAX, Identity, Session, SessionAction, SessionEvent};
pub use step::{
    CompiledStep, FollowUpSink, Observation, RESOURCE_BYTES_MAX, RESOURCES_MAX, Rejection, Retain,
};
