//! [`LoadedRun`]: what comparing needs of a stored run.

use std::collections::BTreeMap;

use wavetank_compare::{Machine, RunSeriesBuilder, SideRun};
use wavetank_measure::HostSample;
use wavetank_plan::Plan;
use wavetank_record::{ComparedRunDoc, EventKind, RunRecord};
use wavetank_store::{ArchiveItem, OpenedRun, RunsDir, answered};
use wavetank_units::quantity::format_grouped;
use wavetank_units::{Code, Nanos, Sentence, UserError, phrase, sentence};

/// A run, read from its archive.
pub(crate) struct LoadedRun {
    /// Its archive; a pack stays unpacked as long as this is there.
    pub(crate) opened: OpenedRun,
    pub(crate) record: RunRecord,
    pub(crate) plan: Plan,
    pub(crate) machine: Machine,
    pub(crate) data: SideRun,
    /// What is wrong with its archive; empty if nothing is.
    pub(crate) damage: Sentence,
}

/// Reads the run called `word`.
///
/// # Errors
/// A usage error if there is none, or if it cannot be compared because it never finished or has no
/// response.
pub(crate) fn load(runs: &RunsDir, word: &str) -> Result<LoadedRun, UserError> {
    let opened = wavetank_store::open(&runs.find(word)?)?;
    let Some(record) = opened.record.clone() else {
        return Err(UserError::usage(
            Code::RunUnfinished,
            format!("run `{word}` never finished: `{}` has no `run.json`", opened.display_path()),
            format!("see wavetank report {word} for its results so far; compare finished runs"),
        ));
    };
    let plan = opened.plan()?;
    let (data, damage) = read(&opened, &plan, &record)?;
    if record.requests.offered == 0 && record.connections.opened == 0 {
        return Err(UserError::usage(
            Code::RunEmpty,
            format!("run `{word}` has nothing to compare: nothing was sent"),
            format!("see wavetank report {word} for the reason"),
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
    /// Returns its description for the output.
    pub(crate) fn doc(&self) -> ComparedRunDoc {
        let record = &self.record;
        ComparedRunDoc {
            id: record.id.clone(),
            name: record.name.clone(),
            started_at: record.started_at.clone(),
            target: record.target.clone(),
            load: record.load.text.as_str().to_owned(),
            verdict: record.verdict.status.name().to_owned(),
            duration_s: record.duration_s,
            version: record.version.clone(),
        }
    }
}

/// The intervals, cut, and what reading them was like.
fn read(opened: &OpenedRun, plan: &Plan, record: &RunRecord) -> Result<(SideRun, Sentence), UserError> {
    let mut cutter = RunSeriesBuilder::new(plan);
    for event in opened.events.iter().filter(|event| event.kind == EventKind::PhaseEnded) {
        if let Some(phase) = event.phase {
            cutter.phase_ended(phase, Nanos(event.at_ns));
        }
    }
    let (mut first, mut lost, mut reported) = (None, false, 0);
    let report = opened.read_intervals(|sealed| {
        let line = match sealed {
            ArchiveItem::Next(line) => line,
            // Its sum includes what was lost, but not when that happened. Earlier intervals are in
            // the columns already.
            ArchiveItem::Instead(_) => {
                lost = true;
                return;
            }
        };
        let timed = first.get_or_insert_with(|| line.agent.clone()) == &line.agent;
        reported += answered(plan, &line.interval);
        cutter.add(&line.interval, timed);
    })?;
    let mut damage = Vec::new();
    if lost || report.missing > 0 {
        damage.push(phrase!("intervals are missing"));
    }
    if report.damaged > 0 {
        damage.push(sentence!("{} lines cannot be read", report.damaged));
    }
    let counted = record.requests.done + record.requests.failed;
    if reported < counted {
        damage.push(sentence!(
            "its intervals lack {} of the {} requests that it counted",
            format_grouped(counted - reported),
            format_grouped(counted)
        ));
    }
    let data = SideRun { cut: cutter.finish(), figures: figures(opened, record)? };
    Ok((data, Sentence::join(damage, ", ")))
}

/// What a run has one figure of: its messages, what it took of this host, and how hosts stood.
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
    if let Some(messages) = record.messages.as_ref().filter(|_| record.duration_s.0 > 0.0) {
        for (name, count) in [("messages_out_rate", messages.sent), ("messages_in_rate", messages.received)] {
            if count > 0 {
                figures.insert(name.to_owned(), (count as f64 / record.duration_s.0, "per_s"));
            }
        }
    }
    if let Some(nearest) = &record.nearest_limit {
        figures.insert("nearest_limit".to_owned(), (nearest.limit.share.0.min(1.0), "share"));
    }
    for host in opened.hosts()? {
        let (cpu, memory) = stood(&host.samples);
        figures.extend(cpu.map(|share| (format!("cpu({})", host.name), (share, "share"))));
        figures.extend(memory.map(|bytes| (format!("memory({})", host.name), (bytes as f64, "bytes"))));
    }
    Ok(figures)
}

/// Returns the share of its CPUs that a host used over its samples, as in reports, and its memory
/// in bytes. For a lab's host that is the most it used. For a machine that others use too, it is
/// the decrease of available memory since the start. `None` if unknown.
fn stood(samples: &[HostSample]) -> (Option<f64>, Option<u64>) {
    let (Some(begin), Some(end)) = (samples.first(), samples.last()) else { return (None, None) };
    let memory = if end.cpus_milli > 0 {
        samples.iter().map(|sample| sample.mem_used_bytes).max()
    } else {
        let least = samples.iter().map(|sample| sample.mem_available_bytes).min();
        least.map(|least| begin.mem_available_bytes.saturating_sub(least))
    };
    (end.cpu_since(begin), memory.filter(|bytes| *bytes > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(begin: HostSample, end: HostSample, cpu: Option<f64>, memory: Option<u64>) {
        let end = HostSample { at: Nanos::from_secs(10), ..end };
        assert_eq!(stood(&[begin, end]), (cpu, memory));
    }

    #[test]
    fn a_machine_is_described_by_cpus_and_free_memory() {
        let of = |cores: &[(u64, u64)], mem_available_bytes| HostSample {
            cores: cores.to_vec(),
            mem_available_bytes,
            ..HostSample::default()
        };
        check(of(&[(10, 100), (0, 100)], 900), of(&[(60, 200), (50, 200)], 700), Some(0.5), Some(200));
        check(of(&[], 900), of(&[], 900), None, None);
    }

    #[test]
    fn a_lab_host_is_described_by_its_limits() {
        // Half a CPU of which it used all in ten seconds, though no CPU is counted by itself.
        let of = |cpu_user_ns, mem_used_bytes| HostSample {
            cpus_milli: 500,
            cpu_user_ns,
            mem_used_bytes,
            ..HostSample::default()
        };
        check(of(0, 4_096), of(5_000_000_000, 1_024), Some(1.0), Some(4_096));
    }
}
