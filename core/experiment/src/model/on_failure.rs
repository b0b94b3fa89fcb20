//! [`OnFailure`]: what a failed request means for its session.

/// The reaction to a failed request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The session continues.
    #[default]
    Continue,
    /// The session ends, failed.
    EndSession,
    /// The run ends, failed.
    EndRun,
}
