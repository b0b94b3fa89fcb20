//! Writes a synthetic archive of a long run, for `cargo xtask bench report`. It uses
//! [`ArchiveWriter`], so its lines are those that a real run of that size writes. Response times
//! are log-normal, with a separate median for each step.
//!
//! `long_archive RUNS_DIR SECONDS STEPS PER_SECOND` writes the archive under `RUNS_DIR` and prints
//! its folder. The archive has no `run.json`, as if the run had been killed. `long_archive ARCHIVE`
//! reads an archive: its time series or, if `LEDGER` is set, the ledger that a killed run is judged
//! by.
#![expect(clippy::print_stdout, reason = "its result is a line of text")]

#[path = "../tests/it/support/mod.rs"]
mod support;

use std::path::Path;

use wavetank_measure::{Interval, StatusCounts, ThreadStats, WireCounters};
use wavetank_plan::{ConnectionOwner, Key, Load, Plan, RateCurve, RequestPlan, Scenario, Step};
use wavetank_record::PlanDoc;
use wavetank_store::{ArchiveWriter, RunMeta, RunsDir};
use wavetank_units::{Nanos, Rate};

/// Number of distinct seconds; they are repeated in turn.
const DIFFERENT: u64 = 61;
/// Standard deviation of the logarithm of a response time. The 99th percentile is 3.2 times the
/// median.
const SIGMA: f64 = 0.5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [archive] = &arguments[..] {
        return read(Path::new(archive));
    }
    let [dir, seconds, steps, rate] = &arguments[..] else {
        panic!("long_archive RUNS_DIR SECONDS STEPS PER_SECOND")
    };
    let number = |text: &String| text.parse::<u64>().unwrap_or_else(|error| panic!("{text}: {error}"));
    let (seconds, steps, rate) = (number(seconds), number(steps), number(rate));
    let plan = plan(seconds, steps, rate);
    let meta = RunMeta { plan_yaml: PlanDoc::new(&plan).to_yaml(), name: plan.name, ..support::meta() };
    let mut writer =
        ArchiveWriter::create(&RunsDir::new(Path::new(dir)), &meta).expect("the folder is writable");
    let mut chance = Chance(1);
    let different: Vec<_> = (0..DIFFERENT.min(seconds)).map(|_| second(&mut chance, steps, rate)).collect();
    for at in 0..seconds {
        let mut interval = different[(at % DIFFERENT) as usize].clone();
        interval.from = Nanos::from_secs(at as i64);
        // The load is constant: requests open at the end of a second were offered in the first one.
        for step in &mut interval.steps {
            step.open = 10;
            step.counters.offered += if at == 0 { 10 } else { 0 };
        }
        interval.conns.open = 50;
        (interval.conns.offered, interval.conns.opened) = if at == 0 { (50, 50) } else { (0, 0) };
        let problem = writer.interval(Nanos::from_secs(at as i64 + 1), &interval);
        assert!(problem.is_none(), "{problem:?}");
    }
    println!("{}", writer.dir().display());
}

/// Reads an archive as reports do, so that the time for reading can be measured apart from
/// rendering.
fn read(archive: &Path) {
    let run = wavetank_store::open(archive).expect("an archive");
    let plan = run.plan().expect("a plan");
    if std::env::var_os("LEDGER").is_some() {
        let (ledger, report) = run.ledger(&plan).expect("readable");
        println!("{report:?}: {} done", ledger.totals().steps.iter().map(|it| it.counters.done).sum::<u64>());
        return;
    }
    let (course, report) = run.time_series(&plan, 400).expect("readable");
    println!(
        "{report:?}: {} columns of {}, {} done",
        course.columns.len(),
        course.column,
        course.counters.done
    );
}

/// An open run of one scenario of `steps` steps, each asked `rate` times a second.
fn plan(seconds: u64, steps: u64, rate: u64) -> Plan {
    let mut plan = support::plan();
    let step = |number: u64| {
        let path = format!("/step/{number}").into();
        let request = RequestPlan { method: "GET".to_owned(), path, ..RequestPlan::default() };
        Step::plain(format!("step-{number:02}"), 0, request)
    };
    plan.name = format!("{seconds}-s-of-{steps}-steps");
    plan.scenarios = vec![Scenario::from_steps("", ConnectionOwner::Shared, (0..steps).map(step).collect())];
    let phase = &mut plan.phases[0];
    phase.length = Some(Nanos::from_secs(seconds as i64));
    if let Load::Open { rate: curve, .. } = &mut phase.load {
        *curve = RateCurve::constant(Rate::per_second(rate), phase.length);
    }
    plan
}

/// One second of the run. The caller sets its start.
fn second(chance: &mut Chance, steps: u64, rate: u64) -> Interval {
    let threads = [0, 1].map(|thread| ThreadStats {
        thread,
        turns: 9_000 + chance.below(1_000),
        busy_ns: 200_000_000 + chance.below(50_000_000),
        turn_ns_max: 100_000 + chance.below(900_000),
        send_call_ns_max: 50_000 + chance.below(90_000),
        cpu_ns: 250_000_000 + chance.below(50_000_000),
        ..ThreadStats::default()
    });
    let mut interval =
        Interval { len: Nanos::SECOND, threads: threads.to_vec(), users: 50, ..Interval::default() };
    for number in 0..steps {
        // From 1 ms for the first step to some 20 ms for the last of twenty.
        let median = 1e6 * (1.0 + number as f64);
        let done = rate - rate / 200;
        for _ in 0..done {
            let service = (median * (SIGMA * chance.normal()).exp()) as u64;
            let (lag, wait) =
                ((300.0 * chance.normal().exp()) as u64, chance.below(8) / 7 * chance.below(90_000));
            let step = interval.step_mut(Key { phase: 0, scenario: 0, step: number as u16 });
            step.response.record(service + lag + wait);
            step.service.record(service);
            let phase = interval.phase_mut(0);
            phase.lag.record(lag);
            phase.wait.record(wait);
            let transfer = (40_000.0 * chance.normal().exp()) as u64;
            phase.ttfb.record(service.saturating_sub(transfer));
            phase.transfer.record(transfer.min(service));
        }
        let step = interval.step_mut(Key { phase: 0, scenario: 0, step: number as u16 });
        (step.counters.offered, step.counters.sent, step.counters.done) = (rate, rate, done);
        step.counters.errors[wavetank_measure::ErrorClass::Status as usize] = rate - done;
        step.counters.late = chance.below(3);
        step.status = StatusCounts(vec![(200, done), (503, rate - done)]);
        step.wire = WireCounters { sent: rate, ..WireCounters::default() };
        let failed = &mut interval.phase_mut(0).failed;
        (0..rate - done).for_each(|_| failed.record((median * (SIGMA * chance.normal()).exp()) as u64));
    }
    (interval.bytes.sent, interval.bytes.received) = (80 * rate * steps, 900 * rate * steps);
    interval
}

/// Numbers that look random and are the same on every machine: `SplitMix64`.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Between 0 and 1, neither of them.
    fn share(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Of the normal distribution: Box and Muller's way.
    fn normal(&mut self) -> f64 {
        (-2.0 * self.share().ln()).sqrt() * (std::f64::consts::TAU * self.share()).cos()
    }
}
