//! `bench net`: CPU time of both ends per megabit of TCP, compared with iperf3.

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::Value;

use crate::child::pause;
use crate::goal::Goal;
use crate::paired_rounds::{PairedRounds, Turn};
use crate::process;
use crate::programs;
use crate::session::Session;

/// Ports of the two servers, in a network namespace of the bench.
const PORTS: [u16; 2] = [7077, 5201];
/// The token of `wavetank net serve`, which only this bench's namespace reaches.
const TOKEN: (&str, &str) = ("WAVETANK_NET_TOKEN", "the-token-of-the-bench");
/// Attempts to reach a server that starts, 50 ms apart.
const ATTEMPTS: u32 = 100;

/// A server of measurements. Dropping it ends the process.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    fn start(command: &mut Command, port: u16) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Self(command.spawn().context("cannot start a server")?);
        for _ in 0..ATTEMPTS {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(server);
            }
            pause(50)?;
        }
        bail!("nothing listens on port {port}")
    }
}

/// Compares one stream in each direction, and both directions simultaneously.
pub(crate) fn run(session: &mut Session) -> Result<()> {
    if !session.has("iperf3", "net") {
        return Ok(());
    }
    let iperf3 = programs::find("iperf3").context("iperf3 is gone")?;
    let mut serve = Command::new(&session.wavetank);
    serve.args(["net", "serve", "--listen", &format!("127.0.0.1:{}", PORTS[0])]).env(TOKEN.0, TOKEN.1);
    let servers = [
        Server::start(&mut serve, PORTS[0])?,
        Server::start(Command::new(&iperf3).args(["-s", "-p", &PORTS[1].to_string()]), PORTS[1])?,
    ];
    let contest = PairedRounds {
        number: "of both ends of one TCP stream".to_owned(),
        names: vec!["net", "iperf3"],
        goal: Goal::Cost(1.0),
        unit: "megabit",
    };
    contest.run(session, |session, place| {
        let pids = [servers[place].0.id()];
        let (own, theirs) = (children_us()?, process::cpu_s(&pids));
        let bytes = if place == 0 { ours(session)? } else { peers(session, &iperf3)? };
        let cpu_us = children_us()? - own + (process::cpu_s(&pids) - theirs) * 1e6;
        Ok(Turn { done: bytes * 8 / 1_000_000, cpu_us, cycles: None, peak_rss_bytes: 0, void: None })
    })?;
    Ok(())
}

/// CPU time of this process's children that were waited for. Servers are not among them.
fn children_us() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("getrusage")?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64)
}

/// Runs `wavetank net` and returns the bytes that both ends received.
fn ours(session: &Session) -> Result<u64> {
    let duration = format!("{}s", session.size.seconds());
    let mut command = Command::new(&session.wavetank);
    command.args(["net", "127.0.0.1", "--tests", "tcp", "--streams", "1", "--duration", &duration]);
    command.args(["--format", "json", "--no-archive", "--quiet"]).env(TOKEN.0, TOKEN.1);
    let doc = output(&mut command)?;
    let rows = doc["pairs"][0]["tcp"].as_array().context("no throughput in the result")?;
    Ok(rows.iter().filter_map(|row| row["bytes"].as_u64()).sum())
}

/// Runs iperf3 forward, reverse and in both directions, and returns the bytes received.
fn peers(session: &Session, iperf3: &std::path::Path) -> Result<u64> {
    let mut bytes = 0;
    for direction in [None, Some("-R"), Some("--bidir")] {
        let mut command = Command::new(iperf3);
        command.args(["-c", "127.0.0.1", "-p", &PORTS[1].to_string(), "-J"]);
        command.args(["-t", &session.size.seconds().to_string()]).args(direction);
        let doc = output(&mut command)?;
        for sum in ["sum_received", "sum_received_bidir_reverse"] {
            bytes += doc["end"][sum]["bytes"].as_u64().unwrap_or_default();
        }
    }
    Ok(bytes)
}

fn output(command: &mut Command) -> Result<Value> {
    let output = command.stdin(Stdio::null()).output().context("cannot start a client")?;
    if !output.status.success() {
        bail!("{command:?} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("no JSON")
}
