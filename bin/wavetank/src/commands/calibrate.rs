//! `wavetank calibrate`: measures how much load this host can generate.

use wavetank_capacity::calibration::{CalibrationSchedule, CpuAssignment};
use wavetank_driver::Signals;
use wavetank_observe::core_of;
use wavetank_plan::feasibility::choose_engine;
use wavetank_plan::{Close, RunOptions, TargetUrl, TlsOptions, TlsResume};
use wavetank_record::{
    CalibratedHostDoc, CalibrationDoc, CalibrationTargetDoc, CalibrationsDoc, CountedDoc, HeldMemoryDoc,
    LagDoc, RunRecord, WallTime, engine_name,
};
use wavetank_report::{calibration_text, engine_line};
use wavetank_runner::{Host, RunConsole as _, host_error};
use wavetank_units::quantity::show_share;
use wavetank_units::{Code, ExitCode, Nanos, Rate, UserError};

use super::terminal_width::terminal_width;
use crate::calibrate::{
    Bench, BenchError, FULL_LOAD, InterferenceProbe, RoundStats, TargetProcess, as_target, calibration_file,
    hold, lag_doc, max_holdable, rounded, sent,
};
use crate::cli::{CalibrateArgs, CalibrationTargetArgs, FileFormat};
use crate::output::{self, Console};

/// Spread of rounds (a share) above which it is reported.
const SPREAD_TOLD: f64 = 0.15;
/// A load thread with a lower utilization did not set the limit.
const FULL: f64 = 0.9;
/// How long to wait for open requests at the end of a measurement.
const DRAIN: Nanos = Nanos::from_secs(2);
/// Names of the four figures, in the order in which they are measured.
const FIGURES: [&str; 4] = ["requests", "connections", "TLS handshakes, full", "TLS handshakes, resumed"];

/// Measures and stores, or shows the stored calibration. Exit 0; 1 if the target does not respond
/// or its counts differ from ours; 130 if interrupted, and then nothing is stored.
pub(crate) fn calibrate(args: CalibrateArgs) -> Result<u8, UserError> {
    let (course, engine) = (args.schedule()?, args.engine());
    let CalibrateArgs { target, allow_target, show: is_shown, out, format, quiet, command, .. } = args;
    if is_shown {
        return show(out, format);
    }
    let file = calibration_file(out)?;
    // Report this now, not after a minute of measuring.
    file.check_writable()?;
    let mut talk = Console::new(quiet);
    if let Err(error) = file.read() {
        talk.warn(&format!("{}: it will be replaced", error.message));
    }
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let host = Host::inspect()?;
    let engine = choose_engine(engine, &host.facts.sockets)?;
    talk.info(&engine_line(engine.choice, engine.why.as_ref()));
    let layout = match &target {
        Some(_) => CpuAssignment::for_remote_target(&host.facts.cpus),
        None => CpuAssignment::from_cpus(&host.facts.cpus, core_of),
    };
    let cpus = host.facts.cpus.clone();
    let host = Host { facts: wavetank_plan::HostFacts { cpus: layout.load.clone(), ..host.facts }, ..host };
    let bench = Bench { host, engine: engine.choice, allow_target, signals, command };
    let mut session = Session { bench, course, layout, cpus, target, talk, counted: 0 };
    match session.measure() {
        Ok(doc) => deliver(doc, &file, format, &mut session.talk),
        Err(BenchError::Signal) => {
            session.talk.clear_progress();
            session.talk.info("interrupted: nothing is stored");
            Ok(ExitCode::Signal as u8)
        }
        Err(BenchError::Fault(error)) => Err(error),
    }
}

/// Serves another calibration until its standard input ends.
pub(crate) fn calibration_target(args: &CalibrationTargetArgs) -> Result<u8, UserError> {
    as_target(&args.cpus, args.engine)
}

fn deliver(
    doc: CalibrationDoc,
    file: &wavetank_store::CalibrationFile,
    format: FileFormat,
    talk: &mut Console,
) -> Result<u8, UserError> {
    talk.clear_progress();
    let honest = doc.counted.sent == doc.counted.target;
    if honest {
        file.insert(doc.clone())?;
    }
    print(&CalibrationsDoc::new(vec![doc]), format)?;
    if honest {
        talk.info(&format!("stored     {}", file.path().display()));
        return Ok(ExitCode::Pass as u8);
    }
    talk.warn("the target's count differs from the number sent: nothing is stored");
    Ok(ExitCode::Fail as u8)
}

fn show(out: Option<std::path::PathBuf>, format: FileFormat) -> Result<u8, UserError> {
    let file = calibration_file(out)?;
    let doc = file.read()?.ok_or_else(|| {
        let message = format!("this host is not calibrated: there is no `{}`", file.path().display());
        UserError::usage(Code::NotCalibrated, message, "wavetank calibrate takes a minute, --quick 15 s")
    })?;
    print(&doc, format)?;
    Ok(ExitCode::Pass as u8)
}

fn print(doc: &CalibrationsDoc, format: FileFormat) -> Result<(), UserError> {
    output::print(&match format {
        FileFormat::Text => calibration_text(doc, terminal_width()),
        FileFormat::Json => doc.to_json() + "\n",
    })
}

/// A calibration in progress.
struct Session {
    bench: Bench,
    course: CalibrationSchedule,
    layout: CpuAssignment,
    /// All CPUs of this host.
    cpus: Vec<u32>,
    /// A server that the user named; `None`: the built-in one.
    target: Option<TargetUrl>,
    talk: Console,
    /// Requests that the built-in server must have counted.
    counted: u64,
}

/// Result of the measurements.
struct Measured {
    tallies: [RoundStats; 4],
    memory: Option<HeldMemoryDoc>,
    lag: Vec<LagDoc>,
    notes: Vec<String>,
}

impl Session {
    fn measure(&mut self) -> Result<CalibrationDoc, BenchError> {
        let own_cpus = if self.layout.target.is_empty() { &self.cpus } else { &self.layout.target };
        let mut own = TargetProcess::start(own_cpus, self.bench.engine)?;
        let begun = own.counts()?;
        let watch = InterferenceProbe::watch();
        let seconds = self.course.total().as_secs_f64().round();
        self.talk.info(&format!("calibrating for about {seconds} s; nothing else should run meanwhile"));
        let mut tallies: [RoundStats; 4] = Default::default();
        for round in 1..=self.course.rounds {
            for (at, tally) in tallies.iter_mut().enumerate() {
                self.talk.stage(&format!("round {round} of {}: {}", self.course.rounds, FIGURES[at]));
                let url = if at < 2 { self.plain(&own) } else { own.tls_url() };
                let record = self.run(&url, self.options(at))?;
                tally.add(&record);
            }
        }
        let rate = tallies[0].rate();
        let lag = self.lags(&own, rate)?;
        let (most, mut notes) = {
            let (most, told) = max_holdable(&self.bench, self.course.held);
            (most, told.into_iter().collect::<Vec<_>>())
        };
        self.talk.stage(&format!("holding {most} connections"));
        let held = hold(&self.bench, &mut own, &self.course, most)?;
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
    fn plain(&self, own: &TargetProcess) -> TargetUrl {
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
            duration: Some(self.course.slice),
            warmup: Some(self.course.warmup),
            drain: Some(DRAIN),
            // Each closed one would leave a port in TIME-WAIT.
            close: Some(Close::Rst),
            name: Some("calibrate".to_owned()),
            ..RunOptions::default()
        }
    }

    fn lags(&mut self, own: &TargetProcess, rate: f64) -> Result<Vec<LagDoc>, BenchError> {
        let url = self.plain(own);
        let mut all = Vec::new();
        for percent in self.course.lag_percent {
            let per_s = (rate * percent as f64 / 100.0).round().max(1.0);
            let mut rounds = Vec::new();
            for round in 1..=self.course.lag_rounds {
                self.talk.stage(&format!("lag at {percent} %, round {round} of {}", self.course.lag_rounds));
                let options = RunOptions { rate: Some(Rate::per_second(per_s as u64)), ..self.common() };
                rounds.push(self.run(&url, options)?);
            }
            all.push(lag_doc(percent, per_s, &rounds));
        }
        Ok(all)
    }

    fn run(&mut self, url: &TargetUrl, options: RunOptions) -> Result<RunRecord, BenchError> {
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
        let spread = tallies.iter().zip(FIGURES).filter(|(tally, _)| tally.spread() > SPREAD_TOLD);
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
