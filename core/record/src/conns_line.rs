//! [`ConnsLine`]: the counts of connections in a line of an interval.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wavetank_measure::ConnCounts;

use crate::DecodeError;
use crate::series_line::{count_by_class, count_by_name};

/// Counts of connections as stored (`docs/formats/archive.md`). Later additions are absent if zero.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ConnsLine {
    offered: u64,
    opened: u64,
    failed: u64,
    closed: u64,
    lost: u64,
    reopened: u64,
    opening: u64,
    open: u64,
    peak: u64,
    #[serde(skip_serializing_if = "is_zero")]
    late: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    failed_by: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    lost_by: BTreeMap<String, u64>,
}

impl ConnsLine {
    /// Takes the counts of an interval.
    pub(crate) fn new(conns: &ConnCounts) -> Self {
        let ConnCounts {
            offered,
            opened,
            failed,
            failed_by,
            closed,
            lost,
            lost_by,
            reopened,
            late,
            opening,
            open,
            peak,
        } = *conns;
        let (failed_by, lost_by) = (count_by_name(&failed_by), count_by_name(&lost_by));
        Self {
            offered,
            opened,
            failed,
            closed,
            lost,
            reopened,
            opening,
            open,
            peak,
            late,
            failed_by,
            lost_by,
        }
    }

    /// Returns the counts.
    ///
    /// # Errors
    /// An unknown error class.
    pub(crate) fn decode(self) -> Result<ConnCounts, DecodeError> {
        let Self { offered, opened, failed, closed, lost, reopened, opening, open, peak, late, .. } = self;
        let (failed_by, lost_by) = (count_by_class(&self.failed_by)?, count_by_class(&self.lost_by)?);
        Ok(ConnCounts {
            offered,
            opened,
            failed,
            failed_by,
            closed,
            lost,
            lost_by,
            reopened,
            late,
            opening,
            open,
            peak,
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it by reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
