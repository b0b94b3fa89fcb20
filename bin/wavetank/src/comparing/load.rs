//! [`LoadedRun`]: what comparing needs of a stored run.

use std::collections::BTreeMap;

use wavetank_compare::{Cutter, Machine, RunData};
use wavetank_measure::HostSample;
use wavetank_plan::quantity::show_count;
use wavetank_plan::{Nanos, Plan, UserError};
use wavetank_record::{ComparedRunDoc, PHASE_ENDED, RunRecord};
use wavetank_store::{OpenedRun, RunsDir, Sealed};

use crate::run::archive_gaps::answered;

/// A run, read from its archive.
pub(crate) struct LoadedRun {
    /// Its archive; a pack stays unpacked as long as this is there.
    pub(crate) opened: OpenedRun,
    pub(crate) record: RunRecord,
    pub(crate) plan: Plan,
    pub(crate) machine: Machine,
    pub(crate) data: RunData,
    /// What is wrong with its archive; empty if nothing is.
    pub(crate) damage: String,
}

/// Read the run called `word`.
///
/// # Errors
/// A usage error if there is none, or it cannot be compared: it never finished, or nothing in it was answered.
pub(crate) fn load(runs: &RunsDir, word: &str) -> Result<LoadedRun, UserError> {
    let opened = wavetank_store::open(&runs.find(word)?)?;
    let Some(record) = opened.record.clone() else {
        return Err(UserError::usage(
            "run_unfinished",
            format!("run `{word}` never finished: `{}` has no `run.json`", opened.shown()),
            format!("wavetank report {word} tells what was sealed of it; compare runs that finished"),
        ));
    };
    let plan = opened.plan()?;
    let (data, damage) = read(&opened, &plan, &record)?;
    if record.requests.offered == 0 && record.connections.opened == 0 {
        return Err(UserError::usage(
            "run_empty",
            format!("run `{word}` has nothing to compare: nothing was sent"),
            format!("wavetank report {word} tells why"),
        ));
    }
    let environment = opened.environment.as_ref();
    let host = environment.map(|environment| &environment.host);
    let machine = Machine {
        cpu: host.map(|host| host.cpu_model.clone()).unwrap_or_default(),
        cpus: host.map_or(0, |host| host.cpus.len()),
        kernel: host.map(|host| host.kernel.clone()).unwrap_or_default(),
        version: record.version.clone(),
        engine: record.generator.engine.clone(),
    };
    Ok(LoadedRun { opened, record, plan, machine, data, damage })
}

impl LoadedRun {
    /// As it is told.
    pub(crate) fn doc(&self) -> ComparedRunDoc {
        let record = &self.record;
        ComparedRunDoc {
            id: record.id.clone(),
            name: record.name.clone(),
            started_at: record.started_at.clone(),
            target: record.target.clone(),
            load: record.load.text.clone(),
            verdict: record.verdict.status.name().to_owned(),
            duration_s: record.duration_s,
            version: record.version.clone(),
        }
    }
}

/// The intervals, cut, and what reading them was like.
fn read(opened: &OpenedRun, plan: &Plan, record: &RunRecord) -> Result<(RunData, String), UserError> {
    let mut cutter = Cutter::new(plan);
    for event in opened.events.iter().filter(|event| event.kind == PHASE_ENDED) {
        if let Some(phase) = event.phase {
            cutter.phase_ended(phase, Nanos(event.at_ns));
        }
    }
    let (mut first, mut lost, mut told) = (None, false, 0);
    let report = opened.read_intervals(|sealed| {
        let line = match sealed {
            Sealed::Next(line) => line,
            // Its sum holds what was lost, but not when it happened: what came before it is in the columns already.
            Sealed::Instead(_) => {
                lost = true;
                return;
            }
        };
        let timed = first.get_or_insert_with(|| line.agent.clone()) == &line.agent;
        told += answered(plan, &line.interval);
        cutter.add(&line.interval, timed);
    })?;
    let mut damage = Vec::new();
    if lost || report.missing > 0 {
        damage.push("intervals are missing".to_owned());
    }
    if report.damaged > 0 {
        damage.push(format!("{} lines cannot be read", report.damaged));
    }
    let counted = record.requests.done + record.requests.failed;
    if told < counted {
        damage.push(format!(
            "its intervals lack {} of the {} requests that it counted",
            show_count(counted - told),
            show_count(counted)
        ));
    }
    let data = RunData { cut: cutter.finish(), figures: figures(opened, record)? };
    Ok((data, damage.join(", ")))
}

/// What a run has one figure of: what it took of this host, and how hosts stood.
fn figures(
    opened: &OpenedRun,
    record: &RunRecord,
) -> Result<BTreeMap<String, (f64, &'static str)>, UserError> {
    let mut figures = BTreeMap::new();
    let generator = &record.generator;
    let cpu = generator.cpu_user_s.0 + generator.cpu_system_s.0;
    // The warm-up's requests took of the same CPU time.
    let warmup = record.warmup.requests.as_ref().map_or(0, |requests| requests.done);
    let done = record.requests.done + warmup;
    if cpu > 0.0 && done > 0 {
        figures.insert("cpu_per_request(generator)".to_owned(), (cpu / done as f64, "s"));
    }
    if generator.peak_rss_bytes > 0 {
        figures.insert("memory(generator)".to_owned(), (generator.peak_rss_bytes as f64, "bytes"));
    }
    for host in opened.hosts()? {
        let (Some(begin), Some(end)) = (host.samples.first(), host.samples.last()) else { continue };
        if let Some(share) = busy(begin, end) {
            figures.insert(format!("cpu({})", host.name), (share, "share"));
        }
        let least = host.samples.iter().map(|sample| sample.mem_available_bytes).min().unwrap_or(0);
        let taken = begin.mem_available_bytes.saturating_sub(least);
        if taken > 0 {
            figures.insert(format!("memory({})", host.name), (taken as f64, "bytes"));
        }
    }
    Ok(figures)
}

/// The share of its CPUs' time that a host had work in, between two samples.
fn busy(begin: &HostSample, end: &HostSample) -> Option<f64> {
    let sum = |sample: &HostSample| {
        sample.cores.iter().fold((0, 0), |(busy, all), core| (busy + core.0, all + core.1))
    };
    let ((busy_then, all_then), (busy_now, all_now)) = (sum(begin), sum(end));
    let all = all_now.checked_sub(all_then).filter(|all| *all > 0)?;
    Some(busy_now.saturating_sub(busy_then) as f64 / all as f64)
}
