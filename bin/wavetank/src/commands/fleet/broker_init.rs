//! `wavetank fleet broker init`.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf, absolute};

use wavetank_driver::WallClock;
use wavetank_inventory::HostRole;
use wavetank_nats::{BrokerFiles, BrokerSetup};
use wavetank_record::WallTime;
use wavetank_units::{ExitCode, UserError};

use super::selection::Selection;
use crate::cli::{FleetBrokerArgs, FleetBrokerCommand, FleetBrokerInitArgs, HostArgs};
use crate::run::output;

/// File with the controller's seed in a broker's folder.
pub(super) const CONTROLLER_SEED: &str = "controller.seed";
/// File with the certificate that controller and agents trust.
pub(super) const CA: &str = "ca.pem";
const PORT: u16 = 4222;
/// The certificate is valid for this many years.
const YEARS: i32 = 10;

/// Runs the subcommand.
pub(super) fn broker(args: &FleetBrokerArgs) -> Result<u8, UserError> {
    let FleetBrokerCommand::Init(args) = &args.what;
    init(args)
}

/// Returns the folder of a fleet's broker: the named one, or that next to the fleet file.
pub(super) fn broker_dir(named: Option<&Path>, fleet: &Path) -> PathBuf {
    named.map_or_else(|| fleet.with_extension("broker"), Path::to_owned)
}

/// Returns the name of the file with an agent's seed.
pub(super) fn seed_file(agent: &str) -> String {
    let name: String = agent.chars().map(|c| if c == '/' || c.is_control() { '_' } else { c }).collect();
    format!("agent-{name}.seed")
}

fn init(args: &FleetBrokerInitArgs) -> Result<u8, UserError> {
    let hosts = HostArgs { fleet: Some(args.fleet.clone()), ..HostArgs::default() };
    let selection = Selection::read(&hosts)?;
    let Some((url, fleet)) = selection.broker() else {
        let message = format!("{} names no broker", args.fleet.display());
        return Err(UserError::usage("bad_broker", message, "add link: nats://HOST:4222"));
    };
    let load = selection.hosts.iter().filter(|host| host.role == HostRole::Load);
    let agents: Vec<String> = load.map(|host| host.name.clone()).collect();
    let (host, port) = address(url)?;
    let dir = broker_dir(args.dir.as_deref(), &args.fleet);
    let dir = absolute(&dir).map_err(|error| not_made(&dir, &error))?;
    let setup = BrokerSetup {
        fleet,
        agents: &agents,
        hosts: &[host],
        port: i32::from(port),
        dir: &dir,
        valid_until: (this_year() + YEARS, 1, 1),
    };
    let files = BrokerFiles::make(&setup).map_err(|error| not_made(&dir, &error))?;
    write(&dir, &files, &agents).map_err(|error| not_made(&dir, &error))?;
    let text = format!(
        "wrote the broker's configuration and {} keys to {dir}\n\
         start it: nats-server -c {dir}/nats-server.conf\n\
         an agent needs {CA} and its seed:\n  \
         wavetank agent serve --dir ~/.wavetank/agent --name NAME --link {url} --nats-fleet {fleet} \
         --nats-ca {CA} --nats-seed agent-NAME.seed\n",
        agents.len() + 1,
        dir = dir.display(),
    );
    output::print(&text)?;
    Ok(ExitCode::Pass as u8)
}

/// Returns host and port of a broker's URL.
fn address(url: &str) -> Result<(String, u16), UserError> {
    let wrong = || {
        let message = "the link's URL is not nats://HOST:PORT";
        UserError::usage("bad_broker", message, "link: nats://HOST:4222")
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

fn this_year() -> i32 {
    let now = WallTime(WallClock::unix_ns().unsigned_abs()).rfc3339();
    now.get(..4).and_then(|year| year.parse().ok()).unwrap_or(2026)
}

/// Writes all files into a new folder. Only its owner can read it.
fn write(dir: &Path, files: &BrokerFiles, agents: &[String]) -> std::io::Result<()> {
    DirBuilder::new().mode(0o700).create(dir)?;
    let put = |name: &str, text: &str| {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(dir.join(name))?;
        file.write_all(text.as_bytes())
    };
    put("nats-server.conf", &files.config)?;
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
        "broker_not_made",
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
