//! `wavetank lab`: brought up, used, taken down, and killed wherever it can be; each time nothing is left.

mod checked;
mod churn;
mod errands;
mod events;
mod examples;
mod faults;
mod felt;
mod killed;
mod life;
mod place;
mod pool;
mod routing;
mod run;
mod services;
mod several;
mod six;
mod together;
mod told;
