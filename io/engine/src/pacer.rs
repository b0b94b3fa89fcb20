//! [`Pacer`]: when does the next arrival fall due, when do users start, when is an interval over.

use std::collections::VecDeque;

use wavetank_pace::{Schedule, ScheduleSpec, Share};
use wavetank_plan::constants::INTERVAL;
use wavetank_plan::{Key, Load, Nanos, Plan};

use crate::exchange::{Offered, Owner};

/// The instants of one load thread's plan. The plan speaks of the run's clock; all instants that go in and out
/// here are of the thread's.
pub(crate) struct Pacer {
    /// The run's zero on the thread's clock.
    zero: Nanos,
    phases: Vec<PhasePace>,
    /// Offered and not begun yet, in order of their intended instant.
    pub(crate) ready: VecDeque<Offered>,
    /// Instants at which an interval must end though no second does: begin and end of phases.
    edges: Vec<Nanos>,
    /// Nothing that is intended then or later is wanted.
    ends_at: Nanos,
}

struct PhasePace {
    start: Nanos,
    end: Option<Nanos>,
    scenario: u16,
    kind: Kind,
}

enum Kind {
    Arrivals(Box<Schedule>),
    /// Users start at the phase's start; afterwards they pace themselves.
    Users {
        started: bool,
    },
}

impl Pacer {
    /// Nothing is to happen yet.
    pub(crate) fn idle() -> Self {
        Self {
            zero: Nanos::ZERO,
            phases: Vec::new(),
            ready: VecDeque::new(),
            edges: Vec::new(),
            ends_at: Nanos::MAX,
        }
    }

    /// The run's clock begins at `zero`.
    pub(crate) fn new(plan: &Plan, share: Share, zero: Nanos) -> Self {
        let mut edges = Vec::new();
        let mut phases = Vec::new();
        for (index, phase) in (0_u16..).zip(&plan.phases) {
            edges.push(phase.start);
            edges.extend(phase.end());
            let kind = match phase.load {
                Load::Open { rate, arrivals } => Kind::Arrivals(Box::new(Schedule::new(ScheduleSpec {
                    seed: plan.seed,
                    phase: index,
                    start: phase.start,
                    end: phase.end(),
                    rate,
                    arrivals,
                    count_max: phase.requests_max,
                    share,
                }))),
                Load::Closed { .. } => Kind::Users { started: false },
            };
            let scenario = u16::try_from(phase.scenario).expect("the plan limits scenarios");
            phases.push(PhasePace { start: phase.start, end: phase.end(), scenario, kind });
        }
        edges.sort_unstable();
        edges.dedup();
        Self { zero, phases, ready: VecDeque::new(), edges, ends_at: Nanos::MAX }
    }

    /// When the next arrival falls due.
    #[inline]
    pub(crate) fn next_arrival(&mut self) -> Option<Nanos> {
        let (zero, ends_at) = (self.zero, self.ends_at);
        self.phases
            .iter_mut()
            .filter_map(|phase| match &mut phase.kind {
                Kind::Arrivals(schedule) => schedule.peek(),
                Kind::Users { started } => (!*started).then_some(phase.start),
            })
            .min()
            .map(|at| at + zero)
            .filter(|&at| at < ends_at)
    }

    /// The next arrival intended before `limit`.
    #[inline]
    pub(crate) fn pop_arrival(&mut self, limit: Nanos) -> Option<Due> {
        let zero = self.zero;
        let limit = limit.min(self.ends_at) - zero;
        for (index, phase) in (0_u16..).zip(&mut self.phases) {
            match &mut phase.kind {
                Kind::Arrivals(schedule) => {
                    if schedule.peek().is_some_and(|at| at < limit) {
                        let arrival = schedule.pop()?;
                        let key = Key { phase: index, scenario: phase.scenario, step: 0 };
                        return Some(Due::Arrival(Offered {
                            key,
                            intended: arrival.at + zero,
                            owner: Owner::Arrival,
                        }));
                    }
                }
                Kind::Users { started } => {
                    if !*started && phase.start < limit {
                        *started = true;
                        return Some(Due::Users(phase.start + zero));
                    }
                }
            }
        }
        None
    }

    /// The key of a user's request in `phase`.
    #[inline]
    pub(crate) fn user_key(&self, phase: u16) -> Key {
        Key { phase, scenario: self.phases[usize::from(phase)].scenario, step: 0 }
    }

    /// Whether every phase is over at `now`: by time, or because its counted requests are offered, which
    /// for users `users_used_up` tells.
    pub(crate) fn is_over(&self, now: Nanos, users_used_up: impl Fn(usize) -> bool) -> bool {
        self.phases.iter().enumerate().all(|(index, phase)| {
            let used_up = match &phase.kind {
                Kind::Arrivals(schedule) => schedule.is_used_up(),
                Kind::Users { started } => *started && users_used_up(index),
            };
            used_up || phase.end.is_some_and(|end| end + self.zero <= now)
        })
    }

    /// From `at` of the run's clock on the open phase under way then has another rate.
    pub(crate) fn change_rate(&mut self, at: Nanos, rate: wavetank_plan::Rate) {
        for phase in &mut self.phases {
            if phase.start <= at
                && phase.end.is_none_or(|end| at < end)
                && let Kind::Arrivals(schedule) = &mut phase.kind
            {
                schedule.change(at, rate);
            }
        }
    }

    /// The load ends at `at`, before its time.
    pub(crate) fn end_at(&mut self, at: Nanos) {
        self.ends_at = self.ends_at.min(at);
    }

    /// Whether what is intended at `at` comes after such an end.
    pub(crate) fn is_ended(&self, at: Nanos) -> bool {
        at >= self.ends_at
    }

    /// When the first phase begins: until then connections are opened, in one interval.
    pub(crate) fn first_edge(&self) -> Nanos {
        self.edges.first().copied().unwrap_or(Nanos::ZERO) + self.zero
    }

    /// `instant` on the run's clock.
    #[inline]
    pub(crate) fn on_run_clock(&self, instant: Nanos) -> Nanos {
        instant - self.zero
    }

    /// The run's `instant` on the thread's clock.
    pub(crate) fn on_thread_clock(&self, instant: Nanos) -> Nanos {
        instant.after(self.zero)
    }

    /// The end of the interval that holds `instant`: the next whole second or edge of a phase.
    pub(crate) fn interval_end(&self, instant: Nanos) -> Nanos {
        let instant = instant - self.zero;
        let second = Nanos((instant.0.div_euclid(INTERVAL.0) + 1) * INTERVAL.0);
        let edge = self.edges.iter().copied().find(|&edge| edge > instant);
        edge.map_or(second, |edge| edge.min(second)) + self.zero
    }
}

/// What falls due.
#[derive(Clone, Copy)]
pub(crate) enum Due {
    /// An arrival of the open model.
    Arrival(Offered),
    /// Users of the closed model start, intended at that instant.
    Users(Nanos),
}
