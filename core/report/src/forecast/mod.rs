//! `wavetank plan`: what a plan comes to, as an object and as text.
//!
//! [`forecast_doc`] puts together what the plan's arithmetic found; [`forecast_text`] is a function of the object alone.

mod chart;
mod conditions;
mod doc;
pub(crate) mod format;
mod holding;
mod phase_axis;
mod sentences;
mod settings;
mod text;

pub use doc::{ForecastInput, forecast_doc};
pub(crate) use format::rate as short_rate;
pub use text::forecast_text;
