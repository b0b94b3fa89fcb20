//! `wavetank lab`: brought up, used, taken down, and killed at every possible point. Each time
//! nothing is left.

mod agents;
mod bottleneck;
mod checked;
mod churn;
mod died;
mod errands;
mod events;
mod examples;
mod faults;
mod felt;
mod killed;
mod life;
mod metrics;
mod net;
mod own;
mod own_checked;
pub(crate) mod place;
mod pool;
mod reported;
mod routing;
mod run;
mod services;
mod several;
mod six;
mod together;
