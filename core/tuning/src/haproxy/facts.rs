//! [`Facts`]: what rules know about a whole configuration.

use crate::LintContext;

/// What rules know about the whole configuration.
pub(super) struct Facts<'a> {
    pub(super) context: &'a LintContext,
    /// `maxconn` of the global section.
    pub(super) maxconn: Option<u64>,
    /// `fd-hard-limit`.
    pub(super) fd_hard_limit: Option<u64>,
    pub(super) has_thread_groups: bool,
    /// Whether successful sessions are not logged.
    pub(super) logs_errors_only: bool,
}
