//! [`Schedule`]: the arrivals of one phase that one thread owns, in order.

use std::sync::Arc;

use wavetank_plan::{Arrivals, Load, Phase, RateCurve};
use wavetank_units::{Nanos, Rate};

use crate::Partition;
use crate::even::EvenArrivals;
use crate::poisson::PoissonArrivals;

/// The inputs of a schedule. Everything but `share` is the same for all threads and agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleSpec<'a> {
    /// The run's seed; only Poisson arrivals depend on it.
    pub seed: u64,
    /// The phase's index in the plan.
    pub phase: u16,
    /// The instant at which the integral of the rate starts.
    pub start: Nanos,
    /// Arrivals are due before this instant; `None` if only `count_max` ends them.
    pub end: Option<Nanos>,
    /// The source of the arrivals until [`Schedule::change`].
    pub line: ArrivalSource<'a>,
    /// Only arrivals with a global index below this one exist.
    pub count_max: Option<u64>,
    /// The arrivals that this thread owns.
    pub share: Partition,
}

/// The source of the arrivals of a schedule, relative to its start. There are no arrivals beyond
/// the end of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalSource<'a> {
    /// A rate, and how its arrivals are spaced.
    Rate(&'a RateCurve, Arrivals),
    /// These instants after the start, in order.
    Times(&'a Arc<[Nanos]>),
}

impl ArrivalSource<'_> {
    /// Returns the instant at which the source ends without further limits.
    fn end(self, start: Nanos) -> Nanos {
        match self {
            Self::Rate(rate, _) => start.after(rate.length()),
            Self::Times(_) => Nanos::MAX,
        }
    }
}

impl<'a> ScheduleSpec<'a> {
    /// The arrivals of an open-loop phase; `None` for any other phase.
    pub fn for_phase(seed: u64, index: u16, phase: &'a Phase, share: Partition) -> Option<Self> {
        let line = match &phase.load {
            Load::Open { rate, arrivals, .. } => ArrivalSource::Rate(rate, *arrivals),
            Load::Trace { times } => ArrivalSource::Times(times),
            Load::Closed { .. } | Load::Hold { .. } | Load::Pause => return None,
        };
        let (end, count_max) = (phase.end(), phase.arrivals_max());
        Some(Self { seed, phase: index, start: phase.start, end, line, count_max, share })
    }

    /// Returns when arrival `index` (from 0) of all shares is due, if it exists. A phase that ends
    /// after a number of sessions has this length, which the next phase must know.
    pub fn instant_at(self, index: u64) -> Option<Nanos> {
        let share = Partition { first: index, width: 1, of: index.checked_add(1)? };
        Schedule::new(ScheduleSpec { share, ..self }).peek()
    }
}

/// One arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// Global index within the phase, from 0.
    pub index: u64,
    /// The intended instant.
    pub at: Nanos,
}

/// The owned arrivals of one phase in order of time (and of index).
///
/// The result is deterministic: a function of the spec and the changes made, independent of the
/// share and of the time of the calls.
#[derive(Clone, Debug)]
pub struct Schedule {
    end: Nanos,
    count_max: u64,
    share: Partition,
    /// Instant of the last arrival popped; a change takes effect after it.
    popped_at: Option<Nanos>,
    /// The next owned index, and how many follow it in its run of consecutive ones.
    index: u64,
    run_left: u64,
    next: Next,
    line: Line,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Unknown,
    At(Nanos),
    Nothing,
}

/// Both kinds return when index `i` is due. Indices are requested in rising order.
#[derive(Clone, Debug)]
enum Line {
    Even(EvenArrivals),
    Poisson(Box<PoissonArrivals>),
    /// Listed instants; an even source replaces them when the rate is changed.
    Times(Box<Times>),
}

#[derive(Clone, Debug)]
struct Times {
    start: Nanos,
    listed: Arc<[Nanos]>,
    /// From this instant on arrivals are even, and the first of them has this index.
    changed: Option<(Nanos, u64, EvenArrivals)>,
}

impl Schedule {
    /// Creates the arrivals of `spec.share`, from the first one on.
    pub fn new(spec: ScheduleSpec<'_>) -> Self {
        let end = spec.end.unwrap_or(Nanos::MAX).min(spec.line.end(spec.start));
        let first = spec.share.nth_checked(0);
        Self {
            end,
            count_max: spec.count_max.unwrap_or(u64::MAX),
            share: spec.share,
            popped_at: None,
            index: first.unwrap_or(u64::MAX),
            run_left: spec.share.width.saturating_sub(1),
            next: Next::Unknown,
            line: match spec.line {
                ArrivalSource::Rate(rate, Arrivals::Even) => Line::Even(EvenArrivals::new(spec.start, rate)),
                ArrivalSource::Rate(rate, Arrivals::Poisson) => Line::Poisson(Box::new(
                    PoissonArrivals::new(spec.seed, spec.phase, spec.start, end, rate),
                )),
                ArrivalSource::Times(times) => {
                    let listed = Arc::clone(times);
                    Line::Times(Box::new(Times { start: spec.start, listed, changed: None }))
                }
            },
        }
    }

    /// Returns when the next owned arrival is due; `None` if no more follow (unless the rate
    /// changes).
    #[inline]
    pub fn peek(&mut self) -> Option<Nanos> {
        if let Next::Unknown = self.next {
            self.next = self.find().map_or(Next::Nothing, Next::At);
        }
        match self.next {
            Next::At(at) => Some(at),
            Next::Nothing | Next::Unknown => None,
        }
    }

    /// Takes the next owned arrival.
    #[inline]
    pub fn pop(&mut self) -> Option<Arrival> {
        let at = self.peek()?;
        let arrival = Arrival { index: self.index, at };
        self.popped_at = Some(at);
        self.step();
        Some(arrival)
    }

    /// Returns whether the counted limit, not the end, is the reason that no arrival follows.
    pub const fn is_exhausted(&self) -> bool {
        self.index >= self.count_max
    }

    /// Sets the rate to `rate` from `at` on, replacing what was planned after it.
    ///
    /// `at` must be later than every arrival popped by any thread. An earlier instant is moved to
    /// just after the last arrival popped here, and then threads may differ.
    pub fn change(&mut self, at: Nanos, rate: Rate) {
        let at = self.popped_at.map_or(at, |popped| at.max(popped.after(Nanos(1))));
        match &mut self.line {
            Line::Even(line) => line.change(at, rate),
            Line::Poisson(line) => line.change(at, rate),
            Line::Times(line) => line.change(at, rate),
        }
        self.next = Next::Unknown;
    }

    fn find(&mut self) -> Option<Nanos> {
        if self.index >= self.count_max {
            return None;
        }
        let at = match &mut self.line {
            Line::Even(line) => line.instant_at(self.index),
            Line::Poisson(line) => line.instant_at(self.index),
            Line::Times(line) => line.at(self.index),
        };
        at.filter(|&at| at < self.end)
    }

    /// Advances to the next owned index without a division.
    #[inline]
    fn step(&mut self) {
        let step = if self.run_left > 0 {
            self.run_left -= 1;
            1
        } else {
            self.run_left = self.share.width - 1;
            self.share.of - self.share.width + 1
        };
        self.index = self.index.saturating_add(step);
        self.next = Next::Unknown;
    }
}

impl Times {
    fn at(&mut self, index: u64) -> Option<Nanos> {
        if let Some((_, first, rate)) = &mut self.changed
            && index >= *first
        {
            return rate.instant_at(index - *first);
        }
        let time = *self.listed.get(usize::try_from(index).ok()?)?;
        self.start.0.checked_add(time.0).map(Nanos)
    }

    /// Replaces the listed arrivals by even ones from `at` on; the first of them is due
    /// immediately.
    fn change(&mut self, at: Nanos, rate: Rate) {
        if let Some((changed_at, _, line)) = &mut self.changed
            && *changed_at < at
        {
            return line.change(at, rate);
        }
        let start = self.start;
        let first = self.listed.partition_point(|&time| start.after(time) < at) as u64;
        self.changed = Some((at, first, EvenArrivals::new(at, &RateCurve::constant(rate, None))));
    }
}
