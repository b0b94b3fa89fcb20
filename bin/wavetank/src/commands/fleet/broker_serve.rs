//! `wavetank fleet broker serve`: a broker on this host, and a reverse tunnel to each load host.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use rustix::event::{Timespec, poll};
use serde_json::json;
use wavetank_driver::{Clock, Signals};
use wavetank_inventory::HostRole;
use wavetank_runner::host_error;
use wavetank_units::{Code, ExitCode, Nanos, UserError, sanitize};

use super::broker_folder::{BrokerFolder, CONFIG};
use super::kept_process::KeptProcess;
use super::selection::Selection;
use crate::cli::{FleetBrokerServeArgs, HostArgs, SshArgs};
use crate::commands::agent::AgentLock;

/// File that is locked by the process that serves.
pub(super) const LOCK: &str = "broker.lock";
/// File with what is up, for `fleet up`.
pub(super) const STATE: &str = "state.json";
/// How long a turn waits for output at most. A signal is noticed after it.
const TURN: Nanos = Nanos::from_millis(200);
/// Runs its arguments, and ends them when standard input ends, so that they do not outlive this
/// process.
const LIFELINE: &str = "exec 3<&0\n\
    \"$@\" </dev/null 3<&- &\n\
    p=$!\n\
    (cat <&3; kill $p) >/dev/null 2>&1 &\n\
    w=$!\n\
    wait $p\n\
    r=$?\n\
    kill $w 2>/dev/null\n\
    exit $r";

/// Serves until SIGTERM or SIGINT.
pub(super) fn serve(args: &FleetBrokerServeArgs) -> Result<u8, UserError> {
    let signals = Signals::listen().map_err(|errno| host_error("handle signals", errno))?;
    let hosts = HostArgs { fleet: Some(args.fleet.clone()), ..HostArgs::default() };
    let selection = Selection::read(&hosts)?;
    let fleet = selection.fleet().expect("a fleet file was named");
    let broker = BrokerFolder::read(fleet, args.dir.as_deref(), &args.fleet)?;
    let Some((broker, ports)) = broker.as_ref().and_then(|broker| Some((broker, broker.ports()?))) else {
        let message = format!("{} names no broker that this program starts", args.fleet.display());
        return Err(UserError::usage(Code::BadBroker, message, "write link: nats, without an address"));
    };
    if args.detach {
        // A process that leads its session already is detached.
        let _ = rustix::process::setsid();
    }
    let lock = AgentLock::take(&broker.dir, LOCK).map_err(|error| not_served(&broker.dir, &error))?;
    let Some(_lock) = lock else {
        return Err(not_served(&broker.dir, &"another process serves this broker"));
    };
    // A server that is not installed is not waited for.
    let version = Command::new("nats-server").arg("--version").output();
    version.map_err(|error| not_served(&broker.dir, &format!("cannot start nats-server: {error}")))?;
    let ssh = SshArgs { ssh_config: args.ssh_config.clone(), ..SshArgs::default() };
    let (options, _) = selection.ssh_options(&ssh);
    let own = ports.own;
    let dir = broker.dir.clone();
    let mut server = KeptProcess::new("nats-server", true, Box::new(move || server_command(&dir)));
    let mut tunnels = Vec::new();
    for host in selection.hosts.into_iter().filter(|host| host.role == HostRole::Load) {
        let Some((_, port)) = ports.agents.iter().find(|(name, _)| *name == host.name) else { continue };
        let (options, port, name) = (options.clone(), *port, host.name.clone());
        let command = move || options.reverse_tunnel(&host, (port, own));
        tunnels.push(KeptProcess::new(&name, false, Box::new(command)));
    }
    let (clock, mut written) = (Clock::starting_now(), String::new());
    while signals.received() == 0 {
        let now = clock.now();
        server.turn(now);
        if !server.is_ready() && std::net::TcpStream::connect(("127.0.0.1", own)).is_ok() {
            server.note_ready();
        }
        for tunnel in &mut tunnels {
            tunnel.turn(now);
        }
        let state = state(&server, &tunnels);
        if written != state {
            log(&state);
            write_state(&broker.dir, &state).map_err(|error| not_served(&broker.dir, &error))?;
            written = state;
        }
        wait(&server, &tunnels);
    }
    // All processes end with their standard input.
    drop((server, tunnels));
    let _ = std::fs::remove_file(broker.dir.join(STATE));
    Ok(ExitCode::Pass as u8)
}

/// Returns the process of the server, with its log and its number in the broker's folder.
fn server_command(dir: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", LIFELINE, "wavetank", "nats-server"]);
    command.arg("-c").arg(dir.join(CONFIG));
    command.arg("-l").arg(dir.join("nats-server.log"));
    command.arg("-P").arg(dir.join("nats-server.pid"));
    command
}

/// Waits for output of a process, or for the end of a turn.
fn wait(server: &KeptProcess, tunnels: &[KeptProcess]) {
    let mut pipes: Vec<_> = tunnels.iter().chain([server]).flat_map(KeptProcess::pipes).collect();
    let limit = Timespec { tv_sec: 0, tv_nsec: TURN.0 };
    // A signal ends it early.
    let _ = poll(&mut pipes, Some(&limit));
}

/// Returns what is up, as JSON.
fn state(server: &KeptProcess, tunnels: &[KeptProcess]) -> String {
    let tunnels: serde_json::Map<_, _> =
        tunnels.iter().map(|tunnel| (tunnel.name.clone(), tunnel.state().into())).collect();
    format!("{}\n", json!({"server": server.state(), "tunnels": tunnels}))
}

fn write_state(dir: &Path, state: &str) -> std::io::Result<()> {
    let partial = dir.join(format!("{STATE}.partial"));
    std::fs::write(&partial, state)?;
    std::fs::rename(partial, dir.join(STATE))
}

fn log(state: &str) {
    let mut line = String::new();
    let _ = write!(line, "broker: {}", sanitize(state.trim()));
    // Without standard error it goes on.
    let _ = writeln!(std::io::stderr(), "{line}");
}

pub(super) fn not_served(dir: &Path, reason: &dyn std::fmt::Display) -> UserError {
    UserError::refused(
        Code::BrokerNotServed,
        format!("cannot serve the broker of {}: {reason}", dir.display()),
        format!("look into {}/broker.log", dir.display()),
    )
}
