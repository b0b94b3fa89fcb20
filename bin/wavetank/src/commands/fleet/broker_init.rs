//! `wavetank fleet broker`, and its subcommand `init`.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, absolute};

use wavetank_driver::WallClock;
use wavetank_inventory::{FleetFile, FleetLink, HostRole};
use wavetank_nats::{BrokerFiles, BrokerSetup};
use wavetank_record::WallTime;
use wavetank_units::{Code, ExitCode, UserError};

use super::broker_folder::{BrokerPorts, CA, CONFIG, CONTROLLER_SEED, broker_dir, seed_file};
use super::broker_serve;
use super::selection::Selection;
use crate::cli::{FleetBrokerArgs, FleetBrokerCommand, FleetBrokerInitArgs, HostArgs};
use crate::output;

const PORT: u16 = 4222;
/// A broker with an address of its own listens on all of them.
const ANY: &str = "0.0.0.0";
/// A broker that is reached through tunnels listens here.
const LOOPBACK: &str = "127.0.0.1";
/// Attempts to find a free port.
const ATTEMPTS: u32 = 20;
/// The certificate is valid for this many years.
const YEARS: i32 = 10;

/// Runs the subcommand.
pub(super) fn broker(args: &FleetBrokerArgs) -> Result<u8, UserError> {
    match &args.what {
        FleetBrokerCommand::Init(args) => init(args),
        FleetBrokerCommand::Serve(args) => broker_serve::serve(args),
    }
}

fn init(args: &FleetBrokerInitArgs) -> Result<u8, UserError> {
    let hosts = HostArgs { fleet: Some(args.fleet.clone()), ..HostArgs::default() };
    let selection = Selection::read(&hosts)?;
    let fleet = selection.fleet().expect("a fleet file was named");
    let load = selection.hosts.iter().filter(|host| host.role == HostRole::Load);
    let agents: Vec<String> = load.map(|host| host.name.clone()).collect();
    let dir = broker_dir(args.dir.as_deref(), &args.fleet);
    let dir = absolute(&dir).map_err(|error| not_made(&dir, &error))?;
    let (names, listen, port, ports) = match &fleet.link {
        FleetLink::Ssh => {
            let message = format!("{} names no broker", args.fleet.display());
            return Err(UserError::usage(
                Code::BadBroker,
                message,
                "add link: nats, or link: nats://HOST:4222",
            ));
        }
        FleetLink::Nats(url) => {
            let (host, port) = address(url)?;
            (vec![host], ANY, port, None)
        }
        FleetLink::NatsTunnel => {
            let ports = free_ports(&agents).map_err(|error| not_made(&dir, &error))?;
            (vec![LOOPBACK.to_owned()], LOOPBACK, ports.own, Some(ports))
        }
    };
    let setup = BrokerSetup {
        fleet: &fleet.name,
        agents: &agents,
        hosts: &names,
        listen,
        port: i32::from(port),
        dir: &dir,
        valid_until: expiry(),
    };
    let files = BrokerFiles::make(&setup).map_err(|error| not_made(&dir, &error))?;
    write(&dir, &files, (&agents, ports.as_ref())).map_err(|error| not_made(&dir, &error))?;
    output::print(&summary(fleet, &dir, agents.len(), &args.fleet))?;
    Ok(ExitCode::Pass as u8)
}

/// Returns what was written, and what to do next.
fn summary(fleet: &FleetFile, dir: &Path, agents: usize, file: &Path) -> String {
    let wrote =
        format!("wrote the broker's configuration and {} keys to {dir}\n", agents + 1, dir = dir.display());
    let next = match &fleet.link {
        FleetLink::Nats(_) => format!("start it: nats-server -c {}/{CONFIG}\n", dir.display()),
        FleetLink::NatsTunnel | FleetLink::Ssh => String::new(),
    };
    format!("{wrote}{next}start the agents: wavetank fleet up --fleet {}\n", file.display())
}

/// Returns a free port of this host, and a port for each agent's host, which follow it.
fn free_ports(agents: &[String]) -> std::io::Result<BrokerPorts> {
    for _ in 0..ATTEMPTS {
        let own = std::net::TcpListener::bind((LOOPBACK, 0))?.local_addr()?.port();
        let following = own.checked_add(1).map(|first| first..=u16::MAX);
        let following: Vec<u16> = following.into_iter().flatten().take(agents.len()).collect();
        if following.len() == agents.len() {
            return Ok(BrokerPorts { own, agents: agents.iter().cloned().zip(following).collect() });
        }
    }
    Err(std::io::Error::other("too few ports follow a free one"))
}

/// Returns host and port of a broker's URL.
fn address(url: &str) -> Result<(String, u16), UserError> {
    let wrong = || {
        let message = "the link's URL is not nats://HOST:PORT";
        UserError::usage(Code::BadBroker, message, "link: nats://HOST:4222")
    };
    let (_, rest) = url.split_once("://").ok_or_else(wrong)?;
    let rest = rest.trim_end_matches('/');
    let has_port = rest.rsplit_once(':').filter(|(host, _)| !host.contains(':') || host.ends_with(']'));
    let (host, port) = match has_port {
        Some((host, port)) => (host, port.parse().map_err(|_| wrong())?),
        None => (rest, PORT),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() || host.contains(['@', '/']) {
        return Err(wrong());
    }
    Ok((host.to_owned(), port))
}

/// Returns the last day of a new certificate: year, month, day.
pub(super) fn expiry() -> (i32, u8, u8) {
    (this_year() + YEARS, 1, 1)
}

fn this_year() -> i32 {
    let now = WallTime(WallClock::unix_ns().unsigned_abs()).rfc3339();
    now.get(..4).and_then(|year| year.parse().ok()).unwrap_or(2026)
}

/// Writes all files into a new folder. Only its owner can read it.
fn write(
    dir: &Path,
    files: &BrokerFiles,
    (agents, ports): (&[String], Option<&BrokerPorts>),
) -> std::io::Result<()> {
    DirBuilder::new().mode(0o700).create(dir)?;
    let put = |name: &str, text: &str| {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(dir.join(name))?;
        file.write_all(text.as_bytes())
    };
    put(CONFIG, &files.config)?;
    if let Some((name, text)) = ports.map(BrokerPorts::file) {
        put(name, &text)?;
    }
    put(CA, &files.ca)?;
    put("server.pem", &files.certificate)?;
    put("server.key", &files.certificate_key)?;
    put(CONTROLLER_SEED, &format!("{}\n", files.controller.seed()))?;
    for (name, key) in agents.iter().zip(&files.agents) {
        put(&seed_file(name), &format!("{}\n", key.seed()))?;
    }
    Ok(())
}

fn not_made(dir: &Path, error: &dyn std::fmt::Display) -> UserError {
    UserError::refused(
        Code::BrokerNotMade,
        format!("cannot make the broker's files in {}: {error}", dir.display()),
        "name a folder that does not exist: --dir DIR",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_host_and_perhaps_a_port() {
        let of = |url| address(url).map_err(|error| error.to_string()).ok();
        assert_eq!(of("nats://ctl"), Some(("ctl".to_owned(), 4222)));
        assert_eq!(of("tls://10.0.0.1:5222/"), Some(("10.0.0.1".to_owned(), 5222)));
        assert_eq!(of("nats://[::1]:5222"), Some(("::1".to_owned(), 5222)));
        assert_eq!(of("nats://[::1]"), Some(("::1".to_owned(), 4222)));
        for url in ["nats://", "nats://a:b", "nats://user:secret@ctl:4222", "ctl"] {
            assert_eq!(of(url), None, "{url}");
        }
    }
}
