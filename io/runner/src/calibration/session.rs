//! [`calibrate`]: all measurements of a calibration, and what they show.

use wavetank_capacity::calibration::{CalibrationSchedule, CpuAssignment};
use wavetank_driver::Signals;
use wavetank_plan::{Close, EngineChoice, RunOptions, TargetUrl, TlsOptions, TlsResume};
use wavetank_record::{
    CalibratedHostDoc, CalibrationDoc, CalibrationTargetDoc, CountedDoc, HeldMemoryDoc, LagDoc, RunRecord,
    WallTime, engine_name,
};
use wavetank_units::quantity::show_share;
use wavetank_units::{AllowTarget, Nanos, Rate};

use super::bench::{Bench, CalibrationError, FULL_LOAD};
use super::connection_memory::{hold, max_holdable};
use super::interference::InterferenceProbe;
use super::rounds::{RoundStats, lag_doc, rounded, sent};
use super::target::CalibrationTarget;
use crate::{Host, RunConsole};

/// Spread of rounds (a share) above which it is reported.
const SPREAD_SHOWN: f64 = 0.15;
/// A load thread with a lower utilization did not set the limit.
const FULL: f64 = 0.9;
/// How long to wait for open requests at the end of a measurement.
const DRAIN: Nanos = Nanos::from_secs(2);
/// Names of the four figures, in the order in which they are measured.
const FIGURES: [&str; 4] = ["requests", "connections", "TLS handshakes, full", "TLS handshakes, resumed"];

/// A calibration to be made.
pub struct CalibrationSetup<'a> {
    /// This host with the CPUs of the load.
    pub host: Host,
    /// How load threads wait.
    pub engine: EngineChoice,
    /// Targets that the user allowed in addition.
    pub allow_target: Vec<AllowTarget>,
    /// Signals that end it.
    pub signals: Signals,
    /// The command as typed.
    pub command: String,
    /// How long each part takes.
    pub schedule: CalibrationSchedule,
    /// The CPUs of load and target.
    pub layout: CpuAssignment,
    /// All CPUs of this host.
    pub cpus: Vec<u32>,
    /// A server that the user named; `None`: only the one of the calibration.
    pub target: Option<TargetUrl>,
    /// Where the calibration prints.
    pub console: &'a mut dyn RunConsole,
    /// Where its runs print.
    pub run_console: &'a mut dyn RunConsole,
}

/// Calibrates this host with `own` as the target, except where the user named one.
///
/// # Errors
/// A signal, a host without the resources, a target that does not respond.
pub fn calibrate(
    setup: CalibrationSetup<'_>,
    own: &mut dyn CalibrationTarget,
) -> Result<CalibrationDoc, CalibrationError> {
    let CalibrationSetup { host, engine, allow_target, signals, command, run_console, .. } = setup;
    let bench = Bench { host, engine, allow_target, signals, command, console: run_console };
    let CalibrationSetup { schedule, layout, cpus, target, console, .. } = setup;
    Session { bench, schedule, layout, cpus, target, console, counted: 0 }.measure(own)
}

/// A calibration in progress.
struct Session<'a> {
    bench: Bench<'a>,
    schedule: CalibrationSchedule,
    layout: CpuAssignment,
    cpus: Vec<u32>,
    target: Option<TargetUrl>,
    console: &'a mut dyn RunConsole,
    /// Requests that the calibration's own server must have counted.
    counted: u64,
}

/// Result of the measurements.
struct Measured {
    tallies: [RoundStats; 4],
    memory: Option<HeldMemoryDoc>,
    lag: Vec<LagDoc>,
    notes: Vec<String>,
}

impl Session<'_> {
    fn measure(&mut self, own: &mut dyn CalibrationTarget) -> Result<CalibrationDoc, CalibrationError> {
        let begun = own.counts()?;
        let watch = InterferenceProbe::watch();
        let seconds = self.schedule.total().as_secs_f64().round();
        self.console.info(&format!("calibrating for about {seconds} s; nothing else should run meanwhile"));
        let mut tallies: [RoundStats; 4] = Default::default();
        for round in 1..=self.schedule.rounds {
            for (at, tally) in tallies.iter_mut().enumerate() {
                self.console.stage(&format!("round {round} of {}: {}", self.schedule.rounds, FIGURES[at]));
                let url = if at < 2 { self.plain(own) } else { own.tls_url() };
                let record = self.run(&url, self.options(at))?;
                tally.add(&record);
            }
        }
        let rate = tallies[0].rate();
        let lag = self.lags(own, rate)?;
        let (most, shortage) = max_holdable(&self.bench, self.schedule.held);
        let mut notes: Vec<String> = shortage.into_iter().collect();
        self.console.stage(&format!("holding {most} connections"));
        let held = hold(&mut self.bench, own, &self.schedule, most)?;
        let memory = held.and_then(|(record, memory)| {
            self.counted += sent(&record);
            if memory.is_none() {
                notes.push(
                    "memory per connection was not measured: the connections were never all open, or other memory was freed in the meantime"
                        .to_owned(),
                );
            }
            memory
        });
        let ended = own.counts()?;
        let found = watch.found(ended.cpu_s - begun.cpu_s);
        notes.extend(found.notes());
        let measured = Measured { tallies, memory, lag, notes };
        let mut doc = self.doc(measured);
        doc.measured_at = WallTime(watch.began).rfc3339();
        doc.measured_at_s = watch.began / 1_000_000_000;
        doc.took_s = rounded(found.took.as_secs_f64());
        doc.steal = rounded(found.steal);
        doc.others_cpus = rounded(found.others);
        doc.counted = CountedDoc { sent: self.counted, target: ended.requests - begun.requests };
        Ok(doc)
    }

    /// Returns the target without TLS.
    fn plain(&self, own: &dyn CalibrationTarget) -> TargetUrl {
        self.target.clone().unwrap_or_else(|| own.url())
    }

    /// Returns the options that measure the figure with index `at`, at full load.
    fn options(&self, at: usize) -> RunOptions {
        let resume = if at == 3 { TlsResume::User } else { TlsResume::Never };
        RunOptions {
            no_keepalive: at > 0,
            tls: TlsOptions {
                insecure: at >= 2,
                resume: (at >= 2).then_some(resume),
                ..TlsOptions::default()
            },
            ..self.common()
        }
    }

    fn common(&self) -> RunOptions {
        RunOptions {
            connections: Some(FULL_LOAD),
            duration: Some(self.schedule.slice),
            warmup: Some(self.schedule.warmup),
            drain: Some(DRAIN),
            // Each closed one would leave a port in TIME-WAIT.
            close: Some(Close::Rst),
            name: Some("calibrate".to_owned()),
            ..RunOptions::default()
        }
    }

    fn lags(&mut self, own: &dyn CalibrationTarget, rate: f64) -> Result<Vec<LagDoc>, CalibrationError> {
        let url = self.plain(own);
        let mut all = Vec::new();
        for percent in self.schedule.lag_percent {
            let per_s = (rate * percent as f64 / 100.0).round().max(1.0);
            let mut rounds = Vec::new();
            for round in 1..=self.schedule.lag_rounds {
                self.console
                    .stage(&format!("lag at {percent} %, round {round} of {}", self.schedule.lag_rounds));
                let options = RunOptions { rate: Some(Rate::per_second(per_s as u64)), ..self.common() };
                rounds.push(self.run(&url, options)?);
            }
            all.push(lag_doc(percent, per_s, &rounds));
        }
        Ok(all)
    }

    fn run(&mut self, url: &TargetUrl, options: RunOptions) -> Result<RunRecord, CalibrationError> {
        let record = self.bench.url(url, options)?;
        if self.target.as_ref() != Some(url) {
            self.counted += sent(&record);
        }
        Ok(record)
    }

    fn doc(&self, measured: Measured) -> CalibrationDoc {
        let Measured { tallies, memory, lag, mut notes } = measured;
        notes.extend(self.notes(&tallies));
        let of_target = if self.target.is_some() { "url" } else { "own" };
        let against = [of_target, of_target, "own", "own"];
        let figure = |at: usize| tallies[at].figure(self.cpus.len(), against[at]);
        let facts = &self.bench.host.facts;
        CalibrationDoc {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: CalibratedHostDoc {
                hostname: facts.hostname.clone(),
                cpus: u32::try_from(self.cpus.len()).unwrap_or(u32::MAX),
                cpu_model: facts.cpu_model.clone(),
                kernel: facts.kernel.clone(),
            },
            engine: engine_name(self.bench.engine).to_owned(),
            target: CalibrationTargetDoc {
                kind: of_target.to_owned(),
                url: self.target.as_ref().map(TargetUrl::url).unwrap_or_default(),
                layout: self.layout.name().to_owned(),
                load_cpus: self.layout.load.clone(),
                target_cpus: self.layout.target.clone(),
            },
            users: FULL_LOAD,
            requests: figure(0),
            connections: figure(1),
            handshakes_full: figure(2),
            handshakes_resumed: figure(3),
            memory,
            open_per_s: rounded(lag.iter().map(|lag| lag.done_per_s.0).fold(0.0, f64::max)),
            lag,
            notes,
            ..CalibrationDoc::default()
        }
    }

    /// Returns remarks on how reliable the figures are.
    fn notes(&self, tallies: &[RoundStats; 4]) -> Vec<String> {
        let mut notes = Vec::new();
        if self.layout.name() == "shared" {
            let cpus = self.cpus.len();
            let word = if cpus == 1 { "CPU" } else { "CPUs" };
            notes.push(format!("load and target shared {cpus} {word}: `measured` is both together, `alone` is the load without the target"));
        }
        let spread = tallies.iter().zip(FIGURES).filter(|(tally, _)| tally.spread() > SPREAD_SHOWN);
        notes.extend(spread.map(|(tally, name)| {
            format!(
                "{name}: the rounds differ by {}: something disturbed them; calibrate again on a quiet host",
                show_share(tally.spread())
            )
        }));
        if self.layout.name() != "shared" && tallies[0].busiest() < FULL {
            let busy = show_share(tallies[0].busiest());
            notes.push(format!("requests: the target was the limit, and the load threads were busy {busy} of the time; `alone` shows what they can do"));
        }
        if let Some(resumed) = tallies[3].resumed().filter(|resumed| *resumed < FULL) {
            notes.push(format!("TLS handshakes, resumed: only {} were", show_share(resumed)));
        }
        notes
    }
}
