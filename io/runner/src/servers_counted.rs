//! [`ServersCounted`]: counters of a lab's servers before and after a run.

use wavetank_diagnose::RunContext;
use wavetank_lab::LogParts;
use wavetank_plan::Plan;
use wavetank_record::{RunRecord, Setup};
use wavetank_units::UserError;

use super::lab_evidence::add_lab_evidence;
use super::server_counts::ServerCounts;
use super::{LabRun, RunConsole};

/// The counters before and after the load, or why they cannot be read.
pub(super) type CountsRead<'a> = Result<(&'a ServerCounts, ServerCounts), UserError>;

/// What servers of the lab had counted before anything was sent.
pub(super) struct ServersCounted<'a> {
    lab: Option<&'a LabRun>,
    before: Option<Result<ServerCounts, UserError>>,
    /// Connections opened before the load, with one request each; `None` if unknown.
    probe: Option<u64>,
}

impl<'a> ServersCounted<'a> {
    /// `probe`: what was sent ahead, if anything was to be.
    pub(super) fn new(
        lab: Option<&'a LabRun>,
        before: Option<Result<ServerCounts, UserError>>,
        probe: Option<&Setup>,
    ) -> Self {
        // A probe that was cut short may have been seen by a server or not.
        let probe = probe.map_or(Some(0), |probe| (probe.sent > 0).then_some(probe.sent));
        Self { lab, before, probe }
    }

    /// Reads the counters again after the load; `None` outside of a lab.
    pub(super) fn read(&self) -> Option<CountsRead<'_>> {
        let (lab, before) = (self.lab?, self.before.as_ref()?);
        Some(before.as_ref().map_err(Clone::clone).and_then(|before| Ok((before, lab.counts()?))))
    }

    /// The lab of the run.
    pub(super) const fn lab(&self) -> Option<&'a LabRun> {
        self.lab
    }

    /// Adds what the lab's hosts show of the bottleneck to `context`, and returns the logs of its
    /// services since the run began.
    pub(super) fn add_evidence(&self, read: Option<&CountsRead<'_>>, context: &mut RunContext) -> LogParts {
        let Some(lab) = self.lab else { return LogParts::default() };
        let logs = lab.service_logs();
        let counts = read.and_then(|read| read.as_ref().ok()).map(|(before, now)| (*before, now));
        add_lab_evidence(context, lab.lab(), &logs, counts);
        logs
    }

    /// Adds to `record` what the servers have counted, and which counts are unknown. If they did
    /// not respond, it prints that and adds nothing.
    pub(super) fn add_to(
        &self,
        read: Option<CountsRead<'_>>,
        plan: &Plan,
        record: &mut RunRecord,
        console: &mut dyn RunConsole,
    ) {
        let Some((lab, read)) = self.lab.zip(read) else { return };
        match read {
            Ok((before, now)) => {
                record.servers = now.since(before, (lab.lab(), plan), record, self.probe);
                record.notes.extend(now.uncountable_since(before));
                record.notes.extend(now.full_since(before));
            }
            Err(error) => {
                console.warn(&format!(
                    "{}; the servers' counts are not reported\nhint: {}",
                    error.message, error.hint
                ));
            }
        }
    }
}
