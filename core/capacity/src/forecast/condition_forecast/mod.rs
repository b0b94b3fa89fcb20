//! [`ConditionForecast`]: whether a condition can be met, as known before anything is sent.

mod conditions;
mod judged_window;
mod outcome;
mod reach;
mod samples;

pub use outcome::ConditionForecast;
pub(super) use reach::sessions_for_requests;
