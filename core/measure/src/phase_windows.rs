//! [`PhaseWindows`]: the time ranges of phases and of the measured window.

use wavetank_plan::shape::climb_length;
use wavetank_plan::{Arrivals, Load, Phase, Plan};
use wavetank_units::Nanos;

use crate::Interval;

/// The time ranges of the phases. The *measured window* is the time of the judged phases; rates are
/// events inside it divided by its length. An interval is either completely inside or outside,
/// because seals fall on phase ends. An interval in which a phase was cut short still belongs to
/// that phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseWindows {
    phases: Vec<PhaseWindow>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PhaseWindow {
    start: Nanos,
    /// `None` until a phase without a length has ended.
    end: Option<Nanos>,
    /// When the last arrival of a counted, even load is due, and when the next one would be.
    last_arrivals: Option<(Nanos, Nanos)>,
    warmup: bool,
    /// Holds one and the same number of connections.
    holds: bool,
}

impl PhaseWindows {
    /// The times as planned.
    pub fn new(plan: &Plan) -> Self {
        let span = |phase: &Phase| PhaseWindow {
            start: phase.start,
            end: phase.end(),
            last_arrivals: last_arrivals(phase),
            warmup: phase.warmup,
            holds: holds(phase),
        };
        Self { phases: plan.phases.iter().map(span).collect() }
    }

    /// Phase number `phase` ended at `at`: earlier than planned, or it had no planned end.
    /// A later instant than the planned one changes nothing.
    pub fn phase_ended(&mut self, phase: u16, at: Nanos) {
        if let Some(span) = self.phases.get_mut(usize::from(phase)) {
            let at = at.max(span.start);
            span.end = Some(span.end.map_or(at, |planned| planned.min(at)));
        }
    }

    /// The load of phase number `phase` was changed, so that its last arrivals are not those of the
    /// plan.
    pub fn load_changed(&mut self, phase: u16) {
        if let Some(span) = self.phases.get_mut(usize::from(phase)) {
            span.last_arrivals = None;
        }
    }

    /// Whether phase number `phase` is warm-up; a phase the plan does not know is not.
    pub fn is_warmup(&self, phase: u16) -> bool {
        self.phases.get(usize::from(phase)).is_some_and(|span| span.warmup)
    }

    /// Whether `interval` is within the time of phase number `phase`.
    pub fn in_phase(&self, phase: u16, interval: &Interval) -> bool {
        self.phases.get(usize::from(phase)).is_some_and(|span| span.contains(interval.from))
    }

    /// Whether the connections open at the end of `interval` count as held. That is in the time of
    /// phases that hold a constant number, or in the measured window if there are no such phases.
    pub fn is_during_hold(&self, interval: &Interval) -> bool {
        let mut holding = self.phases.iter().filter(|span| span.holds && !span.warmup).peekable();
        match holding.peek() {
            Some(_) => holding.any(|span| span.contains_all(interval)),
            None => self.in_window(interval),
        }
    }

    /// Whether all of `interval` is within the time of phase number `phase`. An interval in which
    /// the phase was cut short is not: its open connections are those that closing has left.
    pub fn contains(&self, phase: u16, interval: &Interval) -> bool {
        self.phases.get(usize::from(phase)).is_some_and(|span| span.contains_all(interval))
    }

    /// Whether `interval` is in the measured window.
    pub fn in_window(&self, interval: &Interval) -> bool {
        self.phases.iter().any(|span| !span.warmup && span.contains(interval.from))
    }

    /// Returns how much of `interval` is in the measured window, or with `phase` in that phase's
    /// time. Less than its length only if a phase was cut short inside it.
    pub fn time_in(&self, phase: Option<u16>, interval: &Interval) -> Nanos {
        let wanted =
            |ix: usize, span: &PhaseWindow| phase.map_or(!span.warmup, |phase| usize::from(phase) == ix);
        let spans =
            self.phases.iter().enumerate().filter(|(ix, span)| wanted(*ix, span)).map(|(_, span)| span);
        let within = spans.filter(|span| span.contains(interval.from));
        let until = |span: &PhaseWindow| span.end.map_or(interval.end(), |end| end.min(interval.end()));
        within.map(|span| until(span) - interval.from).max().unwrap_or(Nanos::ZERO)
    }

    /// Whether an instant is in the measured window, or with `phase` in that phase's time.
    pub fn is_holding_at(&self, phase: Option<u16>, at: Nanos) -> bool {
        let wanted =
            |ix: usize, span: &PhaseWindow| phase.map_or(!span.warmup, |phase| usize::from(phase) == ix);
        self.phases.iter().enumerate().any(|(ix, span)| wanted(ix, span) && span.contains(at))
    }

    /// Whether connections opened in `interval` belong to phase number `phase`: in its time, or in
    /// the time before it that belongs to no other phase, in which its connections are opened
    /// ahead.
    pub fn in_opening(&self, phase: u16, interval: &Interval) -> bool {
        let Some(own) = self.phases.get(usize::from(phase)) else { return false };
        let next = self.phases.iter().map(|span| span.start).filter(|&start| start > interval.from).min();
        let between = self.phases.iter().all(|span| !span.contains(interval.from));
        let ahead = between && next == Some(own.start);
        own.contains(interval.from) || ahead
    }

    /// Whether `interval` is before the end of the last warm-up phase, so that its traffic counts
    /// as warm-up.
    pub fn in_warmup(&self, interval: &Interval) -> bool {
        let end = self.phases.iter().filter(|span| span.warmup).filter_map(|span| span.end).max();
        end.is_some_and(|end| interval.from < end)
    }

    /// Length of phase number `phase`; while a phase without an end runs, up to `now`.
    pub fn phase_length(&self, phase: u16, now: Nanos) -> Nanos {
        self.phases.get(usize::from(phase)).map_or(Nanos::ZERO, |span| span.length(now))
    }

    /// Length of the measured window: the union of the judged phases' times, up to `now`.
    pub fn window_length(&self, now: Nanos) -> Nanos {
        self.union_length(false, now)
    }

    /// Length of the warm-up phases' times, up to `now`.
    pub fn warmup_length(&self, now: Nanos) -> Nanos {
        self.union_length(true, now)
    }

    fn union_length(&self, warmup: bool, now: Nanos) -> Nanos {
        let mut spans: Vec<_> = self.phases.iter().filter(|span| span.warmup == warmup).collect();
        spans.sort_by_key(|span| span.start);
        let (mut total, mut covered) = (Nanos::ZERO, Nanos(i64::MIN));
        for span in spans {
            let start = span.start.max(covered);
            let end = span.start + span.length(now);
            if end > start {
                total += end - start;
                covered = end;
            }
        }
        total
    }
}

impl PhaseWindow {
    fn contains(&self, at: Nanos) -> bool {
        self.start <= at && self.end.is_none_or(|end| at < end)
    }

    fn contains_all(&self, interval: &Interval) -> bool {
        self.contains(interval.from) && self.end.is_none_or(|end| interval.end() <= end)
    }

    /// N arrivals at a rate take N times its spacing, although the last response may come before
    /// that. Otherwise the measured rate would be above the one that was offered.
    fn length(&self, now: Nanos) -> Nanos {
        let end = self.end.map_or(now, |end| end.min(now));
        let scheduled =
            self.last_arrivals.filter(|(last, _)| self.end.is_some_and(|end| *last <= end.min(now)));
        let end = scheduled.map_or(end, |(_, next)| end.max(next));
        Nanos(end.since(self.start) as i64)
    }
}

/// Returns when the last arrival is due of a phase that a number of arrivals ends, and when the
/// next one would be. `None` without a constant rate, or with arrivals by chance.
fn last_arrivals(phase: &Phase) -> Option<(Nanos, Nanos)> {
    let Load::Open { rate, arrivals: Arrivals::Even, .. } = &phase.load else { return None };
    let (count, rate) = (phase.requests_max.or(phase.sessions_max)?, rate.as_constant()?);
    let due = |arrivals: u64| climb_length(0, arrivals, rate).map(|length| phase.start.after(length));
    let (last, next) = (due(count.checked_sub(1)?)?, due(count)?);
    // The end of the phase comes first.
    Some((last, phase.end().map_or(next, |end| end.min(next))))
}

/// Whether a phase holds a constant number of connections above zero.
fn holds(phase: &Phase) -> bool {
    matches!(&phase.load, Load::Hold { connections, .. } if connections.as_constant().is_some_and(|count| count > 0))
}
