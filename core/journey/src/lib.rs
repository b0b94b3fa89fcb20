//! The actions of one virtual user: the pure tools of a journey.
//!
//! - Preparation: data files become tables ([`data`]), bodies and addresses are written ([`body`]),
//!   requests are signed ([`auth`]), think times are drawn ([`think`]).
//! - Responses: cookies are kept ([`cookies`]), bodies decoded ([`content`]) and searched
//!   ([`extract`], [`xpath`]), redirects followed ([`redirect`]), embedded resources listed
//!   ([`embedded_resources`]).
//!
//! **What this crate must not know.** It has no sockets, files, clock or source of randomness:
//! bytes, random numbers and the time are arguments. It is separate from `core/plan` so that its
//! libraries are not built into every crate.
//!
//! **Invariants.** No bytes from a server or a data file can cause a panic, and named limits bound
//! work and memory. A mistake in the user's files is a [`UserError`](wavetank_units::UserError)
//! before the run.

pub mod auth;
pub mod body;
mod compiled;
pub mod content;
pub mod cookies;
pub mod data;
pub mod embedded_resources;
mod eval;
pub mod extract;
mod follow_up_error;
mod html_cost;
mod journeys;
mod number;
mod per_target_steps;
pub mod redirect;
mod state;
pub mod think;
pub mod value;
pub mod xpath;

#[doc(hidden)]
pub mod fuzzing;

pub use compiled::{CompiledCheck, CompiledStep, DEPTH_MAX, GrpcCodec, Program, RequestTemplate, Retain};
pub use eval::{
    FollowUp, FollowUpKind, FollowUpSink, NextMessage, Observation, Rejection, RenderContext, RenderError,
    SessionAction, SessionEvent, is_html_media_type,
};
pub use extract::RESOURCES_MAX;
pub use follow_up_error::FollowUpError;
pub use journeys::{Journey, Journeys};
pub use state::{Identity, RESOURCE_BYTES_MAX, Session};
