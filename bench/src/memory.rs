//! `bench memory`: Wavetank's memory per idle connection, as the growth between two numbers of
//! connections.

use std::net::SocketAddr;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::child;
use crate::command_text::shown;
use crate::cpus;
use crate::engine::Engine;
use crate::load_generator::{CIPHER, GROUP};
use crate::namespace::{self, Namespace};
use crate::process;
use crate::server::Server;
use crate::session::Session;
use crate::stats::median;
use crate::stats::threads_suffix;
use crate::tls_target::{TlsTarget, make_certificate};

/// Most bytes of user memory per idle plain connection, and per idle WebSocket.
const BYTES_MAX: f64 = 300.0;
const WEBSOCKET_BYTES_MAX: f64 = 350.0;
/// Milliseconds between two samples.
const LOOK_MILLIS: i64 = 50;
/// Longest duration of a run, in samples.
const LOOKS_MAX: usize = 1_000;
/// Port of the target, in the run's own network namespace. TLS uses the next port.
const PORT: u16 = 8_080;

/// `cargo xtask bench memory`.
#[derive(Args)]
pub(crate) struct MemoryArguments {
    /// Our driver, also used by the target `wavetank serve`.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// The smaller number of connections [default: 1,000; 100 in a smoke run]
    #[arg(long)]
    few: Option<usize>,
    /// The larger one [default: 100,000; 5,000 with TLS; 1,000 in a smoke run]
    #[arg(long)]
    many: Option<usize>,
    /// Use TLS connections to nginx instead of plain ones. The number is printed, not judged.
    #[arg(long)]
    tls: bool,
    /// Use WebSockets, in place of connections that requests open.
    #[arg(long, conflicts_with = "tls")]
    websocket: bool,
}

impl MemoryArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine, tls: bool, websocket: bool) -> Self {
        Self { engine, few: None, many: None, tls, websocket }
    }

    /// Returns the name of such a connection, and the most bytes that one may have.
    fn kind(&self) -> (&'static str, Option<f64>) {
        match (self.tls, self.websocket) {
            (true, _) => ("TLS connection", None),
            (false, true) => ("WebSocket", Some(WEBSOCKET_BYTES_MAX)),
            (false, false) => ("plain connection", Some(BYTES_MAX)),
        }
    }

    fn numbers(&self, session: &Session) -> (usize, usize) {
        let most = if self.tls { 5_000 } else { 100_000 };
        let few = self.few.unwrap_or(session.size.choose(1_000, 100));
        (few, self.many.unwrap_or(session.size.choose(most, 1_000)))
    }
}

/// Measures at both numbers, once per round.
pub(crate) fn run(session: &mut Session, arguments: &MemoryArguments) -> Result<()> {
    if !session.has_namespaces("memory") || !arguments.engine.usable(session, "memory")? {
        return Ok(());
    }
    if arguments.tls && !(session.has("nginx", "memory --tls") && session.has("openssl", "memory --tls")) {
        return Ok(());
    }
    let (few, many) = arguments.numbers(session);
    if few >= many {
        bail!("--few must be less than --many");
    }
    // Both numbers use the same threads, so that the memory of the threads cancels out.
    let threads = arguments.engine.threads_for(many);
    println!("\nload       {}", shown(&words(session, arguments, many, threads)));
    println!("round    MB at {few:>6}  MB at {many:>6}   bytes per connection");
    let mut growths = Vec::new();
    // Memory varies less than time, so two rounds are enough.
    for round in 0..session.size.rounds().min(2) {
        let at = |connections| {
            let words = words(session, arguments, connections, threads);
            namespace::inside(|namespace| resident(session, namespace, arguments, connections, &words))
        };
        let (low, high) = (at(few)?, at(many)?);
        let growth = (high - low) / (many - few) as f64;
        println!("{:<7}  {:>12.2}  {:>12.2}  {growth:>21.0}", round + 1, low / 1e6, high / 1e6);
        growths.push(growth);
    }
    let growth = median(growths).context("no round")?;
    let (kind, bytes_max) = arguments.kind();
    session.score(
        format!(
            "user memory per idle {kind}, {few} to {many}, {}{}",
            arguments.engine.name(),
            threads_suffix(threads)
        ),
        bytes_max.map_or_else(|| "none".to_owned(), |most| format!("≤ {most:.0} B")),
        format!("{growth:.0} B"),
        bytes_max.map(|most| growth <= most),
    );
    Ok(())
}

/// Returns the command: a pool of connections opened before an almost empty load.
fn words(session: &Session, arguments: &MemoryArguments, connections: usize, threads: usize) -> Vec<String> {
    let (url, rate) = if arguments.tls {
        (format!("https://127.0.0.1:{}/", PORT + 1), "1k/s")
    } else if arguments.websocket {
        (format!("ws://127.0.0.1:{PORT}/ws/echo"), "20k/s")
    } else {
        (format!("http://127.0.0.1:{PORT}/"), "20k/s")
    };
    let tls = format!(" --insecure --tls 1.3 --tls-groups {GROUP} --tls-ciphers {CIPHER}");
    let line = format!(
        "{} run {url} -c {connections} -r 1/s -d 2s --open-rate {rate} --threads {threads} --engine {} \
         --source 127.1.0.0/24 --no-archive --quiet --close rst{}",
        session.wavetank.display(),
        arguments.engine.name(),
        if arguments.tls { tls.as_str() } else { "" }
    );
    line.split(' ').map(str::to_owned).collect()
}

/// Returns the anonymous memory of a process while all its connections are open and idle, in bytes.
fn resident(
    session: &Session,
    namespace: &Namespace,
    arguments: &MemoryArguments,
    connections: usize,
    words: &[String],
) -> Result<f64> {
    let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let _server = if arguments.tls {
        let (certificate, key) = make_certificate(session.folder.path())?;
        let tls = TlsTarget { address: at(PORT + 1), certificate, key, tickets: false };
        Server::nginx_at(session, at(PORT), Some(tls))?
    } else {
        Server::wavetank_at(session, arguments.engine, at(PORT), Some(connections + 1_000))?
    };
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut program = cpus::spawn_on(session.cpus.generator, &mut command)?;
    let mut looks = Vec::new();
    for _ in 0..LOOKS_MAX {
        if child::ends_within(&program, LOOK_MILLIS)? {
            break;
        }
        // Both ends of each connection are in this namespace.
        if namespace.sockets()? >= 2 * connections as u64
            && let Some(bytes) = process::anonymous_bytes(program.id())
        {
            looks.push(bytes as f64);
        }
    }
    if !child::ends_within(&program, 0)? {
        program.kill().context("kill")?;
    }
    let output = program.wait_with_output().context("wait")?;
    let said = String::from_utf8_lossy(&output.stderr);
    median(looks)
        .with_context(|| format!("{connections} connections were never open simultaneously: {}", said.trim()))
}
