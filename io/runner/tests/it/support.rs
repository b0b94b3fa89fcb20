//! A server, a console that keeps what is printed, and the inputs of a run.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use wavetank_experiment::plan_url;
use wavetank_measure::Interval;
use wavetank_plan::{RunOptions, TargetUrl};
use wavetank_record::LiveDoc;
use wavetank_runner::{Execution, Host, PreparedRun, RunConsole, check_allowed};
use wavetank_store::RunsDir;
use wavetank_target::{ServeOptions, Server};
use wavetank_units::UserError;

/// Starts a server with one thread on a free port.
pub(crate) fn server() -> Server {
    let listen = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
    wavetank_target::start(ServeOptions { listen, threads: Some(1), ..ServeOptions::default() })
        .expect("the server starts")
}

/// The URL of `path` on `server`.
pub(crate) fn url_of(server: &Server, path: &str) -> TargetUrl {
    TargetUrl::parse(&format!("http://{}{path}", server.addresses()[0])).expect("a URL")
}

/// Plans the request of `url` with `options`, as `wavetank run URL` does.
pub(crate) fn prepare(host: &Host, url: &TargetUrl, options: &RunOptions) -> Result<PreparedRun, UserError> {
    let address = format!("{}:{}", url.host, url.port).parse().expect("the URL has an address");
    let planned = plan_url(options, url, &[address], &host.facts)?;
    check_allowed(&planned, options, url, "wavetank run")?;
    PreparedRun::from_url(planned, false, true)
}

/// A run of `prepared` on `host` with its archive in `dir`.
pub(crate) fn execution<'a>(prepared: PreparedRun, host: &'a Host, dir: &Path) -> Execution<'a> {
    Execution {
        prepared,
        host,
        command: "wavetank run",
        runs_dir: Some(RunsDir::new(dir)),
        repeatable: true,
        fleet: None,
        rehearsal: None,
        search: None,
        known_latency: None,
        samples_host: false,
        metrics: None,
    }
}

/// Keeps what is printed, and calls `on_progress` at each sealed interval.
pub(crate) struct KeptConsole<'a> {
    pub(crate) lines: Vec<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) intervals: u32,
    on_progress: &'a dyn Fn(u32),
}

impl<'a> KeptConsole<'a> {
    pub(crate) fn new(on_progress: &'a dyn Fn(u32)) -> Self {
        Self { lines: Vec::new(), warnings: Vec::new(), intervals: 0, on_progress }
    }
}

impl RunConsole for KeptConsole<'_> {
    fn info(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn warn(&mut self, line: &str) {
        self.warnings.push(line.to_owned());
    }

    fn warn_of(&mut self, error: &UserError) {
        self.warnings.push(error.to_string());
    }

    fn progress(&mut self, _: &Interval, _: Option<(u64, u64)>) {
        self.intervals += 1;
        (self.on_progress)(self.intervals);
    }

    fn stage(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn clear_progress(&mut self) {}

    fn open_view(&mut self, _: &'static str) {}

    fn has_view(&self) -> bool {
        false
    }

    fn show(&mut self, _: &LiveDoc) {}
}
