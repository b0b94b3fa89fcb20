//! Arguments of `demo`.

use std::path::PathBuf;

/// `wavetank demo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DemoArgs {
    /// Directory of stored runs.
    pub(crate) runs_dir: PathBuf,
}
