//! A plan of one step and seconds to fill, for the tests of measurement and diagnosis.

use wavetank_measure::{DropReason, ErrorClass, Interval, ThreadStats};
use wavetank_plan::{
    Arrivals, Close, Condition, ConnectionOwner, EngineChoice, FileTables, HooksPlan, HttpPlan, HttpVersion,
    Key, Load, MaxOpenLimit, Phase, Plan, PopulationCurve, RateCurve, RequestPlan, Scenario, ScenarioMix,
    SharedPlan, StatusSet, Step, Target,
};
use wavetank_units::{Nanos, Rate};

/// The only key of [`plan`].
pub(crate) const KEY: Key = Key { phase: 0, scenario: 0, step: 0 };
const MS: u64 = 1_000_000;

/// One open phase `main` of `seconds`, one step `GET /`, without checks.
pub(crate) fn plan(seconds: i64) -> Plan {
    Plan {
        name: "test".to_owned(),
        seed: 1,
        targets: vec![Target {
            name: "target".to_owned(),
            url: "http://10.0.0.5/".to_owned(),
            host: "10.0.0.5".to_owned(),
            server_name: None,
            tls: None,
            pick: None,
            addresses: vec!["10.0.0.5:80".parse().expect("an address")],
        }],
        http: HttpPlan {
            version: HttpVersion::Http11,
            timeout: Nanos::from_secs(60),
            connect_timeout: Nanos::from_secs(5),
            keepalive: true,
            requests_per_connection: None,
            close: Close::Fin,
            pipeline: 1,
            expect: StatusSet(vec![(200, 399)]),
            cookies: false,
            body_max: None,
            websocket: wavetank_plan::WebSocketPlan::default(),
            proxy: None,
            proxy_protocol: None,
            dns: None,
            ping: None,
        },
        tls: None,
        sources: wavetank_plan::SourcesPlan::default(),
        scenarios: vec![scenario()],
        shared: SharedPlan::default(),
        around: HooksPlan::default(),
        phases: vec![phase("main", 0, seconds)],
        threads: 1,
        engine: EngineChoice::Auto,
        files: FileTables::Shared,
        open_rate: Rate::per_second(5000),
        drain: Nanos::from_secs(60),
        late_tolerance: Nanos::from_millis(1),
        thresholds: Vec::new(),
        stop: Vec::new(),
        under_test: Vec::new(),
        events: Vec::new(),
        tags: std::collections::BTreeMap::new(),
    }
}

fn scenario() -> Scenario {
    let request = RequestPlan { method: "GET".to_owned(), path: "/".into(), ..RequestPlan::default() };
    let step = Step::plain("GET /", 0, request);
    Scenario::from_steps("", ConnectionOwner::Shared, vec![step])
}

/// An open phase.
pub(crate) fn phase(name: &str, start: i64, seconds: i64) -> Phase {
    Phase {
        name: name.to_owned(),
        warmup: false,
        start: Nanos::from_secs(start),
        length: Some(Nanos::from_secs(seconds)),
        requests_max: None,
        sessions_max: None,
        load: Load::Open {
            rate: RateCurve::constant(Rate::per_second(100), Some(Nanos::from_secs(seconds))),
            arrivals: Arrivals::Even,
            requests_each: None,
        },
        mix: ScenarioMix::one(0),
        max_open: 1000,
        max_open_by: MaxOpenLimit::Plan,
        connections: 50,
        open_before: false,
    }
}

/// The same plan with a warm-up of `seconds` as phase 0; `main` is phase 1.
pub(crate) fn with_warmup(mut plan: Plan, seconds: i64) -> Plan {
    plan.phases.insert(0, Phase { warmup: true, ..phase("warmup", -seconds, seconds) });
    plan
}

/// The same plan with a closed load.
pub(crate) fn closed(mut plan: Plan) -> Plan {
    for phase in &mut plan.phases {
        phase.load = Load::Closed { users: PopulationCurve::constant(50, phase.length), sessions_each: None };
        phase.open_before = true;
    }
    plan
}

/// A condition as users write it.
pub(crate) fn condition(text: &str) -> Condition {
    Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// One second of load, to be filled.
#[derive(Clone, Debug)]
pub(crate) struct Second {
    interval: Interval,
    key: Key,
}

impl Second {
    /// The second starting at `from`, with one load thread that had little to do.
    pub(crate) fn at(from: i64) -> Self {
        let health = ThreadStats { turns: 1000, busy_ns: 100 * MS, ..ThreadStats::default() };
        let (from, len) = (Nanos::from_secs(from), Nanos::SECOND);
        Self { interval: Interval { from, len, threads: vec![health], ..Interval::default() }, key: KEY }
    }

    /// Sets the phase of everything that follows.
    pub(crate) fn phase(mut self, phase: u16) -> Self {
        self.key.phase = phase;
        self
    }

    /// Adds `n` requests that started on time, were sent, and were done after `ms`.
    pub(crate) fn done(self, n: u64, ms: u64) -> Self {
        self.done_lagging(n, ms, 0)
    }

    /// The same, `lag_us` of it lag.
    pub(crate) fn done_lagging(mut self, n: u64, ms: u64, lag_us: u64) -> Self {
        let key = self.key;
        let step = self.interval.step_mut(key);
        step.counters.offered += n;
        step.counters.sent += n;
        step.counters.done += n;
        step.wire.sent += n;
        step.status.add(200, n);
        step.response.record_n(ms * MS, n);
        step.service.record_n(ms * MS - lag_us * 1000, n);
        if lag_us > 1000 {
            step.counters.late += n;
        }
        let phase = self.interval.phase_mut(key.phase);
        phase.lag.record_n(lag_us * 1000, n);
        phase.wait.record_n(0, n);
        self
    }

    /// `n` requests offered, sent and failed after `ms`.
    pub(crate) fn failed(mut self, n: u64, class: ErrorClass, ms: u64) -> Self {
        let key = self.key;
        let step = self.interval.step_mut(key);
        step.counters.offered += n;
        step.counters.errors[class as usize] += n;
        if class.is_censored() {
            step.response.record_n(ms * MS, n);
        } else {
            self.interval.phase_mut(key.phase).failed.record_n(ms * MS, n);
        }
        self.interval.phase_mut(key.phase).lag.record_n(0, n);
        self
    }

    /// `n` requests offered and dropped.
    pub(crate) fn dropped(mut self, n: u64, reason: DropReason) -> Self {
        let key = self.key;
        let step = self.interval.step_mut(key);
        step.counters.offered += n;
        step.counters.dropped_by[reason as usize] += n;
        self
    }

    /// `n` requests offered and still unanswered at the seal.
    pub(crate) fn open(mut self, n: u64) -> Self {
        let key = self.key;
        let step = self.interval.step_mut(key);
        step.counters.offered += n;
        step.open += n;
        self
    }

    /// `n` requests offered in an earlier second are done now.
    pub(crate) fn answered(mut self, n: u64, ms: u64) -> Self {
        self = self.done(n, ms);
        let key = self.key;
        self.interval.step_mut(key).counters.offered -= n;
        self
    }

    /// The load thread was busy for `percent` of the second.
    pub(crate) fn busy(mut self, percent: u64) -> Self {
        self.interval.threads[0].busy_ns = percent * 10 * MS;
        self
    }

    /// Applies any other change.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Interval)) -> Self {
        change(&mut self.interval);
        self
    }

    /// The interval.
    pub(crate) fn seal(self) -> Interval {
        self.interval
    }
}
