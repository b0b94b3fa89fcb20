//! What was measured: histograms, counters, sealed intervals and their exact merge.
//!
//! Load threads fill an [`Interval`] each second; merged intervals add up to [`Totals`]. Nothing here
//! knows sockets, files or clocks; everything merges exactly and in any order.

mod asked;
mod class;
mod counters;
mod course;
mod handshakes;
mod histogram;
mod hopeless;
mod host_book;
mod host_gauges;
mod host_sample;
mod impact;
mod impacts;
mod interval;
mod journeys;
mod judge;
mod ledger;
mod meeting;
mod named;
mod observed;
mod outcome;
mod plateaus;
mod sample;
mod sessions;
mod since;
mod skews;
mod sliding;
mod spans;
mod sparse;
mod subject_count;
mod thinned;
mod threshold;
mod totals;
mod tracker;
mod validity;
mod view;
mod violation;
mod watch;

pub use asked::{AskedSeries, CheckCount};
pub use class::{DropReason, ErrorClass};
pub use counters::{Bytes, ConnCounts, Counters, StatusCounts, Wire};
pub use course::{Column, Course, CourseMaker, StepColumn, StepCourse};
pub use handshakes::{Agreed, Handshakes};
pub use histogram::Histogram;
pub use hopeless::Hopeless;
pub use host_book::{HostBook, HostPeaks};
pub use host_sample::HostSample;
pub use impact::{Impact, Recovery, Seen};
pub use interval::{Interval, PhaseSeries, StepSeries, TargetSeries, ThreadHealth};
pub use journeys::{GroupSeries, Journeys};
pub use judge::Judge;
pub use ledger::Ledger;
pub use meeting::Meeting;
pub use observed::{Observed, TargetSample};
pub use plateaus::{HeldPhase, HeldSecond, Plateau, Plateaus};
pub use sessions::{SessionCounts, SessionSeries};
pub use spans::Spans;
pub use thinned::Thinned;
pub use threshold::{Threshold, ThresholdResult};
pub use totals::Totals;
pub use validity::{Share, ThreadLoad, Validity, WindowShare};
pub use view::{Selection, View};
pub use violation::Violation;
pub use watch::Watch;
