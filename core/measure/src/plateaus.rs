//! [`PlateauTracker`]: the connections of hold phases, second by second and phase by phase.

use wavetank_plan::{Load, Phase, Plan};
use wavetank_units::Nanos;

use crate::{ConnCounts, Downsampled, Histogram, Interval, PhaseWindows, Violation, violation};

/// Results of hold phases: the connections of each phase, and the seconds of each phase that holds
/// a constant number. Memory does not grow with the run: for a long plateau every second, fourth,
/// eighth, … second is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlateauTracker {
    /// Hold phases in the plan's order, warm-up left out.
    phases: Vec<HeldPhase>,
    /// The phases of the plan that hold connections.
    holding: Vec<Phase>,
    /// The gauges at the latest seal.
    before: Gauges,
    times: Histogram,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Gauges {
    opening: u64,
    open: u64,
}

/// Connections in the time of one hold phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldPhase {
    /// Index into the plan's phases.
    pub phase: u16,
    /// Wanted by this phase at most at one time.
    pub planned: u64,
    /// Being opened when its time began.
    pub opening_before: u64,
    /// Open when its time began.
    pub open_before: u64,
    /// Connection counts of the phase. `opening` and `open` are those at its latest seal, `peak` is
    /// the highest.
    pub conns: ConnCounts,
    /// Fewest connections open at the seal of a second that is wholly its; `None` before the first.
    pub held_min: Option<u64>,
    /// Its seconds, if it holds a constant number above zero.
    pub plateau: Option<Plateau>,
    begun: bool,
}

/// The seconds of a phase that holds a constant number of connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plateau {
    /// The number of seconds.
    pub seconds: u64,
    /// The second with the fewest held connections; the first of several.
    pub lowest: HeldSecond,
    /// The kept values, in order.
    pub kept: Downsampled<HeldSecond>,
}

/// One sealed second of a plateau.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldSecond {
    /// Its seal, on the run's clock.
    pub at: Nanos,
    /// Target number of all hold phases.
    pub planned: u64,
    /// Connections open at the seal.
    pub held: u64,
    /// Requests offered and unresolved at the seal.
    pub in_flight: u64,
    /// Requests with a response time that ended in this second.
    pub answered: u64,
    /// p99 of their response time, in nanoseconds; 0 without any.
    pub p99_ns: u64,
}

impl Plateau {
    fn add(&mut self, second: HeldSecond) {
        if self.seconds == 0 || second.held < self.lowest.held {
            self.lowest = second;
        }
        self.kept.push(second);
        self.seconds += 1;
    }
}

impl HeldPhase {
    /// Checks conservation: the connections from before and the new ones are closed, lost or open.
    ///
    /// # Errors
    /// The identity that is violated, with the counters.
    pub fn check(&self) -> Result<(), Violation> {
        let mut whole = self.conns;
        // Connections that existed before count as opened at the start of the phase.
        whole.opened += self.open_before;
        whole.offered += self.open_before + self.opening_before;
        violation::check_connections(&whole)
    }
}

impl PlateauTracker {
    /// Creates one for a run of `plan`.
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut it = Self::default();
        for (index, phase) in (0_u16..).zip(&plan.phases) {
            let Load::Hold { connections, .. } = &phase.load else { continue };
            it.holding.push(phase.clone());
            if !phase.warmup {
                let constant = connections.as_constant().is_some_and(|count| count > 0);
                let plateau = constant.then(Plateau::default);
                let planned = connections.max();
                it.phases.push(HeldPhase { phase: index, planned, plateau, ..HeldPhase::default() });
            }
        }
        it
    }

    /// The results of the hold phases, in the plan's order.
    pub fn phases(&self) -> &[HeldPhase] {
        &self.phases
    }

    /// The phases that hold a constant number and lasted at least a second.
    pub fn plateaus(&self) -> impl Iterator<Item = (&HeldPhase, &Plateau)> {
        let plateaus = self.phases.iter().filter_map(|held| Some((held, held.plateau.as_ref()?)));
        plateaus.filter(|(_, plateau)| plateau.seconds > 0)
    }

    /// Whether some phase is a plateau, which needs times per second.
    pub(crate) fn weighs_times(&self) -> bool {
        self.phases.iter().any(|held| held.plateau.is_some())
    }

    /// Adds one merged interval; intervals arrive in order. `spans` are those of the totals.
    pub(crate) fn add(&mut self, interval: &Interval, spans: &PhaseWindows) {
        if self.holding.is_empty() {
            return;
        }
        let conns = &interval.conns;
        for index in 0..self.phases.len() {
            let held = &self.phases[index];
            if !spans.in_phase(held.phase, interval) {
                continue;
            }
            let whole = spans.contains(held.phase, interval);
            let second = (whole && held.plateau.is_some()).then(|| self.second(interval, spans));
            let held = &mut self.phases[index];
            if !std::mem::replace(&mut held.begun, true) {
                (held.opening_before, held.open_before) = (self.before.opening, self.before.open);
            }
            held.conns.merge(conns);
            held.conns.peak = held.conns.peak.max(conns.peak);
            (held.conns.opening, held.conns.open) = (conns.opening, conns.open);
            if whole {
                held.held_min = Some(held.held_min.map_or(conns.open, |least| least.min(conns.open)));
            }
            if let (Some(plateau), Some(second)) = (&mut held.plateau, second) {
                plateau.add(second);
            }
        }
        self.before = Gauges { opening: conns.opening, open: conns.open };
    }

    fn second(&mut self, interval: &Interval, spans: &PhaseWindows) -> HeldSecond {
        self.times.clear();
        let judged = interval.steps.iter().filter(|series| !spans.is_warmup(series.key.phase));
        let mut in_flight = 0;
        for series in judged {
            self.times.merge(&series.response);
            in_flight += series.open;
        }
        // At the seal itself the next phase has already started.
        let within = interval.end() - Nanos(1);
        HeldSecond {
            at: interval.end(),
            planned: self.holding.iter().filter_map(|phase| phase.users_at(within)).sum(),
            held: interval.conns.open,
            in_flight,
            answered: self.times.count(),
            p99_ns: self.times.percentile(99.0).unwrap_or(0),
        }
    }
}
