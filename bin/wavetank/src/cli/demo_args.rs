//! [`DemoArgs`]: arguments of `wavetank demo`.

use std::path::PathBuf;

use clap::Args;

use super::value_parsers::default_runs_dir;

/// `wavetank demo`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct DemoArgs {
    /// Directory of stored runs [default: `WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(crate) runs_dir: PathBuf,
}
