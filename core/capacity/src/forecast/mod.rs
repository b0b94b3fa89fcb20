//! The forecast of a plan, printed before anything is sent: the arithmetic behind `wavetank plan`.
//!
//! Pure functions of the [`Plan`]. Values that the plan fixes are exact. Random values have a mean
//! and bounds. Values that depend on responses have bounds or none, and are marked as such. The
//! target's speed is never guessed.

mod bounded_estimate;
mod condition_forecast;
mod holding;
mod list_cost;
mod need;
mod notes;
mod opening;
mod phase;
mod plan_forecast;
mod population_changes;
mod risks;
mod session;
mod timeline;
mod walk;

pub use bounded_estimate::BoundedEstimate;
pub use condition_forecast::ConditionForecast;
pub use holding::HoldForecast;
pub use list_cost::ListCost;
pub use need::{ResourceNeed, needs};
pub use notes::notes;
pub use opening::ConnectForecast;
pub use phase::{CapReached, PhaseForecast};
pub use plan_forecast::Forecast;
pub use risks::risks;

pub use session::SessionForecast;
pub use timeline::{POINTS_MAX, Timeline, TimelinePoint};
