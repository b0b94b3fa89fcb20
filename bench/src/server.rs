//! [`Server`]: a target that counts its requests.

use crate::programs;
use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process};
use tempfile::TempDir;

use crate::child;
use crate::counts;
use crate::cpus;
use crate::engine::Engine;
use crate::load_generator::{CIPHER, GROUP};
use crate::nginx;
use crate::process;
use crate::session::Session;
use crate::stopwatch::Stopwatch;
use crate::tls_target::TlsTarget;

/// Number of files to request if the host sets no limit.
const FILES_MAX: u64 = 65_536;

/// Longest time until a server ends. A server with a million connections has to close them all.
const END_MILLIS: i64 = 60_000;

/// A server under test. Dropping it ends the process.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    tls_address: Option<SocketAddr>,
    kind: Kind,
    /// Number by which one request for the count raises the count.
    per_question: u64,
    /// Its configuration and logs, removed with it.
    folder: TempDir,
    /// The command that started it, for the table.
    pub(crate) command: String,
}

/// What a server counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    Requests,
    /// Messages of WebSocket connections that it received.
    Messages,
}

#[derive(Clone, Copy)]
enum Kind {
    Wavetank,
    Nginx,
}

impl Server {
    /// Starts `wavetank serve` with one thread on the target's CPU.
    pub(crate) fn wavetank(session: &Session, engine: Engine) -> Result<Self> {
        Self::wavetank_at(session, engine, free_address()?, None)
    }

    /// Starts it at an address, ready for the given number of connections, with the threads that
    /// they need.
    pub(crate) fn wavetank_at(
        session: &Session,
        engine: Engine,
        address: SocketAddr,
        connections: Option<usize>,
    ) -> Result<Self> {
        let threads = connections.map_or(1, |connections| engine.threads_for(connections));
        let mut command = serve_command(session, engine, address, threads);
        if let Some(connections) = connections {
            command.args(["--connections", &connections.to_string()]);
        }
        Self::start(session, command, address, None, Kind::Wavetank, folder(session)?)
    }

    /// Starts it with TLS only.
    pub(crate) fn wavetank_tls(session: &Session, engine: Engine, tls: &TlsTarget) -> Result<Self> {
        let mut command = serve_command(session, engine, tls.address, 1);
        command.args(["--tls", "--tls-versions", "1.3", "--tls-groups", GROUP, "--tls-ciphers", CIPHER]);
        command.arg("--tls-cert").arg(&tls.certificate).arg("--tls-key").arg(&tls.key);
        if !tls.tickets {
            command.arg("--tls-no-tickets");
        }
        Self::start(session, command, tls.address, Some(tls.address), Kind::Wavetank, folder(session)?)
    }

    /// Starts it with HTTP/3 and with TLS over TCP, on one port, with a certificate of its own.
    pub(crate) fn wavetank_http3(session: &Session, engine: Engine) -> Result<Self> {
        let address = free_address()?;
        let mut command = serve_command(session, engine, address, 1);
        command.args(["--tls", "--http3", &address.port().to_string()]);
        Self::start(session, command, address, Some(address), Kind::Wavetank, folder(session)?)
    }

    /// Starts nginx with one worker on the target's CPU. It responds from memory and writes no log.
    pub(crate) fn nginx(session: &Session) -> Result<Self> {
        Self::nginx_at(session, free_address()?, None)
    }

    /// Starts nginx at an address, and with TLS at another.
    pub(crate) fn nginx_at(session: &Session, address: SocketAddr, tls: Option<TlsTarget>) -> Result<Self> {
        Self::nginx_with(session, address, tls, None)
    }

    /// Starts nginx with a second address for HTTP/2 without TLS. Returns the URL of that address,
    /// too.
    pub(crate) fn nginx_http2(session: &Session) -> Result<(Self, String)> {
        let http2 = free_address()?;
        let server = Self::nginx_with(session, free_address()?, None, Some(http2))?;
        Ok((server, format!("http://{http2}/")))
    }

    fn nginx_with(
        session: &Session,
        address: SocketAddr,
        tls: Option<TlsTarget>,
        http2: Option<SocketAddr>,
    ) -> Result<Self> {
        let nginx = programs::find("nginx").context("nginx is not installed")?;
        let folder = folder(session)?;
        let file = folder.path().join("nginx.conf");
        let files_max = getrlimit(Resource::Nofile).maximum.unwrap_or(FILES_MAX).min(FILES_MAX);
        let text = nginx::configuration(folder.path(), (address, http2), tls.as_ref(), files_max);
        std::fs::write(&file, text).context("nginx.conf")?;
        let mut command = Command::new(nginx);
        command.arg("-p").arg(folder.path()).arg("-c").arg(&file).args(["-e", "error.log"]);
        Self::start(session, command, address, tls.map(|tls| tls.address), Kind::Nginx, folder)
    }

    /// Returns its listen address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        match self.tls_address {
            Some(address) => format!("https://{address}/"),
            None => format!("http://{}/", self.address),
        }
    }

    /// Returns the requests since `earlier` (a result of [`Self::count`]), without the request for
    /// the count.
    pub(crate) fn count_since(&self, earlier: u64) -> Result<u64> {
        Ok(self.count()?.saturating_sub(earlier).saturating_sub(self.per_question))
    }

    /// Returns its own count so far.
    pub(crate) fn count(&self) -> Result<u64> {
        match self.kind {
            Kind::Wavetank => counts::truth(&self.truth()?),
            Kind::Nginx => counts::stub_status(&counts::get(self.address, "/count")?),
        }
    }

    /// Returns its count of requests or messages so far.
    pub(crate) fn count_of(&self, counted: Counted) -> Result<u64> {
        match counted {
            Counted::Requests => self.count(),
            Counted::Messages => counts::truth_messages(&self.truth()?),
        }
    }

    /// Returns the count since `earlier`, a result of [`Self::count_of`].
    pub(crate) fn count_of_since(&self, counted: Counted, earlier: u64) -> Result<u64> {
        match counted {
            Counted::Requests => self.count_since(earlier),
            Counted::Messages => Ok(self.count_of(counted)?.saturating_sub(earlier)),
        }
    }

    /// Returns the number of connections that resumed a TLS session so far.
    pub(crate) fn resumed(&self) -> Result<u64> {
        match self.kind {
            Kind::Wavetank => counts::truth_resumed(&self.truth()?),
            Kind::Nginx => {
                let log = std::fs::read_to_string(nginx::resumed_log(self.folder.path()));
                Ok(log.unwrap_or_default().lines().count() as u64)
            }
        }
    }

    /// Returns the server and the processes that it started.
    pub(crate) fn processes(&self) -> Vec<u32> {
        process::family(self.child.id())
    }

    fn truth(&self) -> Result<String> {
        match self.tls_address {
            Some(address) => counts::get_by_tls(address, "/truth"),
            None => counts::get(self.address, "/truth"),
        }
    }

    fn start(
        session: &Session,
        mut command: Command,
        address: SocketAddr,
        tls_address: Option<SocketAddr>,
        kind: Kind,
        folder: TempDir,
    ) -> Result<Self> {
        let talk = folder.path().join("target.log");
        let talk_file = File::create(&talk).context("target.log")?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(talk_file);
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
        let line = format!("{program} {}", words.join(" "));
        let child = cpus::spawn_on(session.cpus.target, &mut command)?;
        let mut server = Self { child, address, tls_address, kind, per_question: 0, folder, command: line };
        server.wait_until_it_accepts().with_context(|| {
            format!("it printed `{}`", std::fs::read_to_string(&talk).unwrap_or_default().trim())
        })?;
        let first = server.count()?;
        server.per_question = server.count()? - first;
        Ok(server)
    }

    /// Connects repeatedly until it accepts. The pause between two attempts ends early if the
    /// process ends.
    fn wait_until_it_accepts(&self) -> Result<()> {
        let watch = Stopwatch::start();
        while TcpStream::connect(self.address).is_err() {
            if child::ends_within(&self.child, 10)? || watch.elapsed() > Duration::from_secs(10) {
                bail!("`{}` does not accept on {}", self.command, self.address);
            }
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGTERM, not SIGKILL, so that nginx ends its worker.
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok()) {
            if !child::ends_within(&self.child, END_MILLIS).unwrap_or(false) {
                let _ = self.child.kill();
            }
            let _ = self.child.wait();
        }
    }
}

fn serve_command(session: &Session, engine: Engine, address: SocketAddr, threads: usize) -> Command {
    let mut command = Command::new(&session.wavetank);
    command.args(["serve", "--threads", &threads.to_string(), "--listen"]).arg(address.to_string());
    command.args(["--engine", engine.name()]);
    command
}

fn folder(session: &Session) -> Result<TempDir> {
    tempfile::tempdir_in(session.folder.path()).context("cannot create a directory for the target's files")
}

/// Returns an address with a port that was free a moment ago.
pub(crate) fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?;
    listener.local_addr().context("no free port")
}
