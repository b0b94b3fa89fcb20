//! [`RunsDoc`]: the `wavetank.runs/1` object, what `wavetank runs --format json` prints.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Blame, Number, RunRecord, Status};

/// Version of the format; fields are only ever added to it.
pub const RUNS_SCHEMA: &str = "wavetank.runs/1";

/// The contents of a runs directory. The text of `wavetank runs` is a function of it alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunsDoc {
    /// Always [`RUNS_SCHEMA`].
    pub schema: String,
    /// The directory, as it was named.
    pub runs_dir: String,
    /// Number of runs in it, before filtering.
    pub total: u64,
    /// The selected runs, oldest first.
    pub runs: Vec<RunLine>,
    /// Other entries of the directory.
    #[serde(rename = "beside")]
    pub foreign: Vec<ForeignEntryDoc>,
}

/// The state of an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// It has a `run.json` that can be read.
    Finished,
    /// A process writes to it.
    Running,
    /// It has no `run.json`, and no process writes to it: its process was killed. Its sealed
    /// intervals can be reported.
    Unfinished,
    /// Its `run.json`, or what else it takes, cannot be read.
    #[default]
    Damaged,
    /// A later version of wavetank made it.
    Newer,
}

/// One run on one line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunLine {
    /// Its id; empty if unknown.
    pub id: String,
    /// Name of its folder, or of the file it is packed in.
    pub folder: String,
    /// Its name.
    pub name: String,
    /// Wall time of instant 0, RFC 3339 in UTC; empty if unknown.
    pub started_at: String,
    /// The state of the archive.
    pub state: RunState,
    /// What is wrong with it, in one line; absent if nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Bytes of its files.
    pub bytes: u64,
    /// A description of the load.
    pub load: String,
    /// The URL, or the names of the targets; empty of a run without `run.json`.
    pub target: String,
    /// The user's labels.
    pub tags: BTreeMap<String, String>,
    /// Length of the measured window in seconds; this and all below are absent without `run.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<Number>,
    /// The verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Status>,
    /// Which side set the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blame: Option<Blame>,
    /// Requests offered per second of the measured window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_per_s: Option<Number>,
    /// Requests done per second of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_per_s: Option<Number>,
    /// Requests that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Median response time in µs; absent also if nothing was recorded, or if dropped requests
    /// would affect it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<Number>,
    /// 99th percentile of response times in µs; absent also if nothing was recorded, or if dropped
    /// requests would affect it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<Number>,
}

/// An entry of a runs directory that is not an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForeignEntryDoc {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: ForeignEntryKind,
}

/// The kind of a file or directory that is not an archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ForeignEntryKind {
    /// The folder of a `wavetank search`.
    Search,
    /// The folder of a `wavetank net`.
    Net,
    /// A packed run.
    Pack,
    /// A run that was only partly removed.
    Removed,
    /// Anything else.
    #[default]
    Other,
}

impl RunLine {
    /// Fills in the values of `record`.
    pub fn fill_from(&mut self, record: &RunRecord) {
        self.id.clone_from(&record.id);
        self.name.clone_from(&record.name);
        self.started_at.clone_from(&record.started_at);
        record.load.text.as_str().clone_into(&mut self.load);
        self.target.clone_from(&record.target);
        self.tags.clone_from(&record.tags);
        self.duration_s = Some(record.duration_s);
        self.verdict = Some(record.verdict.status);
        self.blame = Some(record.verdict.blame);
        self.offered_per_s = Some(record.rate.offered_per_s);
        self.done_per_s = Some(record.rate.done_per_s);
        self.failed = Some(record.requests.failed);
        let spread = record.response_us.spread.as_ref();
        let known = |name: &str| spread.filter(|spread| !spread.is_unknown(name))?.percentile(name);
        self.p50_us = known("p50");
        self.p99_us = known("p99");
    }
}

impl RunsDoc {
    /// The object as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data with string and number keys always encodes")
    }
}
