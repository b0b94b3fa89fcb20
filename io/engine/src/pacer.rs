//! [`Pacer`]: when does the next arrival fall due, when do users come and go, when is an interval over.

use std::collections::VecDeque;

use wavetank_pace::{Partition, PopulationSchedule, Schedule, ScheduleSpec, WeightedScenarios};
use wavetank_plan::constants::INTERVAL;
use wavetank_plan::{Key, Nanos, Phase, Plan};

use crate::offered::{OfferedRequest, Owner};
use crate::users::Users;

/// The instants of one load thread's plan. The plan speaks of the run's clock; all instants that go in and out
/// here are of the thread's.
pub(crate) struct Pacer {
    /// The run's zero on the thread's clock.
    zero: Nanos,
    phases: Vec<PhasePace>,
    tracks: Vec<TrackPace>,
    /// Offered and not begun yet, in order of their intended instant.
    pub(crate) ready: VecDeque<OfferedRequest>,
    /// Instants at which an interval must end though no second does: begin and end of phases.
    edges: Vec<Nanos>,
    /// Nothing that is intended then or later is wanted.
    ends_at: Nanos,
}

struct PhasePace {
    start: Nanos,
    end: Option<Nanos>,
    scenario: WeightedScenarios,
    /// Of the open model; in any other users pace themselves.
    arrivals: Option<Box<Schedule>>,
}

/// When users of a track start and leave.
struct TrackPace {
    starts: PopulationSchedule,
    /// Starts of its phases, at which those who left before their time come again, the next one first.
    joins: VecDeque<Nanos>,
    /// When those who hold connections let go of them.
    over: Option<Nanos>,
    /// The next of all these: looked at in every turn.
    next: Option<Nanos>,
}

impl Pacer {
    /// Nothing is to happen yet.
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

    /// The run's clock begins at `zero`.
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

    /// When the next arrival falls due.
    #[inline]
    pub(crate) fn next_arrival(&mut self) -> Option<Nanos> {
        let (zero, ends_at) = (self.zero, self.ends_at);
        let arrivals = self.phases.iter_mut().filter_map(|phase| phase.arrivals.as_mut()?.peek());
        let moves = self.tracks.iter().filter_map(|track| track.next);
        arrivals.chain(moves).min().map(|at| at + zero).filter(|&at| at < ends_at)
    }

    /// The next arrival intended before `limit`.
    #[inline]
    pub(crate) fn pop_arrival(&mut self, limit: Nanos) -> Option<Due> {
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

    /// Whether every phase is over at `now`: by time, or because its counted requests are offered, which
    /// for users `users_used_up` tells.
    pub(crate) fn is_over(&self, now: Nanos, users_used_up: impl Fn(usize) -> bool) -> bool {
        self.phases.iter().enumerate().all(|(index, phase)| {
            let used_up = match &phase.arrivals {
                Some(schedule) => schedule.is_exhausted(),
                None => phase.start + self.zero <= now && users_used_up(index),
            };
            used_up || phase.end.is_some_and(|end| end + self.zero <= now)
        })
    }

    /// Whether any phase goes on after `at`, or is still to come.
    pub(crate) fn has_load_after(&self, at: Nanos) -> bool {
        self.phases.iter().any(|phase| phase.end.is_none_or(|end| end + self.zero > at))
    }

    /// From `at` of the run's clock on the open phase under way then has another rate.
    pub(crate) fn change_rate(&mut self, at: Nanos, rate: wavetank_plan::Rate) {
        for phase in &mut self.phases {
            if phase.start <= at
                && phase.end.is_none_or(|end| at < end)
                && let Some(schedule) = &mut phase.arrivals
            {
                schedule.change(at, rate);
            }
        }
    }

    /// The load ends at `at`, before its time.
    pub(crate) fn cut_off_at(&mut self, at: Nanos) {
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
    pub(crate) fn to_run_time(&self, instant: Nanos) -> Nanos {
        instant - self.zero
    }

    /// The run's `instant` on the thread's clock.
    pub(crate) fn to_thread_time(&self, instant: Nanos) -> Nanos {
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
    /// An arrival of the open model, and its number within its phase.
    Arrival(OfferedRequest, u64),
    /// From that instant on this many of the thread's users of a track are wanted.
    Wanted { track: u16, at: Nanos, users: u64 },
    /// Those of a track who hold connections let go of them.
    Over { track: u16 },
    /// A phase of a track begins at that instant: whoever is wanted is to be there.
    Join { track: u16, at: Nanos },
}

impl TrackPace {
    fn look_ahead(&mut self) {
        let next = [self.starts.peek(), self.joins.front().copied(), self.over];
        self.next = next.into_iter().flatten().min();
    }

    /// What happens next before `limit`.
    #[inline]
    fn pop(&mut self, track: u16, limit: Nanos, zero: Nanos) -> Option<Due> {
        let next = self.next.filter(|&at| at < limit)?;
        let due = self.take(track, next, zero);
        self.look_ahead();
        due
    }

    /// What happens at `next`; at one instant first how many are wanted.
    fn take(&mut self, track: u16, next: Nanos, zero: Nanos) -> Option<Due> {
        if self.starts.peek() == Some(next) {
            let moved = self.starts.pop()?;
            return Some(Due::Wanted { track, at: moved.at + zero, users: moved.wanted });
        }
        if self.joins.front() == Some(&next) {
            self.joins.pop_front();
            return Some(Due::Join { track, at: next + zero });
        }
        self.over = None;
        Some(Due::Over { track })
    }
}
