//! Warns of missing parts of an archive.

use std::io::{self, Write};

use wavetank_record::RunRecord;
use wavetank_store::ArchiveGaps;

/// Prints on stderr what the archive of the run lacks. If stderr is closed, the warning is dropped.
pub(super) fn warn_of_gaps(gaps: &ArchiveGaps, record: &RunRecord) {
    for sentence in gaps.sentences(Some(record)) {
        let _ = writeln!(io::stderr(), "warning: {sentence}");
    }
}
