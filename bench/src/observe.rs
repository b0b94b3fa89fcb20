//! `bench observe`: CPU and memory of `wavetank observe` on a host with many sockets.

use std::net::SocketAddr;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::child;
use crate::cpus;
use crate::engine::Engine;
use crate::meter::Job;
use crate::namespace::{self, Namespace};
use crate::server::Server;
use crate::session::Session;

/// Interval of samples with the most CPU, as a share of a core, and how long it is measured.
const INTERVALS: [(&str, f64); 2] = [("1s", 0.005), ("100ms", 0.04)];
/// Most resident memory.
const RSS_MAX_BYTES: u64 = 20_000_000;
/// Port of the target, in the run's own network namespace.
const PORT: u16 = 8_080;
/// Milliseconds until all sockets must be open.
const PATIENCE_MILLIS: i64 = 60_000;

/// `cargo xtask bench observe`.
#[derive(Args)]
pub(crate) struct ObserveArguments {
    /// Driver of the load that holds the connections, and of its target.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Sockets, half of them at each end [default: 100,000; 2,000 in a smoke run]
    #[arg(long)]
    sockets: Option<usize>,
}

impl ObserveArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine, sockets: None }
    }
}

/// Holds the sockets, and observes them with each interval.
pub(crate) fn run(session: &mut Session, arguments: &ObserveArguments) -> Result<()> {
    if !session.has_namespaces("observe") || !arguments.engine.usable(session, "observe")? {
        return Ok(());
    }
    let sockets = arguments.sockets.unwrap_or(session.size.choose(100_000, 2_000));
    let seconds = session.size.choose(20, 2);
    for (interval, share_max) in INTERVALS {
        let (share, peak_rss_bytes) = namespace::inside(|namespace| {
            observed(session, namespace, arguments.engine, sockets, (interval, seconds))
        })?;
        session.score(
            format!("CPU of the observer of {sockets} sockets, a sample each {interval}"),
            format!("≤ {:.1} % of a core", share_max * 100.0),
            format!("{:.2} % in {seconds} s, start included", share * 100.0),
            Some(share <= share_max),
        );
        session.score(
            format!("peak memory of the observer of {sockets} sockets, a sample each {interval}"),
            format!("≤ {} MB", RSS_MAX_BYTES / 1_000_000),
            format!("{:.1} MB", peak_rss_bytes as f64 / 1e6),
            Some(peak_rss_bytes <= RSS_MAX_BYTES),
        );
    }
    Ok(())
}

/// Returns the share of a core and the peak memory of the observer while the connections are idle.
fn observed(
    session: &Session,
    namespace: &Namespace,
    engine: Engine,
    sockets: usize,
    (interval, seconds): (&str, u32),
) -> Result<(f64, u64)> {
    let connections = sockets / 2;
    let at = SocketAddr::from(([127, 0, 0, 1], PORT));
    let _server = Server::wavetank_at(session, engine, at, Some(connections + 1_000))?;
    let mut command = Command::new(&session.wavetank);
    command.args(["run", &format!("http://{at}/"), "-c", &connections.to_string(), "-r", "1/s"]);
    // Longer than the observer: it is ended by a signal.
    command.args(["-d", "300s", "--open-rate", "20k/s", "--engine", engine.name()]);
    command.args(["--threads", &engine.threads_for(connections).to_string()]);
    command.args(["--source", "127.1.0.0/24", "--no-archive", "--quiet", "--close", "rst"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut load = cpus::spawn_on(session.cpus.target, &mut command)?;
    let outcome = (|| {
        let mut waited = 0;
        while namespace.sockets()? < sockets as u64 {
            if child::ends_within(&load, 100)? || waited > PATIENCE_MILLIS {
                bail!("{connections} connections were never open simultaneously");
            }
            waited += 100;
        }
        let wavetank = session.wavetank.display();
        let words = format!("{wavetank} observe --interval {interval} --for {seconds}s");
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let used = Job { words: &words, fine: &[], seconds, cycles_of: &[] }.run(session)?;
        let lines = used.stdout.lines().filter(|line| line.contains("at_ns")).count();
        println!("observe    --interval {interval}: {lines} samples, {:.0} ms of CPU", used.cpu_us / 1e3);
        if lines < seconds as usize {
            bail!("only {lines} samples in {seconds} s");
        }
        Ok((used.cpu_us / 1e6 / f64::from(seconds), used.peak_rss_bytes))
    })();
    load.kill().context("kill")?;
    load.wait().context("the load")?;
    outcome
}
