//! [`CodeGroup`]: where users meet a code.

/// Where users meet a code, in the order in which they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeGroup {
    /// Exit codes and verdicts.
    Exits,
    /// Reasons of a verdict that no finding and no threshold gives.
    Reasons,
    /// Findings, including doubts about the generator.
    Findings,
    /// How requests fail.
    Classes,
    /// Why requests were never sent.
    Drops,
    /// Terms of the report.
    Words,
    /// Events of a run, in `events.jsonl`.
    Events,
    /// Errors of the command line and of its values.
    Typed,
    /// Errors about this host or the target.
    Refused,
    /// Errors about stored runs and output files.
    Stored,
    /// Experiment and topology files with invalid content.
    Written,
    /// Experiment files with valid syntax but inconsistent content.
    Meant,
    /// Rows of data and values extracted from responses.
    Data,
}

impl CodeGroup {
    /// All of them, in order.
    pub const ALL: [Self; 13] = [
        Self::Exits,
        Self::Reasons,
        Self::Findings,
        Self::Classes,
        Self::Drops,
        Self::Words,
        Self::Events,
        Self::Typed,
        Self::Refused,
        Self::Stored,
        Self::Written,
        Self::Meant,
        Self::Data,
    ];

    /// The name used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exits => "exit",
            Self::Reasons => "reason",
            Self::Findings => "finding",
            Self::Classes => "error_class",
            Self::Drops => "drop_reason",
            Self::Words => "word",
            Self::Events => "event",
            Self::Typed => "command",
            Self::Refused => "host",
            Self::Stored => "stored",
            Self::Written => "file",
            Self::Meant => "experiment",
            Self::Data => "data",
        }
    }

    /// The heading of the group.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Exits => "Exit codes and verdicts",
            Self::Reasons => "Reasons for a verdict",
            Self::Findings => "Findings",
            Self::Classes => "How requests fail",
            Self::Drops => "Why requests were never sent",
            Self::Words => "Terms of the report",
            Self::Events => "Events of a run",
            Self::Typed => "Errors: the command line and its values",
            Self::Refused => "Errors: this host and the allowed targets",
            Self::Stored => "Errors: stored runs and output files",
            Self::Written => "Experiment and topology files: invalid content",
            Self::Meant => "Experiment files: inconsistent content",
            Self::Data => "Experiment files: data rows and extraction",
        }
    }

    /// The name of a single entry of the group.
    pub const fn one(self) -> &'static str {
        match self {
            Self::Exits => "an exit code",
            Self::Reasons => "a reason for a verdict",
            Self::Findings => "a finding",
            Self::Classes => "an error class of failed requests",
            Self::Drops => "a reason why requests were never sent",
            Self::Words => "a term of the report",
            Self::Events => "an event of a run",
            Self::Typed => "an error in a command or a value",
            Self::Refused => "an error about this host or the target",
            Self::Stored => "an error about stored runs and files",
            Self::Written => "a diagnostic for an experiment or topology file",
            Self::Meant => "a diagnostic for an experiment file",
            Self::Data => "a diagnostic for data or extraction",
        }
    }

    /// Returns the page of the documentation with more about `code`, used unless its block names a
    /// better one. Codes of labs are in the groups of their kind, and have pages of their own.
    pub(super) fn see_also(self, code: &str) -> &'static str {
        match self {
            Self::Written if code.starts_with("lab_") => "docs/lab-file.md",
            _ if code.starts_with("lab_") => "docs/lab.md",
            Self::Stored => "docs/runs.md",
            Self::Written | Self::Meant | Self::Data => "docs/experiment.md",
            Self::Typed => "docs/experiments.md",
            Self::Refused => "docs/million.md",
            Self::Exits
            | Self::Reasons
            | Self::Findings
            | Self::Classes
            | Self::Drops
            | Self::Words
            | Self::Events => "docs/report.md",
        }
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Exits => include_str!("words/exits.txt"),
            Self::Reasons => include_str!("words/reasons.txt"),
            Self::Findings => include_str!("words/findings.txt"),
            Self::Classes => include_str!("words/classes.txt"),
            Self::Drops => include_str!("words/drops.txt"),
            Self::Words => include_str!("words/words.txt"),
            Self::Events => include_str!("words/events.txt"),
            Self::Typed => include_str!("words/typed.txt"),
            Self::Refused => include_str!("words/refused.txt"),
            Self::Stored => include_str!("words/stored.txt"),
            Self::Written => include_str!("words/written.txt"),
            Self::Meant => include_str!("words/meant.txt"),
            Self::Data => include_str!("words/data.txt"),
        }
    }
}
