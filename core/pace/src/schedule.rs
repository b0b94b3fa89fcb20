//! [`Schedule`]: the arrivals of one phase that one thread owns, in order.

use wavetank_plan::{Arrivals, Nanos, Rate};

use crate::Share;
use crate::even::Even;
use crate::poisson::Poisson;

/// What fixes a schedule. Everything but `share` is the same for all threads and agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleSpec {
    /// The run's seed; only Poisson arrivals depend on it.
    pub seed: u64,
    /// The phase's index in the plan.
    pub phase: u16,
    /// Where the integral of the rate begins.
    pub start: Nanos,
    /// Arrivals fall before this instant; `None`: nothing but `count_max` ends them.
    pub end: Option<Nanos>,
    /// Arrivals per time, until [`Schedule::change`]. More than one per nanosecond counts as one.
    pub rate: Rate,
    /// How they are spaced.
    pub arrivals: Arrivals,
    /// Only arrivals with a global index below this one exist.
    pub count_max: Option<u64>,
    /// Which of them are this thread's.
    pub share: Share,
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
    share: Share,
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
    Even(Even),
    Poisson(Box<Poisson>),
}

impl Schedule {
    /// The arrivals of `spec.share`, from the first.
    pub fn new(spec: ScheduleSpec) -> Self {
        let end = spec.end.unwrap_or(Nanos::MAX);
        let first = spec.share.nth_checked(0);
        Self {
            end,
            count_max: spec.count_max.unwrap_or(u64::MAX),
            share: spec.share,
            popped_at: None,
            index: first.unwrap_or(u64::MAX),
            run_left: spec.share.width.saturating_sub(1),
            next: Next::Unknown,
            line: match spec.arrivals {
                Arrivals::Even => Line::Even(Even::new(spec.start, spec.rate)),
                Arrivals::Poisson => {
                    Line::Poisson(Box::new(Poisson::new(spec.seed, spec.phase, spec.start, end, spec.rate)))
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
    pub const fn is_used_up(&self) -> bool {
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
        }
        self.next = Next::Unknown;
    }

    fn find(&mut self) -> Option<Nanos> {
        if self.index >= self.count_max {
            return None;
        }
        let at = match &mut self.line {
            Line::Even(line) => line.at(self.index),
            Line::Poisson(line) => line.at(self.index),
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
