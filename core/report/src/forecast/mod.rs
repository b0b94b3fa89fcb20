//! `wavetank plan`: what a plan comes to, as an object and as text.
//!
//! [`forecast_doc`] puts together what the plan's arithmetic found; [`forecast_text`] is a function of the object alone.

mod chart;
mod conditions;
mod doc;
mod holding;
mod ruler;
mod sentences;
mod settings;
mod text;
pub(crate) mod words;

pub use doc::{Planned, forecast_doc};
pub use text::forecast_text;
pub(crate) use words::rate as short_rate;
