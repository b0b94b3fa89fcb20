//! [`UiArgs`]: arguments of `wavetank ui`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::serve_args::address;
use super::value_parsers::default_runs_dir;

/// `wavetank ui`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank ui
             wavetank ui --dir examples --listen 127.0.0.1:8080
The printed address works once. Enter prints a new one; Ctrl-C ends the page, and runs go on.
From another computer: ssh -L 8080:127.0.0.1:8080 HOST, then open the address there.")]
pub(crate) struct UiArgs {
    /// Address and port of the page, on loopback; port 0 is any free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0", value_parser = address)]
    pub(crate) listen: SocketAddr,
    /// Folder with experiment files that the page can start
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Directory of stored runs [default: `WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(crate) runs_dir: PathBuf,
    /// Process of the run to show first. The page ends after that run when no browser shows it
    #[arg(long, hide = true)]
    pub(crate) of_process: Option<u32>,
}
