//! [`UiServer`]: the server in its own thread.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use axum::{Router, middleware};
use tokio::sync::{Notify, Semaphore};
use wavetank_units::{Code, UserError};

use crate::access::Access;
use crate::context::{Context, STREAMS_MAX, Shared, UiConfig};
use crate::program::Program;
use crate::{actions, assets, experiments, guard, history, live, reports, runs};

/// Longest body of a request, in bytes.
const BODY_BYTES_MAX: usize = 64 << 10;
/// Threads that wait for files and sockets.
const BLOCKING_THREADS_MAX: usize = 16;
/// Requests that still run when the server ends have this long.
const ENDING_MAX: Duration = Duration::from_millis(200);

/// The page's server. It ends when it is dropped; runs that it started go on.
#[derive(Debug)]
pub struct UiServer {
    address: SocketAddr,
    shared: Shared,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl UiServer {
    /// Starts a server.
    ///
    /// # Errors
    /// If the address is not on loopback or cannot be listened on, or if the folder of experiments
    /// does not exist.
    pub fn start(mut config: UiConfig) -> Result<Self, UserError> {
        let listen = config.listen;
        if !listen.ip().is_loopback() {
            let message = format!("cannot listen on {listen}: the page is for this host only");
            let hint = "listen on 127.0.0.1, and forward the port: ssh -L 8080:127.0.0.1:8080 HOST";
            return Err(UserError::usage(Code::UiNotLoopback, message, hint));
        }
        config.experiments = experiments::folder(&config.experiments)?;
        let failed = |what: &str, error: std::io::Error| {
            let hint = "choose another port: --listen 127.0.0.1:0 takes any free one";
            UserError::refused(Code::CannotStartPage, format!("cannot {what}: {error}"), hint)
        };
        let listening = |error| failed(&format!("listen on {listen}"), error);
        let listener = TcpListener::bind(listen).map_err(listening)?;
        listener.set_nonblocking(true).map_err(listening)?;
        let address = listener.local_addr().map_err(listening)?;
        let shared = Arc::new(Context {
            access: Access::default(),
            cookie: format!("wavetank_{}", address.port()),
            program: Program::new(config.program.clone(), config.runs_dir.clone()),
            config,
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
            requests: AtomicU64::new(0),
        });
        let stop = Arc::new(Notify::new());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS_MAX)
            .build()
            .map_err(|error| failed("start the server", error))?;
        let (app, until) = (router(&shared), Arc::clone(&stop));
        let run = move || {
            runtime.block_on(async {
                // It is a socket that listens, so the runtime takes it.
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    _ = axum::serve(listener, app) => {}
                    () = until.notified() => {}
                }
            });
            runtime.shutdown_timeout(ENDING_MAX);
        };
        let thread = std::thread::Builder::new().name("ui".to_owned()).spawn(run);
        let thread = Some(thread.map_err(|error| failed("start a thread", error))?);
        Ok(Self { address, shared, stop, thread })
    }

    /// The address it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns an address that opens one session.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn new_url(&self) -> Result<String, UserError> {
        let token = self.shared.access.new_token().map_err(|error| {
            let message = format!("cannot make a token: {error}");
            UserError::refused(Code::CannotStartPage, message, "check that this system has /dev/urandom")
        })?;
        Ok(format!("http://{}/?token={token}", self.address))
    }

    /// Requests so far. If the number does not change, no browser shows the page.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// Browsers that watch a run now.
    pub fn watchers(&self) -> usize {
        STREAMS_MAX - self.shared.streams.available_permits()
    }
}

impl Drop for UiServer {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
    }
}

fn router(shared: &Shared) -> Router {
    let pages = Router::new()
        .route("/", get(assets::page))
        .route("/assets/{name}", get(assets::asset))
        .route("/app.css", get(assets::style))
        .route("/runs/{run}/report", get(reports::report))
        .route("/runs/{run}/download/{format}", get(reports::download))
        .route("/compare", get(reports::comparison));
    let reads = Router::new()
        .route("/api/start-page", get(runs::start_page))
        .route("/api/runs", get(runs::list))
        .route("/api/runs/{run}", get(runs::one))
        .route("/api/runs/{run}/live", get(live::live))
        .route("/api/runs/{run}/history", get(history::history))
        .route("/api/host", get(runs::host))
        .route("/api/experiments", get(experiments::list));
    let changes = Router::new()
        .route("/api/runs/{run}/stop", post(actions::stop))
        .route("/api/runs/{run}/set", post(actions::set))
        .route("/api/runs/{run}/event", post(actions::event))
        .route("/api/check", post(experiments::check))
        .route("/api/start", post(experiments::start));
    pages
        .merge(reads)
        .merge(changes)
        .fallback(assets::not_found)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(shared), guard::guard))
        .with_state(Arc::clone(shared))
}
