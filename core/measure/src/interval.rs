//! [`Interval`]: the counts and times of one period, from one thread or merged.

use wavetank_plan::Key;
use wavetank_plan::constants::THREAD_FULL_SHARE;
use wavetank_units::Nanos;

use crate::{Bytes, ConnCounts, JourneyCounters, PacketCounters, PhaseSeries, StepSeries, TargetSeries};

/// What happened in [`from`, `from + len`), on one load thread, or merged over threads and agents.
/// Counters are differences; gauges are the values at the seal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Begin, on the run's clock.
    pub from: Nanos,
    /// Length: a second, or shorter where a phase ends inside it.
    pub len: Nanos,
    /// One entry per key that has occurred.
    pub steps: Vec<StepSeries>,
    /// One entry per phase that has occurred.
    pub phases: Vec<PhaseSeries>,
    /// One entry per (phase, target) for which connections were opened.
    pub targets: Vec<TargetSeries>,
    /// Connections.
    pub conns: ConnCounts,
    /// Traffic.
    pub bytes: Bytes,
    /// Packets of QUIC connections.
    pub packets: PacketCounters,
    /// Gauge at the seal: virtual users.
    pub users: u64,
    /// Each load thread's own health.
    pub threads: Vec<ThreadStats>,
    /// Counters of sessions beyond their single requests.
    pub journeys: JourneyCounters,
}

impl Interval {
    /// The series of `key`, made if missing.
    pub fn step_mut(&mut self, key: Key) -> &mut StepSeries {
        let index = self.steps.iter().position(|series| series.key == key).unwrap_or_else(|| {
            self.steps.push(StepSeries { key, ..StepSeries::default() });
            self.steps.len() - 1
        });
        &mut self.steps[index]
    }

    /// The series of phase number `phase`, made if missing.
    pub fn phase_mut(&mut self, phase: u16) -> &mut PhaseSeries {
        let index = self.phases.iter().position(|series| series.phase == phase).unwrap_or_else(|| {
            self.phases.push(PhaseSeries { phase, ..PhaseSeries::default() });
            self.phases.len() - 1
        });
        &mut self.phases[index]
    }

    /// The series of (phase, target), made if missing.
    pub fn target_mut(&mut self, phase: u16, target: u16) -> &mut TargetSeries {
        let known = self.targets.iter().position(|series| (series.phase, series.target) == (phase, target));
        let index = known.unwrap_or_else(|| {
            self.targets.push(TargetSeries { phase, target, ..TargetSeries::default() });
            self.targets.len() - 1
        });
        &mut self.targets[index]
    }

    /// End, on the run's clock: the seal.
    pub const fn end(&self) -> Nanos {
        self.from.after(self.len)
    }

    /// Adds the interval of another load thread or agent for the same time. Exact, and the same in
    /// any order. Counts and gauges add up; `peak` is then an upper bound, because threads peak at
    /// different instants. Load threads stay separate entries, and lists end up sorted.
    pub fn merge(&mut self, other: &Self) {
        if self.len == Nanos::ZERO {
            (self.from, self.len) = (other.from, other.len);
        } else if other.len > Nanos::ZERO {
            let end = self.end().max(other.end());
            self.from = self.from.min(other.from);
            self.len = end - self.from;
        }
        for theirs in &other.steps {
            let mine = self.step_mut(theirs.key);
            mine.merge(theirs);
            mine.open += theirs.open;
        }
        other.phases.iter().for_each(|theirs| self.phase_mut(theirs.phase).merge(theirs));
        other.targets.iter().for_each(|theirs| self.target_mut(theirs.phase, theirs.target).merge(theirs));
        self.conns.merge(&other.conns);
        self.conns.opening += other.conns.opening;
        self.conns.open += other.conns.open;
        self.conns.peak += other.conns.peak;
        self.bytes.merge(&other.bytes);
        self.packets.merge(&other.packets);
        self.users += other.users;
        self.threads.extend_from_slice(&other.threads);
        self.journeys.merge(&other.journeys);
        self.journeys.merge_gauges(&other.journeys);
        self.sort();
    }

    /// Returns only the times, by step, phase and target. Group times belong to the journey
    /// counters and are left out.
    #[must_use]
    pub fn times(&self) -> Self {
        let steps = self.steps.iter().map(|series| StepSeries {
            key: series.key,
            response: series.response.clone(),
            service: series.service.clone(),
            ..StepSeries::default()
        });
        let targets = self.targets.iter().map(|series| TargetSeries {
            phase: series.phase,
            target: series.target,
            connect: series.connect.clone(),
            tls: series.tls.clone(),
            hello: series.hello.clone(),
            ping: series.ping.clone(),
            ..TargetSeries::default()
        });
        Self {
            from: self.from,
            steps: steps.collect(),
            phases: self.phases.clone(),
            targets: targets.collect(),
            ..Self::default()
        }
    }

    /// Whether a load thread was full: busy for at least `THREAD_FULL_SHARE`.
    pub fn has_saturated_thread(&self) -> bool {
        self.threads.iter().any(|health| health.is_full(self.len))
    }

    /// Puts all lists into their order.
    pub(crate) fn sort(&mut self) {
        self.steps.sort_by_key(|series| series.key);
        self.steps.iter_mut().for_each(|series| series.status.0.sort_unstable());
        self.phases.sort_by_key(|series| series.phase);
        self.targets.sort_by_key(|series| (series.phase, series.target));
        self.threads.sort_unstable();
        self.journeys.sort();
    }
}

/// Performance of a load thread in one interval, used to check the generator itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadStats {
    /// Number of its agent in a fleet, by the order of names, from 0. 0 on a single host.
    pub agent: u16,
    /// Number of the thread on its agent, from 0.
    pub thread: u16,
    /// Loop turns that did work.
    pub turns: u64,
    /// Turns among them that worked longer than the late tolerance.
    pub stalled_turns: u64,
    /// Turns among them that found no buffer or submission slot.
    pub starved_turns: u64,
    /// Time spent in turns that did work; spinning and sleeping are idle.
    pub busy_ns: u64,
    /// Time spent on evaluating responses for sessions: checks, extraction, unpacking. It is part
    /// of `busy_ns`.
    pub evaluate_ns: u64,
    /// The longest turn.
    pub turn_ns_max: u64,
    /// The longest single send call.
    pub send_call_ns_max: u64,
    /// CPU time of the thread.
    pub cpu_ns: u64,
}

impl ThreadStats {
    /// The identifying numbers: agent, thread.
    pub const fn name(&self) -> (u16, u16) {
        (self.agent, self.thread)
    }

    /// The share of an interval of length `len` it spent in turns that did work.
    pub fn busy_share(&self, len: Nanos) -> f64 {
        if len > Nanos::ZERO { self.busy_ns as f64 / len.0 as f64 } else { 0.0 }
    }

    /// Whether the thread was full in an interval of length `len`.
    pub fn is_full(&self, len: Nanos) -> bool {
        self.busy_share(len) >= THREAD_FULL_SHARE
    }

    /// Adds another interval of the same thread.
    pub fn merge(&mut self, other: &Self) {
        self.turns += other.turns;
        self.stalled_turns += other.stalled_turns;
        self.starved_turns += other.starved_turns;
        self.busy_ns += other.busy_ns;
        self.evaluate_ns += other.evaluate_ns;
        self.turn_ns_max = self.turn_ns_max.max(other.turn_ns_max);
        self.send_call_ns_max = self.send_call_ns_max.max(other.send_call_ns_max);
        self.cpu_ns += other.cpu_ns;
    }
}
