//! Computes when each arrival is due.
//!
//! A phase has one global schedule, a function of (seed, phase, rates) alone. [`Schedule`] walks
//! the part of it that a [`Partition`] owns. Any number of threads and agents therefore send the
//! same list of arrivals together. [`PopulationSchedule`] does the same for virtual users and held
//! connections that start and leave. [`WeightedScenarios`] picks the scenario of a session or
//! virtual user.
//!
//! The other parts are [`Timers`] (a timer wheel), [`Philox`] (keyed random values) and
//! [`CountedLimit`] (totals such as `max_open`, split over threads). This crate knows no threads,
//! sockets or clock: time is an argument. Nothing here allocates once a phase is running.
//!
//! ```
//! use wavetank_pace::{ArrivalSource, Partition, Schedule, ScheduleSpec};
//! use wavetank_plan::{Arrivals, RateCurve};
//! use wavetank_units::{Nanos, Rate};
//!
//! let thread_1_of_2 = Partition::WHOLE.split(2, 1);
//! let rate = RateCurve::constant(Rate::per_second(4), None);
//! let mut schedule = Schedule::new(ScheduleSpec {
//!     seed: 7,
//!     phase: 0,
//!     start: Nanos::ZERO,
//!     end: Some(Nanos::SECOND),
//!     line: ArrivalSource::Rate(&rate, Arrivals::Even),
//!     count_max: None,
//!     share: thread_1_of_2,
//! });
//! let mine: Vec<_> = std::iter::from_fn(|| schedule.pop()).map(|a| (a.index, a.at)).collect();
//! assert_eq!(mine, [(1, Nanos::from_millis(250)), (3, Nanos::from_millis(750))]);
//! ```

mod counted_limit;
mod even;
mod poisson;
mod poisson_table;
mod population;
mod random;
mod scenario_choice;
mod schedule;
mod share;
mod sorted_uniform;
mod timers;

pub use counted_limit::CountedLimit;
pub use population::{PopulationChange, PopulationSchedule};
pub use random::Philox;
pub use scenario_choice::WeightedScenarios;
pub use schedule::{Arrival, ArrivalSource, Schedule, ScheduleSpec};
pub use share::{Partition, weighted_shares};
pub use timers::{TimerId, Timers};
