//! [`Schedule`]: the arrivals of one phase that one thread owns, in order.

use std::sync::Arc;

use wavetank_plan::{Arrivals, Load, Nanos, Phase, Rate, RateCurve};

use crate::Partition;
use crate::even::EvenArrivals;
use crate::poisson::PoissonArrivals;

/// What fixes a schedule. Everything but `share` is the same for all threads and agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleSpec<'a> {
    /// The run's seed; only Poisson arrivals depend on it.
    pub seed: u64,
    /// The phase's index in the plan.
    pub phase: u16,
    /// Where the integral of the rate begins.
    pub start: Nanos,
    /// Arrivals fall before this instant; `None`: nothing but `count_max` ends them.
    pub end: Option<Nanos>,
    /// When they come, until [`Schedule::change`].
    pub line: ArrivalSource<'a>,
    /// Only arrivals with a global index below this one exist.
    pub count_max: Option<u64>,
    /// Which of them are this thread's.
    pub share: Partition,
}

/// What a schedule follows, from its start on. What lies beyond the end of a curve is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalSource<'a> {
    /// A rate, and how its arrivals are spaced.
    Rate(&'a RateCurve, Arrivals),
    /// These instants after the start, in order.
    Times(&'a Arc<[Nanos]>),
}

impl ArrivalSource<'_> {
    /// Where it ends by itself.
    fn end(self, start: Nanos) -> Nanos {
        match self {
            Self::Rate(rate, _) => start.after(rate.length()),
            Self::Times(_) => Nanos::MAX,
        }
    }
}

impl<'a> ScheduleSpec<'a> {
    /// The arrivals of a phase of the open model; `None` for any other.
    pub fn for_phase(seed: u64, index: u16, phase: &'a Phase, share: Partition) -> Option<Self> {
        let line = match &phase.load {
            Load::Open { rate, arrivals, .. } => ArrivalSource::Rate(rate, *arrivals),
            Load::Trace { times } => ArrivalSource::Times(times),
            Load::Closed { .. } | Load::Hold { .. } | Load::Pause => return None,
        };
        let (end, count_max) = (phase.end(), phase.arrivals_max());
        Some(Self { seed, phase: index, start: phase.start, end, line, count_max, share })
    }

    /// When arrival number `index` (from 0) of all shares falls due, if it comes: a phase that is over after so many
    /// sessions is so long, which its successor must know.
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

/// The owned arrivals of one phase in order of time (and of index). Deterministic: a function of the spec
/// and of the changes made, whatever the share and whenever it is asked.
#[derive(Clone, Debug)]
pub struct Schedule {
    end: Nanos,
    count_max: u64,
    share: Partition,
    /// The last arrival popped; a change comes after it.
    popped_at: Option<Nanos>,
    /// Owned index that comes next, and how many follow it in its run of consecutive ones.
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

/// Both kinds answer "when is index i", asked with rising i.
#[derive(Clone, Debug)]
enum Line {
    Even(EvenArrivals),
    Poisson(Box<PoissonArrivals>),
    /// Listed; replaced by an even line when the rate is changed.
    Times(Box<Times>),
}

#[derive(Clone, Debug)]
struct Times {
    start: Nanos,
    listed: Arc<[Nanos]>,
    /// From that instant on arrivals come at a rate, and the first of them has that index.
    changed: Option<(Nanos, u64, EvenArrivals)>,
}

impl Schedule {
    /// The arrivals of `spec.share`, from the first.
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

    /// When the next owned arrival falls due; `None` if there is none (unless the rate changes).
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

    /// Take the next owned arrival.
    #[inline]
    pub fn pop(&mut self) -> Option<Arrival> {
        let at = self.peek()?;
        let arrival = Arrival { index: self.index, at };
        self.popped_at = Some(at);
        self.step();
        Some(arrival)
    }

    /// Whether the counted limit, not the end, is why nothing follows.
    pub const fn is_exhausted(&self) -> bool {
        self.index >= self.count_max
    }

    /// From `at` on the rate is `rate`, replacing whatever was planned from there on. `at` is later than
    /// every arrival popped by any thread (an earlier one is taken as the instant after the last one
    /// popped here, and then threads may differ).
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

    /// Go to the next owned index without dividing.
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

    /// From `at` on arrivals come evenly, the first one at once, instead of those listed.
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
