//! [`ArchiveGaps`]: which part of a run is missing in the intervals of its archive.

use wavetank_measure::Interval;
use wavetank_plan::Plan;
use wavetank_record::RunRecord;
use wavetank_units::quantity::format_grouped;
use wavetank_units::sanitize;

use crate::ReadReport;

/// Missing data of an archive. It is shown next to every view that is made of intervals, and in the
/// description of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveGaps {
    /// The intervals folder, as shown in messages.
    pub dir: String,
    /// Result of reading the intervals.
    pub read: ReadReport,
    /// Judged requests in the intervals, done or failed.
    pub in_intervals: u64,
}

impl ArchiveGaps {
    /// Returns one sentence for each kind of gap. If a file was cut between two lines, only the
    /// run's own count in `record` reveals the loss.
    pub fn sentences(&self, record: Option<&RunRecord>) -> Vec<String> {
        let Self { dir, read, in_intervals } = self;
        let mut sentences = Vec::new();
        if read.damaged > 0 {
            let lines = match read.damaged {
                1 => "1 line in".to_owned(),
                damaged => format!("{damaged} lines in"),
            };
            let later = match read.newer {
                0 => String::new(),
                newer => format!("; {newer} were written by a later version of wavetank"),
            };
            sentences.push(format!("{lines} `{dir}` cannot be read: left out{later}"));
        }
        let counted = record.map_or(0, |record| record.requests.done + record.requests.failed);
        if *in_intervals < counted {
            sentences.push(format!(
                "`{dir}` lacks {} of the {} requests that the run counted: time series have gaps",
                format_grouped(counted - in_intervals),
                format_grouped(counted)
            ));
        } else if read.missing > 0 {
            let are =
                if read.missing == 1 { "1 interval is" } else { &format!("{} intervals are", read.missing) };
            sentences.push(format!("{are} missing in `{dir}`: time series have gaps"));
        }
        let of_agents = read.gaps.iter().filter(|gap| gap.missing > 0);
        let of_agents: Vec<_> =
            of_agents.map(|gap| format!("{} of `{}`", gap.missing, sanitize(&gap.agent))).collect();
        if !of_agents.is_empty() {
            sentences.push(format!("intervals missing of single agents: {}", of_agents.join(", ")));
        }
        sentences
    }
}

/// Judged requests of an interval that ended, with any result.
pub fn answered(plan: &Plan, interval: &Interval) -> u64 {
    let judged = |phase: u16| plan.phases.get(usize::from(phase)).is_none_or(|phase| !phase.warmup);
    let steps = interval.steps.iter().filter(|series| judged(series.key.phase));
    steps.map(|series| series.counters.done + series.counters.failed()).sum()
}
