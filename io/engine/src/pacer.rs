//! [`Pacer`]: computes when arrivals are due, when users start and leave, and when an interval
//! ends.

use std::collections::VecDeque;

use wavetank_pace::{Partition, PopulationSchedule, Schedule, ScheduleSpec, WeightedScenarios};
use wavetank_plan::constants::INTERVAL;
use wavetank_plan::{Key, Phase, Plan};
use wavetank_units::{Nanos, Rate};

use crate::offered::{OfferedRequest, Owner};
use crate::users::Users;

/// The instants of one load thread's plan. The plan uses the run's clock; all arguments and results
/// here use the thread's clock.
pub(crate) struct Pacer {
    /// The zero of the run's clock on the thread's clock.
    zero: Nanos,
    phases: Vec<PhasePace>,
    tracks: Vec<TrackPace>,
    /// Requests that were offered and not started yet, in the order in which they were offered.
    pub(crate) ready: VecDeque<OfferedRequest>,
    /// Instants other than whole seconds at which an interval must end: start and end of phases.
    edges: Vec<Nanos>,
    /// Requests intended at or after this instant are not sent.
    ends_at: Nanos,
}

struct PhasePace {
    start: Nanos,
    end: Option<Nanos>,
    scenario: WeightedScenarios,
    /// The arrivals of the open loop. In the closed loop users pace themselves.
    arrivals: Option<Box<Schedule>>,
    /// The rates that were set, in the order of the commands.
    changes: Vec<(Nanos, Rate)>,
}

/// When users of a track start and leave.
struct TrackPace {
    starts: PopulationSchedule,
    /// Starts of its phases, the next one first. Users that left early return then.
    joins: VecDeque<Nanos>,
    /// When users stop holding connections.
    over: Option<Nanos>,
    /// The earliest of all these instants, checked in every loop turn.
    next: Option<Nanos>,
}

impl Pacer {
    /// Creates a pacer without any planned events.
    pub(crate) fn idle() -> Self {
        Self {
            zero: Nanos::ZERO,
            phases: Vec::new(),
            tracks: Vec::new(),
            ready: VecDeque::new(),
            edges: Vec::new(),
            ends_at: Nanos::MAX,
        }
    }

    /// Creates a pacer for a run clock that starts at `zero`.
    pub(crate) fn new(plan: &Plan, share: Partition, zero: Nanos) -> Self {
        let mut edges = Vec::new();
        let mut phases = Vec::new();
        for (index, phase) in (0_u16..).zip(&plan.phases) {
            edges.push(phase.start);
            edges.extend(phase.end());
            let arrivals = ScheduleSpec::for_phase(plan.seed, index, phase, share);
            phases.push(PhasePace {
                start: phase.start,
                end: phase.end(),
                scenario: WeightedScenarios::for_sessions(&phase.mix, plan.seed, index),
                arrivals: arrivals.map(|spec| Box::new(Schedule::new(spec))),
                changes: Vec::new(),
            });
        }
        edges.sort_unstable();
        edges.dedup();
        let tracks = plan.tracks();
        let tracks = tracks.iter().map(|track| {
            let phases = || track.phases.iter().map(|&phase| &plan.phases[usize::from(phase)]);
            let starts = PopulationSchedule::new(phases(), Users::share(plan, track, share));
            let over = phases().next_back().and_then(Phase::end).filter(|_| track.hold);
            let joins = phases().map(|phase| phase.start).collect();
            let mut track = TrackPace { starts, joins, over, next: None };
            track.look_ahead();
            track
        });
        let tracks = tracks.collect();
        Self { zero, phases, tracks, ready: VecDeque::new(), edges, ends_at: Nanos::MAX }
    }

    /// Returns when the next arrival or change of users is due.
    #[inline]
    pub(crate) fn next_due(&mut self) -> Option<Nanos> {
        let (zero, ends_at) = (self.zero, self.ends_at);
        let arrivals = self.phases.iter_mut().filter_map(|phase| phase.arrivals.as_mut()?.peek());
        let moves = self.tracks.iter().filter_map(|track| track.next);
        arrivals.chain(moves).min().map(|at| at + zero).filter(|&at| at < ends_at)
    }

    /// Returns an arrival or change of users that is due before `limit`. Of parallel phases, the
    /// first in the plan comes first, even if another one is due earlier.
    #[inline]
    pub(crate) fn pop_due(&mut self, limit: Nanos) -> Option<Due> {
        let zero = self.zero;
        let limit = limit.min(self.ends_at) - zero;
        for (index, phase) in (0_u16..).zip(&mut self.phases) {
            if let Some(schedule) = &mut phase.arrivals
                && schedule.peek().is_some_and(|at| at < limit)
            {
                let arrival = schedule.pop()?;
                let scenario = phase.scenario.pick(|| arrival.index);
                let key = Key { phase: index, scenario, step: 0 };
                let intended = arrival.at + zero;
                let offered = OfferedRequest { key, intended, owner: Owner::Arrival };
                return Some(Due::Arrival(offered, arrival.index));
            }
        }
        (0_u16..).zip(&mut self.tracks).find_map(|(index, track)| track.pop(index, limit, zero))
    }

    /// Whether every phase is over at `now`, either by time or because its counted requests were
    /// all offered. For users, `users_used_up` returns the latter.
    pub(crate) fn is_over(&self, now: Nanos, users_used_up: impl Fn(usize) -> bool) -> bool {
        self.phases.iter().enumerate().all(|(index, phase)| {
            let used_up = match &phase.arrivals {
                Some(schedule) => schedule.is_exhausted(),
                None => phase.start + self.zero <= now && users_used_up(index),
            };
            used_up || phase.end.is_some_and(|end| end + self.zero <= now)
        })
    }

    /// Whether any phase continues after `at` or is still to start.
    pub(crate) fn has_load_after(&self, at: Nanos) -> bool {
        self.phases.iter().any(|phase| phase.end.is_none_or(|end| end + self.zero > at))
    }

    /// Sets the rate of phase number `phase` from `at` of the run's clock on.
    pub(crate) fn change_rate(&mut self, phase: u16, at: Nanos, rate: Rate) {
        if let Some(phase) = self.phases.get_mut(usize::from(phase))
            && let Some(schedule) = &mut phase.arrivals
        {
            schedule.change(at, rate);
            phase.changes.push((at, rate));
        }
    }

    /// Replaces the arrivals of the phases that start at `from` of the run's clock or later by
    /// those of `share`. None of them was offered yet.
    pub(crate) fn take_share(&mut self, plan: &Plan, share: Partition, from: Nanos) {
        for ((index, phase), pace) in (0_u16..).zip(&plan.phases).zip(&mut self.phases) {
            if phase.start < from {
                continue;
            }
            let Some(spec) = ScheduleSpec::for_phase(plan.seed, index, phase, share) else { continue };
            let mut schedule = Schedule::new(spec);
            for &(at, rate) in &pace.changes {
                schedule.change(at, rate);
            }
            pace.arrivals = Some(Box::new(schedule));
        }
    }

    /// Sets the number of users of a track, as the total of the run, from `at` of the run's clock
    /// to the end of its current phase.
    pub(crate) fn change_users(&mut self, track: u16, at: Nanos, users: u64) {
        let track = &mut self.tracks[usize::from(track)];
        track.starts.change(at, users);
        track.look_ahead();
    }

    /// Ends the load at `at`, before its planned end.
    pub(crate) fn cut_off_at(&mut self, at: Nanos) {
        self.ends_at = self.ends_at.min(at);
    }

    /// Whether a request intended at `at` falls after such an end.
    pub(crate) fn is_ended(&self, at: Nanos) -> bool {
        at >= self.ends_at
    }

    /// Returns when the first phase starts. Until then connections are opened, in one interval.
    pub(crate) fn first_edge(&self) -> Nanos {
        self.edges.first().copied().unwrap_or(Nanos::ZERO) + self.zero
    }

    /// Converts `instant` to the run's clock.
    #[inline]
    pub(crate) fn to_run_time(&self, instant: Nanos) -> Nanos {
        instant - self.zero
    }

    /// Converts the run's `instant` to the thread's clock.
    pub(crate) fn to_thread_time(&self, instant: Nanos) -> Nanos {
        instant.after(self.zero)
    }

    /// Returns the end of the interval that contains `instant`: the next whole second or edge of a
    /// phase.
    pub(crate) fn interval_end(&self, instant: Nanos) -> Nanos {
        let instant = instant - self.zero;
        let second = Nanos((instant.0.div_euclid(INTERVAL.0) + 1) * INTERVAL.0);
        let edge = self.edges.iter().copied().find(|&edge| edge > instant);
        edge.map_or(second, |edge| edge.min(second)) + self.zero
    }
}

/// An event that is due.
#[derive(Clone, Copy)]
pub(crate) enum Due {
    /// An arrival of the open loop, and its number within its phase.
    Arrival(OfferedRequest, u64),
    /// The number of users of a track on this thread changes to `users` at that instant.
    UserCount { track: u16, at: Nanos, users: u64 },
    /// The users of a track stop holding connections.
    TrackEnd { track: u16 },
    /// A phase of a track starts at that instant. Every user below the target number must be
    /// present.
    PhaseStart { track: u16, at: Nanos },
}

impl TrackPace {
    fn look_ahead(&mut self) {
        let next = [self.starts.peek(), self.joins.front().copied(), self.over];
        self.next = next.into_iter().flatten().min();
    }

    /// Returns the next event before `limit`.
    #[inline]
    fn pop(&mut self, track: u16, limit: Nanos, zero: Nanos) -> Option<Due> {
        let next = self.next.filter(|&at| at < limit)?;
        let due = self.take(track, next, zero);
        self.look_ahead();
        due
    }

    /// Returns the event at `next`. Changes of the user count come first at the same instant.
    fn take(&mut self, track: u16, next: Nanos, zero: Nanos) -> Option<Due> {
        if self.starts.peek() == Some(next) {
            let moved = self.starts.pop()?;
            return Some(Due::UserCount { track, at: moved.at + zero, users: moved.wanted });
        }
        if self.joins.front() == Some(&next) {
            self.joins.pop_front();
            return Some(Due::PhaseStart { track, at: next + zero });
        }
        self.over = None;
        Some(Due::TrackEnd { track })
    }
}
