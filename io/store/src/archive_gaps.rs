//! [`ArchiveGaps`]: what an archive's intervals lack of the run they are of.

use wavetank_measure::Interval;
use wavetank_plan::Plan;
use wavetank_plan::quantity::show_count;
use wavetank_record::RunRecord;

use crate::ReadReport;

/// What is not there, told beside every view that is made of intervals, and of the archive itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveGaps {
    /// Where the intervals lie, as it is shown.
    pub dir: String,
    /// What reading them was like.
    pub read: ReadReport,
    /// Judged requests, done or failed, that they tell of.
    pub told: u64,
}

impl ArchiveGaps {
    /// A line each. A file that ends too early between two lines is known only by what the run itself had counted in its
    /// `record`.
    pub fn sentences(&self, record: Option<&RunRecord>) -> Vec<String> {
        let Self { dir, read, told } = self;
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
        if *told < counted {
            sentences.push(format!(
                "`{dir}` lacks {} of the {} requests that the run counted: what is told over time has gaps",
                show_count(counted - told),
                show_count(counted)
            ));
        } else if read.missing > 0 {
            let are =
                if read.missing == 1 { "1 interval is" } else { &format!("{} intervals are", read.missing) };
            sentences.push(format!("{are} missing in `{dir}`: what is told over time has gaps"));
        }
        sentences
    }
}

/// Judged requests of an interval that ended, in whatever way.
pub fn answered(plan: &Plan, interval: &Interval) -> u64 {
    let judged = |phase: u16| plan.phases.get(usize::from(phase)).is_none_or(|phase| !phase.warmup);
    let steps = interval.steps.iter().filter(|series| judged(series.key.phase));
    steps.map(|series| series.counters.done + series.counters.failed()).sum()
}
