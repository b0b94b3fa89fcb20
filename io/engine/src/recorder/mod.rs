//! [`Recorder`]: fills the interval of one load thread and seals it.

mod journeys;
mod protocols;
mod slowest;

use wavetank_driver::{Alpn, HandshakeInfo, PacketCounts, thread_cpu_ns};
use wavetank_measure::{
    DropReason, ErrorClass, HandshakeParams, Interval, PhaseSeries, StepSeries, TargetSeries, ThreadStats,
};
use wavetank_plan::{Key, Plan};
use wavetank_units::Nanos;

use crate::messages::{RequestTimes, SlowSample};

/// The counts of this thread since the last seal. Only the load thread uses it.
pub(crate) struct Recorder {
    current: Interval,
    /// The start of each scenario's steps in the list of all steps.
    scenario_base: Vec<usize>,
    steps: usize,
    targets: usize,
    thread: u16,
    health: ThreadStats,
    cpu_ns_before: u64,
    bytes_sent_before: u64,
    packets_before: PacketCounts,
    late_tolerance: u64,
    /// Least counted status: WebSocket messages have none, which is 0, as is that of gRPC calls.
    status_min: u16,
    /// Gauges are kept here, because an interval only contains their value at its seal.
    open: Vec<u64>,
    opening: u64,
    connected: u64,
    connected_peak: u64,
    users: u64,
    /// The state for counters of sessions.
    journeys: journeys::SeriesIndex,
    slowest: slowest::Slowest,
    empty: Interval,
    /// The parameters of the last handshake. The next one usually has the same.
    agreed: Option<(HandshakeInfo, HandshakeParams)>,
}

impl Recorder {
    pub(crate) fn new(plan: &Plan, thread: u16, from: Nanos) -> Self {
        let mut scenario_base = Vec::with_capacity(plan.scenarios.len());
        let mut steps = 0;
        for scenario in &plan.scenarios {
            scenario_base.push(steps);
            steps += scenario.steps.len();
        }
        let calls_grpc = plan.scenarios.iter().any(|own| own.steps.iter().any(|step| step.grpc.is_some()));
        let empty = Interval { journeys: journeys::empty(plan), ..empty_interval(plan) };
        Self {
            current: Interval { from, ..empty.clone() },
            scenario_base,
            steps,
            targets: plan.targets.len(),
            thread,
            health: ThreadStats { thread, ..ThreadStats::default() },
            cpu_ns_before: thread_cpu_ns(),
            bytes_sent_before: 0,
            packets_before: PacketCounts::default(),
            late_tolerance: plan.late_tolerance.0.unsigned_abs(),
            status_min: u16::from(!calls_grpc),
            open: vec![0; plan.phases.len() * steps],
            opening: 0,
            connected: 0,
            connected_peak: 0,
            users: 0,
            journeys: journeys::SeriesIndex::new(plan),
            slowest: slowest::Slowest::new(plan, steps),
            empty,
            agreed: None,
        }
    }

    #[inline]
    fn index(&self, key: Key) -> usize {
        usize::from(key.phase) * self.steps
            + self.scenario_base[usize::from(key.scenario)]
            + usize::from(key.step)
    }

    #[inline]
    fn step(&mut self, key: Key) -> &mut StepSeries {
        let index = self.index(key);
        &mut self.current.steps[index]
    }

    #[inline]
    fn phase(&mut self, phase: u16) -> &mut PhaseSeries {
        &mut self.current.phases[usize::from(phase)]
    }

    /// Counts a request that the plan intends.
    #[inline]
    pub(crate) fn offered(&mut self, key: Key) {
        let place = self.index(key);
        self.current.steps[place].counters.offered += 1;
        self.open[place] += 1;
    }

    /// Counts an offered request that will never be sent.
    pub(crate) fn dropped(&mut self, key: Key, reason: DropReason) {
        self.step(key).counters.dropped_by[reason as usize] += 1;
        self.resolved(key);
    }

    /// Records that the load thread started a request, `lag` ns after its intended instant.
    #[inline]
    pub(crate) fn begun(&mut self, key: Key, lag: u64) {
        self.phase(key.phase).lag.record(lag);
    }

    /// Records that the first byte was handed to the kernel, `wait` ns after the request was
    /// started.
    #[expect(clippy::inline_always, reason = "one caller for each driver; a call costs more than its work")]
    #[inline(always)]
    pub(crate) fn sent(&mut self, key: Key, wait: u64) {
        self.phase(key.phase).wait.record(wait);
        let step = self.step(key);
        step.counters.sent += 1;
        step.wire.sent += 1;
    }

    /// Counts a request that was sent once more.
    pub(crate) fn retried(&mut self, key: Key) {
        let wire = &mut self.step(key).wire;
        wire.sent += 1;
        wire.retried += 1;
    }

    /// Counts a request that was sent once more because a redirect was followed.
    pub(crate) fn redirected(&mut self, key: Key) {
        let wire = &mut self.step(key).wire;
        wire.sent += 1;
        wire.redirected += 1;
    }

    /// Counts a request for a resource that is embedded in a response.
    pub(crate) fn resource(&mut self, key: Key) {
        let wire = &mut self.step(key).wire;
        wire.sent += 1;
        wire.resources += 1;
    }

    /// Records a complete response as expected.
    #[expect(clippy::inline_always, reason = "one caller for each driver; a call costs more than its work")]
    #[inline(always)]
    pub(crate) fn done(&mut self, key: Key, times: RequestTimes, status: u16) {
        // Looked up once, because this runs for every request.
        let place = self.index(key);
        let step = &mut self.current.steps[place];
        step.counters.done += 1;
        step.counters.late += u64::from(times.lag > self.late_tolerance);
        step.response.record(times.response);
        step.service.record(times.service);
        if status >= self.status_min {
            step.status.add(status, 1);
        }
        let phase = self.phase(key.phase);
        phase.ttfb.record(times.ttfb);
        phase.transfer.record(times.transfer);
        self.open[place] -= 1;
        if self.slowest.would_keep(place, times.response) {
            self.slowest.keep(place, key, times, status);
        }
    }

    /// Records a message that awaits no answer and was handed to the kernel. It has no response
    /// time.
    pub(crate) fn handed_over(&mut self, key: Key, lag: u64) {
        let step = self.step(key);
        step.counters.done += 1;
        step.wire.one_way += 1;
        self.late(key, lag);
        self.resolved(key);
    }

    /// Returns the slowest responses of each step that have become so since the last call.
    pub(crate) fn take_slowest(&mut self) -> Vec<SlowSample> {
        self.slowest.take()
    }

    /// Records an unexpected or missing response, `waited` ns after the intended instant.
    pub(crate) fn failed(&mut self, key: Key, class: ErrorClass, lag: u64, waited: u64, status: Option<u16>) {
        let status = status.filter(|status| *status >= self.status_min);
        let step = self.step(key);
        step.counters.errors[class as usize] += 1;
        if class.is_censored() {
            step.response.record(waited);
        }
        if let Some(status) = status {
            step.status.add(status, 1);
        }
        if !class.is_censored() {
            self.phase(key.phase).failed.record(waited);
        }
        self.late(key, lag);
        self.resolved(key);
    }

    /// Records a request that is unanswered at the end of the run. It stays open, and its time
    /// counts as censored.
    pub(crate) fn left_open(&mut self, key: Key, waited: u64) {
        self.step(key).response.record(waited);
    }

    #[inline]
    fn late(&mut self, key: Key, lag: u64) {
        if lag > self.late_tolerance {
            self.step(key).counters.late += 1;
        }
    }

    #[inline]
    fn resolved(&mut self, key: Key) {
        let index = self.index(key);
        self.open[index] -= 1;
    }

    /// Counts the start of an opening.
    pub(crate) fn opening(&mut self) {
        self.current.conns.offered += 1;
        self.opening += 1;
    }

    /// Openings started in the current interval.
    pub(crate) const fn openings(&self) -> u64 {
        self.current.conns.offered
    }

    /// Records that the opening just started was planned `lag` ns ago.
    pub(crate) fn opening_lag(&mut self, lag: u64) {
        self.current.conns.late += u64::from(lag > self.late_tolerance);
    }

    fn target_index(&self, phase: u16, target: u16) -> usize {
        usize::from(phase) * self.targets + usize::from(target)
    }

    fn target(&mut self, phase: u16, target: u16) -> &mut TargetSeries {
        let index = self.target_index(phase, target);
        &mut self.current.targets[index]
    }

    /// Records a connect that took `ns`.
    pub(crate) fn connected(&mut self, phase: u16, target: u16, ns: u64) {
        self.target(phase, target).connect.record(ns);
    }

    /// Counts a successful opening: the connection can carry a request.
    pub(crate) fn opened(&mut self, again: bool) {
        self.current.conns.opened += 1;
        self.current.conns.reopened += u64::from(again);
        self.opening -= 1;
        self.connected += 1;
        self.connected_peak = self.connected_peak.max(self.connected);
    }

    /// Counts a failed opening.
    pub(crate) fn open_failed(&mut self, class: ErrorClass) {
        self.current.conns.failed += 1;
        self.current.conns.failed_by[class as usize] += 1;
        self.opening -= 1;
    }

    /// Counts the end of a connection that the plan still needed.
    pub(crate) fn lost(&mut self, class: ErrorClass) {
        self.current.conns.lost += 1;
        self.current.conns.lost_by[class as usize] += 1;
        self.connected -= 1;
    }

    /// Counts the end of a connection that was no longer needed.
    pub(crate) fn closed(&mut self) {
        self.current.conns.closed += 1;
        self.connected -= 1;
    }

    /// Sets the number of bytes that the kernel has accepted since the start.
    pub(crate) fn set_bytes_sent(&mut self, total: u64) {
        self.current.bytes.sent = total - self.bytes_sent_before;
    }

    #[inline]
    pub(crate) fn bytes_received(&mut self, bytes: usize) {
        self.current.bytes.received += bytes as u64;
    }

    /// Records a send call that took `ns`.
    #[inline]
    pub(crate) fn send_call(&mut self, ns: u64) {
        self.health.send_call_ns_max = self.health.send_call_ns_max.max(ns);
    }

    /// Records a loop turn that worked for `ns`.
    #[inline]
    pub(crate) fn turn(&mut self, ns: u64) {
        self.health.turns += 1;
        self.health.busy_ns += ns;
        self.health.stalled_turns += u64::from(ns > self.late_tolerance);
        self.health.turn_ns_max = self.health.turn_ns_max.max(ns);
    }

    /// Records that the thread evaluated a response for `ns`.
    pub(crate) fn evaluated(&mut self, ns: u64) {
        self.health.evaluate_ns += ns;
    }

    /// Records that the thread was stalled for `ns` during a sleep or a short wait. This is as bad
    /// as a turn that worked for the same time, even though the thread was not busy.
    pub(crate) fn stalled(&mut self, ns: u64) {
        self.health.turns += 1;
        self.health.stalled_turns += u64::from(ns > self.late_tolerance);
        self.health.turn_ns_max = self.health.turn_ns_max.max(ns);
    }

    /// Returns when the current interval started.
    pub(crate) const fn interval_start(&self) -> Nanos {
        self.current.from
    }

    /// Sets the number of virtual users present.
    pub(crate) fn set_users(&mut self, users: u64) {
        self.users = users;
    }

    /// The number of connections that are open now.
    pub(crate) const fn connected_now(&self) -> u64 {
        self.connected
    }

    /// Requests that were offered and not resolved, according to the counters.
    pub(crate) fn open_requests(&self) -> u64 {
        self.open.iter().sum()
    }

    /// Seals the interval at `until` and returns it. The next one starts there.
    pub(crate) fn seal(&mut self, until: Nanos) -> Interval {
        let cpu_ns = thread_cpu_ns();
        self.health.cpu_ns = cpu_ns - self.cpu_ns_before;
        self.cpu_ns_before = cpu_ns;
        self.bytes_sent_before += self.current.bytes.sent;
        self.packets_before.sent += self.current.packets.sent;
        self.packets_before.lost += self.current.packets.lost;
        let mut sealed = std::mem::replace(&mut self.current, Interval { from: until, ..self.empty.clone() });
        sealed.len = until - sealed.from;
        for (step, open) in sealed.steps.iter_mut().zip(&self.open) {
            step.open = *open;
        }
        sealed.conns.opening = self.opening;
        sealed.conns.open = self.connected;
        sealed.conns.peak = self.connected_peak;
        self.connected_peak = self.connected;
        sealed.users = self.users;
        self.journeys.seal(&mut sealed.journeys);
        // An experiment has many keys, but only a few of them occur in one second.
        sealed.steps.retain(|series| *series != StepSeries { key: series.key, ..StepSeries::default() });
        sealed.threads.push(self.health);
        self.health = ThreadStats { thread: self.thread, ..ThreadStats::default() };
        sealed
    }
}

/// Returns the parameters of a handshake in the form in which they are counted.
fn agreed(secured: &HandshakeInfo) -> HandshakeParams {
    let alpn = secured.alpn.as_ref().map(Alpn::as_str);
    HandshakeParams {
        version: secured.version.to_owned(),
        cipher: secured.cipher.to_owned(),
        group: secured.group.unwrap_or_default().to_owned(),
        alpn: alpn.unwrap_or_default().to_owned(),
        resumed: secured.resumed,
    }
}

/// Creates an interval with an entry for every key. Histograms allocate on first use only.
fn empty_interval(plan: &Plan) -> Interval {
    let mut interval = Interval::default();
    for phase in 0..u16::try_from(plan.phases.len()).expect("the plan limits phases") {
        interval.phases.push(PhaseSeries { phase, ..PhaseSeries::default() });
        for target in 0..u16::try_from(plan.targets.len()).expect("the plan limits targets") {
            interval.targets.push(TargetSeries { phase, target, ..TargetSeries::default() });
        }
        for (scenario, steps) in (0_u16..).zip(plan.scenarios.iter().map(|scenario| scenario.steps.len())) {
            for step in 0..u16::try_from(steps).expect("the plan limits steps") {
                let key = Key { phase, scenario, step };
                interval.steps.push(StepSeries { key, ..StepSeries::default() });
            }
        }
    }
    interval
}
