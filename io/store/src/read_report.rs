//! [`ReadReport`]: result of reading the intervals of an archive, and what they are read as.

use wavetank_record::IntervalLine;
use wavetank_units::{Sentence, phrase, sentence};

/// An item read from the sealed intervals. It is borrowed, since the next one reuses its memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArchiveItem<'a> {
    /// The next interval of an agent.
    Next(&'a IntervalLine),
    /// A checkpoint before which intervals of this agent were lost. Discard this agent's earlier
    /// intervals and continue from this sum.
    Instead(&'a IntervalLine),
}

/// Result of reading the intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// Intervals passed on.
    pub intervals: u64,
    /// Sequence numbers that never appeared and that no checkpoint covers.
    pub missing: u64,
    /// Complete lines that could not be read.
    pub damaged: u64,
    /// Of `damaged`, those that a later version wrote.
    pub newer: u64,
    /// Files that ended in the middle of a line. The process was stopped there, and the line is
    /// discarded.
    pub torn: u64,
    /// Of `missing`, those of each agent, if there are several.
    pub gaps: Vec<AgentGap>,
}

/// Intervals of one agent that are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentGap {
    /// Name of the agent.
    pub agent: String,
    /// How many.
    pub missing: u64,
}

impl ReadReport {
    /// Describes lines that cannot be read, and why if a later version wrote them.
    pub fn unread_text(&self) -> Sentence {
        let unread = match self.damaged {
            1 => phrase!("a line of the archive cannot be read"),
            damaged => sentence!("{damaged} lines of the archive cannot be read"),
        };
        match self.newer {
            0 => unread,
            newer if newer == self.damaged => sentence!("{unread}: written by a later version of wavetank"),
            newer => sentence!("{unread}, {newer} of them written by a later version of wavetank"),
        }
    }

    /// Adds the result of reading one file. `intervals` are not added up, since those of several
    /// agents become one.
    pub(crate) fn add_file(&mut self, file: &Self) {
        self.missing = self.missing.saturating_add(file.missing);
        self.damaged += file.damaged;
        self.newer += file.newer;
        self.torn += file.torn;
    }
}
