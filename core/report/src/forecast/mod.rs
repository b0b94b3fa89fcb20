//! `wavetank plan`: the forecast of a plan, as an object and as text.
//!
//! [`forecast_doc`] collects the results of the plan's arithmetic; [`forecast_text`] is a function
//! of the object alone.

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
pub use text::forecast_text;
