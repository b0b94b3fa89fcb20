//! What `demo` is asked for.

use std::path::PathBuf;

/// `wavetank demo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DemoArgs {
    /// Where archives lie.
    pub(crate) runs_dir: PathBuf,
}
