//! [`Totals`]: everything sealed so far, added up.

use wavetank_plan::{Key, Plan};
use wavetank_units::Nanos;

use crate::{
    Bytes, CheckSeries, ConnCounts, GroupSeries, Handshakes, HeldPhase, Interval, JourneyCounters,
    PacketCounters, PhaseSeries, PhaseWindows, PlateauTracker, RequestCounters, Selection, SessionSeries,
    StepSeries, TargetSeries, ThreadStats, TotalsView, Violation, violation,
};

/// The sum of all sealed intervals: counters and histograms per key, phase and target, and gauges
/// of the latest seal. Warm-up is included and can be separated by its phase. A pure function of
/// the intervals, so an archive read back gives the same totals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Requests per key; `open` is the gauge of the latest seal.
    pub steps: Vec<StepSeries>,
    /// Times per phase.
    pub phases: Vec<PhaseSeries>,
    /// Connection set-up per (phase, target).
    pub targets: Vec<TargetSeries>,
    /// Connections of the whole run; `opening` and `open` of the latest seal, `peak` the highest.
    pub conns: ConnCounts,
    /// Fewest connections open at a seal while hold phases of a constant number last. Without such
    /// a phase, fewest at a seal of the measured window. `None` before the first such seal.
    pub held_min: Option<u64>,
    /// The results of hold phases.
    pub held: PlateauTracker,
    /// Traffic while judged load runs and after it, including that of a warm-up at the same time.
    pub bytes: Bytes,
    /// Traffic of the warm-up alone.
    pub bytes_warmup: Bytes,
    /// Packets of QUIC connections while judged load runs and after it.
    pub packets: PacketCounters,
    /// Packets of the warm-up alone.
    pub packets_warmup: PacketCounters,
    /// Counters of sessions beyond their single requests; `open` is the gauge of the latest seal.
    pub journeys: JourneyCounters,
    /// Each load thread, over the whole run.
    pub threads: Vec<ThreadStats>,
    /// The highest busy share of a load thread in one interval. Short intervals count only if there
    /// are no others.
    pub busy_share_max: f64,
    busy_share_is_of_long: bool,
    /// End of the latest interval; the lowest instant before the first.
    pub sealed: Nanos,
    /// Intervals added.
    pub intervals: u64,
    /// The highest number of connections that the plan schedules at one time; 0 if it gives no
    /// number.
    pub planned: u64,
    /// Begin of the earliest interval; the highest instant before the first.
    began: Nanos,
    /// What happened to a key inside the time of its own phase, and inside the measured window.
    in_time: Vec<InTime>,
    spans: PhaseWindows,
}

/// Shorter periods do not show how busy a thread was.
const BUSY_LEN_MIN: Nanos = Nanos(100_000_000);

/// Events of one key by when they happened: rates are made of these.
#[derive(Clone, Debug, Default, PartialEq)]
struct InTime {
    key: Key,
    of_phase: RequestCounters,
    of_window: RequestCounters,
}

impl Totals {
    /// Creates empty totals for `plan`.
    pub fn new(plan: &Plan) -> Self {
        let planned = planned_connections(plan);
        let held = PlateauTracker::new(plan);
        let spans = PhaseWindows::new(plan);
        let (began, sealed) = (Nanos(i64::MAX), Nanos(i64::MIN));
        Self { held, sealed, planned, began, spans, ..Self::default() }
    }

    /// Phase number `phase` ended at `at`, before its planned end or without one. Must be called
    /// before the intervals that follow that instant are added.
    pub fn phase_ended(&mut self, phase: u16, at: Nanos) {
        self.spans.phase_ended(phase, at);
    }

    /// The load of phase number `phase` was changed while it ran.
    pub fn load_changed(&mut self, phase: u16) {
        self.spans.load_changed(phase);
    }

    /// The time from the start of the earliest interval to the end of the latest: opening ahead,
    /// warm-up, load and drain.
    pub fn span(&self) -> Nanos {
        if self.began < self.sealed { self.sealed - self.began } else { Nanos::ZERO }
    }

    /// When things happened, by phase.
    pub const fn spans(&self) -> &PhaseWindows {
        &self.spans
    }

    /// Adds an interval in which all threads (and agents) are merged.
    pub fn add(&mut self, interval: &Interval) {
        let latest = interval.end() >= self.sealed;
        self.add_steps(interval, latest);
        self.add_parts(interval);
        self.journeys.merge(&interval.journeys);
        if latest {
            self.journeys.clear_gauges();
            self.journeys.merge_gauges(&interval.journeys);
        }
        self.add_conns(interval, latest);
        self.held.add(interval, &self.spans);
        self.add_traffic(interval);
        self.began = self.began.min(interval.from);
        self.sealed = self.sealed.max(interval.end());
        self.intervals += 1;
    }

    /// Adds bytes and packets of an interval, and the work of its load threads.
    fn add_traffic(&mut self, interval: &Interval) {
        // Bytes are counted per second, so those of a warm-up cannot be separated from those of
        // judged load in the same second.
        let alone = self.spans.in_warmup(interval) && !self.spans.is_holding_at(None, interval.from);
        let (bytes, packets) = if alone {
            (&mut self.bytes_warmup, &mut self.packets_warmup)
        } else {
            (&mut self.bytes, &mut self.packets)
        };
        bytes.merge(&interval.bytes);
        packets.merge(&interval.packets);
        for theirs in &interval.threads {
            let (agent, thread) = theirs.name();
            let make = || ThreadStats { agent, thread, ..ThreadStats::default() };
            entry(&mut self.threads, |mine| mine.name().cmp(&theirs.name()), make).merge(theirs);
            self.add_busy_share(theirs.busy_share(interval.len), interval.len >= BUSY_LEN_MIN);
        }
    }

    /// Adds the counts of one agent's interval to those of the fleet. Gauges stay as they are.
    pub(crate) fn amend(&mut self, interval: &Interval) {
        self.add_steps(interval, false);
        self.add_parts(interval);
        self.journeys.merge(&interval.journeys);
        self.conns.merge(&interval.conns);
        self.add_traffic(interval);
    }

    /// Adds the times of intervals that were added without; `times` contains nothing else.
    pub(crate) fn add_times(&mut self, times: &Interval) {
        self.add_steps(times, false);
        self.add_parts(times);
    }

    /// Adds the series of phases and targets.
    fn add_parts(&mut self, interval: &Interval) {
        for theirs in &interval.phases {
            let find = |mine: &PhaseSeries| mine.phase.cmp(&theirs.phase);
            entry(&mut self.phases, find, || PhaseSeries { phase: theirs.phase, ..PhaseSeries::default() })
                .merge(theirs);
        }
        for theirs in &interval.targets {
            let place = (theirs.phase, theirs.target);
            let make = || TargetSeries { phase: place.0, target: place.1, ..TargetSeries::default() };
            entry(&mut self.targets, |mine| (mine.phase, mine.target).cmp(&place), make).merge(theirs);
        }
    }

    /// The last interval of a run may last a few milliseconds, all spent on closing connections.
    const fn add_busy_share(&mut self, share: f64, is_of_long: bool) {
        if is_of_long && !self.busy_share_is_of_long {
            (self.busy_share_is_of_long, self.busy_share_max) = (true, 0.0);
        }
        if is_of_long == self.busy_share_is_of_long {
            self.busy_share_max = self.busy_share_max.max(share);
        }
    }

    /// Checks every identity of `docs/measuring.md` §2 at the latest seal. Returns the first
    /// violation.
    pub fn check(&self) -> Result<(), Violation> {
        self.steps.iter().try_for_each(violation::check_step)?;
        self.journeys.sessions.iter().try_for_each(SessionSeries::check)?;
        self.held.phases().iter().try_for_each(HeldPhase::check)?;
        violation::check_connections(&self.conns)
    }

    /// Checks the same identities after the end of the run, and that no data was lost: `response`
    /// contains the done, the timed out and the requests open at the end, `service` the done.
    pub fn check_final(&self) -> Result<(), Violation> {
        self.check()?;
        self.steps.iter().try_for_each(violation::check_times)
    }

    /// Returns the TLS handshakes of the whole run, warm-up included. `conns` also covers the whole
    /// run.
    pub fn handshakes(&self) -> Handshakes {
        let mut all = Handshakes::default();
        self.targets.iter().for_each(|series| all.merge(&series.handshakes));
        all
    }

    /// Totals of some keys, merged for reading.
    pub fn view(&self, selection: Selection) -> TotalsView {
        let mut view = TotalsView { duration: self.length(selection), ..TotalsView::default() };
        for series in self.steps.iter().filter(|series| self.selects(selection, series.key)) {
            view.add_step(series);
        }
        for in_time in self.in_time.iter().filter(|in_time| self.selects(selection, in_time.key)) {
            let own_time = matches!(selection, Selection::Phase(_) | Selection::Warmup);
            view.in_window.merge(if own_time { &in_time.of_phase } else { &in_time.of_window });
        }
        let sessions = self.journeys.sessions.iter();
        for series in
            sessions.filter(|series| self.selects_scenario(selection, series.phase, series.scenario))
        {
            view.add_sessions(series);
        }
        self.phases
            .iter()
            .filter(|series| self.selects_phase(selection, series.phase))
            .for_each(|series| view.add_phase(series));
        for series in self.targets.iter().filter(|series| self.selects_phase(selection, series.phase)) {
            view.connect.merge(&series.connect);
            view.tls.merge(&series.tls);
            view.hello.merge(&series.hello);
            view.ping.merge(&series.ping);
            view.pings_sent += series.pings_sent;
            view.messages.merge(&series.messages);
        }
        view
    }

    /// Returns the sessions of some keys; `phase` and `scenario` of the result have no meaning.
    /// Sessions that are one plain request are derived from their requests.
    pub fn sessions(&self, plan: &Plan, selection: Selection) -> SessionSeries {
        let mut all = self.view(selection).sessions;
        for (scenario, it) in (0_u16..).zip(&plan.scenarios) {
            let counted = |series: &SessionSeries| series.scenario == scenario && !series.counts.is_empty();
            if !it.is_one_request() || self.journeys.sessions.iter().any(counted) {
                continue;
            }
            let own = self.steps.iter().filter(|series| series.key.scenario == scenario);
            for series in own.filter(|series| self.selects(selection, series.key)) {
                all.merge(&SessionSeries::from_requests(series));
                all.open += series.open;
            }
        }
        all
    }

    /// Counts of some keys' checks and of what they count, by key.
    pub fn target_counts(&self, selection: Selection) -> impl Iterator<Item = &CheckSeries> {
        self.journeys.asked.iter().filter(move |series| self.selects(selection, series.key))
    }

    /// Times of some scenarios' groups, those of one scenario and group merged over phases.
    pub fn groups(&self, selection: Selection) -> Vec<GroupSeries> {
        let mut merged = JourneyCounters::default();
        let chosen = |series: &&GroupSeries| self.selects_scenario(selection, series.phase, series.scenario);
        for series in self.journeys.groups.iter().filter(chosen) {
            merged.group_mut(0, series.scenario, series.group).times.merge(&series.times);
        }
        merged.groups
    }

    fn add_steps(&mut self, interval: &Interval, latest: bool) {
        if latest {
            self.steps.iter_mut().for_each(|mine| mine.open = 0);
        }
        let in_window = self.spans.in_window(interval);
        for theirs in &interval.steps {
            let key = theirs.key;
            let mine = entry(
                &mut self.steps,
                |mine| mine.key.cmp(&key),
                || StepSeries { key, ..StepSeries::default() },
            );
            mine.merge(theirs);
            mine.status.0.sort_unstable();
            if latest {
                mine.open = theirs.open;
            }
            let make = || InTime { key, ..InTime::default() };
            let in_time = entry(&mut self.in_time, |mine| mine.key.cmp(&key), make);
            if in_window {
                in_time.of_window.merge(&theirs.counters);
            }
            if self.spans.in_phase(key.phase, interval) {
                in_time.of_phase.merge(&theirs.counters);
            }
        }
    }

    fn add_conns(&mut self, interval: &Interval, latest: bool) {
        self.conns.merge(&interval.conns);
        self.conns.peak = self.conns.peak.max(interval.conns.peak);
        if latest {
            (self.conns.opening, self.conns.open) = (interval.conns.opening, interval.conns.open);
        }
        if self.spans.is_during_hold(interval) {
            let held = interval.conns.open;
            self.held_min = Some(self.held_min.map_or(held, |least| least.min(held)));
        }
    }

    fn length(&self, selection: Selection) -> Nanos {
        match selection {
            Selection::Phase(phase) => self.spans.phase_length(phase, self.sealed),
            Selection::Warmup => self.spans.warmup_length(self.sealed),
            _ => self.spans.window_length(self.sealed),
        }
    }

    fn selects(&self, selection: Selection, key: Key) -> bool {
        let warmup = self.spans.is_warmup(key.phase);
        match selection {
            Selection::Judged => !warmup,
            Selection::Warmup => warmup,
            Selection::Phase(phase) => key.phase == phase,
            Selection::Scenario(scenario) => !warmup && key.scenario == scenario,
            Selection::Step(scenario, step) => !warmup && (key.scenario, key.step) == (scenario, step),
        }
    }

    fn selects_scenario(&self, selection: Selection, phase: u16, scenario: u16) -> bool {
        let whole = !matches!(selection, Selection::Step(..));
        whole && self.selects(selection, Key { phase, scenario, step: 0 })
    }

    fn selects_phase(&self, selection: Selection, phase: u16) -> bool {
        match selection {
            Selection::Judged => !self.spans.is_warmup(phase),
            Selection::Warmup => self.spans.is_warmup(phase),
            Selection::Phase(wanted) => phase == wanted,
            Selection::Scenario(_) | Selection::Step(..) => false,
        }
    }
}

/// Returns the highest number of connections that the plan schedules at one time: those opened
/// ahead of a phase and kept, and those of hold phases. A pool that opens on demand has only a
/// limit, which counts as 0.
pub(crate) fn planned_connections(plan: &Plan) -> u64 {
    let kept = plan.phases.iter().filter(|phase| phase.open_before);
    let ahead = kept.map(|phase| phase.connections).max().unwrap_or(0);
    let held: u64 = plan.tracks().iter().filter(|track| track.hold).map(|track| track.most).sum();
    ahead.saturating_add(held)
}

/// The element that compares equal in a sorted list, made in its place if missing.
fn entry<T>(list: &mut Vec<T>, find: impl Fn(&T) -> std::cmp::Ordering, make: impl FnOnce() -> T) -> &mut T {
    let at = list.binary_search_by(find).unwrap_or_else(|at| {
        list.insert(at, make());
        at
    });
    &mut list[at]
}
