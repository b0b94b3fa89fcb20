//! [`Context`]: what all requests share, and the runs that they name.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Semaphore;
use wavetank_control::{RunFolder, client};
use wavetank_record::{ForeignEntryKind, LiveDoc};
use wavetank_store::{RunEntry, RunsDir};

use crate::access::Access;
use crate::problem::Problem;
use crate::program::Program;

/// Browsers that watch runs at a time. A running run serves as many.
pub(crate) const STREAMS_MAX: usize = 32;
/// What a server shows.
#[derive(Clone, Debug)]
pub struct UiConfig {
    /// Where it listens, on loopback; port 0 is any free one.
    pub listen: SocketAddr,
    /// The runs directory.
    pub runs_dir: PathBuf,
    /// The sockets of running runs.
    pub run_folder: RunFolder,
    /// The folder with experiment files that can be started.
    pub experiments: PathBuf,
    /// The program, for loads, checks and reports.
    pub program: PathBuf,
    /// Process of the run that the page shows first; `None`: the list of runs.
    pub process: Option<u32>,
}

/// What all requests share.
pub(crate) type Shared = Arc<Context>;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) access: Access,
    /// Name of the session cookie: cookies do not distinguish ports.
    pub(crate) cookie: String,
    pub(crate) config: UiConfig,
    pub(crate) program: Program,
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) requests: AtomicU64,
}

impl Context {
    pub(crate) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn runs(&self) -> RunsDir {
        RunsDir::new(&self.config.runs_dir)
    }

    /// The running runs of this user.
    pub(crate) fn running(&self) -> Result<Vec<LiveDoc>, Problem> {
        client::running(&self.config.run_folder).map_err(|error| {
            let folder = self.config.run_folder.path().display();
            Problem::internal(format!("cannot read `{folder}`: {error}"), "check its owner and permissions")
        })
    }

    /// The stored run with this folder's name or id.
    pub(crate) fn entry(&self, run: &str) -> Result<RunEntry, Problem> {
        let mut runs = self.runs().list()?.runs;
        let at = runs.iter().position(|entry| entry.folder == run);
        // Of two copies of one run, the newer one.
        let at = at.or_else(|| runs.iter().rposition(|entry| !run.is_empty() && entry.id == run));
        at.map(|at| runs.swap_remove(at)).ok_or_else(|| Problem::no_run(run))
    }

    /// The folder of the stored search with this folder's name or id.
    pub(crate) fn search(&self, named: &str) -> Result<Option<PathBuf>, Problem> {
        let searches = self.runs().list()?.foreign.into_iter();
        let searches = searches.filter(|entry| entry.kind == ForeignEntryKind::Search);
        let ending = format!("-{named}");
        let found = searches.map(|entry| entry.name).find(|name| name == named || name.ends_with(&ending));
        Ok(found.filter(|_| !named.is_empty()).map(|name| self.runs().path().join(name)))
    }

    /// The folder of the stored run or search with this name or id, as an absolute path, so that no
    /// option can be read in its place.
    pub(crate) fn folder(&self, run: &str) -> Result<PathBuf, Problem> {
        let path = match self.search(run)? {
            Some(search) => search,
            None => self.entry(run)?.path,
        };
        std::path::absolute(&path).map_err(|error| {
            Problem::internal(
                format!("cannot find `{}`: {error}", path.display()),
                "check the runs directory",
            )
        })
    }
}

/// Runs this in a thread that may wait for files and sockets.
pub(crate) async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let ended = |_| Problem::internal("the request ended early", "try again");
    tokio::task::spawn_blocking(work).await.map_err(ended)?
}
