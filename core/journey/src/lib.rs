//! What one virtual user does: the pure tools of a journey.
//!
//! Data files become tables ([`rows`]), bodies and addresses are written ([`body`]), requests signed ([`auth`]), cookies
//! kept ([`cookies`]), answers uncompressed ([`content`]) and looked into ([`extract`], [`xpath`]), redirects followed
//! ([`redirect`]), what a page embeds is listed ([`resources`]), think times are drawn ([`think`]).
//!
//! **What this crate must not know.** No sockets, files, clock or randomness of its own: bytes, random words and
//! the time are arguments. It is kept out of `core/plan` so that its libraries are not built into everything.
//!
//! **Invariants.** Whatever bytes a server or a data file holds, nothing here panics, and work and memory are
//! bounded by named limits. What a person wrote wrongly is a [`UserError`](wavetank_plan::UserError) before the run.

mod asked;
pub mod auth;
pub mod body;
mod choice;
pub mod content;
pub mod cookies;
pub mod extract;
mod journeys;
mod leg;
mod number;
mod page;
mod places;
mod program;
pub mod redirect;
pub mod resources;
pub mod rows;
mod scene;
mod session;
mod shape;
mod step;
mod stray;
pub mod think;
pub mod value;
pub mod xpath;

#[doc(hidden)]
pub mod fuzzing;

pub use asked::Asked;
pub use journeys::{Journey, Journeys};
pub use leg::{Leg, LegKind, Onward, names_page};
pub use program::Program;
pub use scene::{Lacking, Scene};
pub use session::{DEPTH_MAX, Identity, Next, Session, Told};
pub use shape::Shape;
pub use step::{Keeps, Look, Outgoing, RESOURCE_BYTES_MAX, RESOURCES_MAX, StepWork, Unwanted};
pub use stray::Stray;
