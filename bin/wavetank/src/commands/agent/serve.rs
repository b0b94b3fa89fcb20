//! `wavetank agent serve`: the agent of a load host.

use std::io::Write as _;

use wavetank_driver::Signals;
use wavetank_nats::Broker;
use wavetank_runner::{AgentOptions, AgentService, agent_not_started, host_error};
use wavetank_units::{UserError, sanitize};

use super::agent_lock::{AGENT_LOCK, AgentLock};
use crate::cli::AgentServeArgs;
use crate::commands::broker_access::open_broker;

/// File with the number of the agent's process.
const PID_FILE: &str = "agent.pid";

/// Runs an agent until SIGTERM or SIGINT.
pub(super) fn serve(args: &AgentServeArgs) -> Result<(), UserError> {
    let signals = Signals::listen().map_err(|errno| host_error("handle signals", errno))?;
    let folder = args.dir.clone();
    let lock = AgentLock::take(&folder, AGENT_LOCK).map_err(|error| agent_not_started(&folder, &error))?;
    let Some(_lock) = lock else {
        return Err(agent_not_started(&folder, &"another agent has this folder"));
    };
    let options = AgentOptions {
        dir: folder.clone(),
        name: args.name.clone(),
        allow: args.allow.clone(),
        broker: broker(args)?,
    };
    let mut service = AgentService::start(options, &log)?;
    let pid_file = folder.join(PID_FILE);
    let number = format!("{}\n", std::process::id());
    std::fs::write(&pid_file, number).map_err(|error| agent_not_started(&pid_file, &error))?;
    log(&format!("{} listens in {}", args.name, folder.display()));
    while signals.received() == 0 {
        service.turn();
    }
    log("the agent ends");
    // The lock says who is the agent, so a file that remains does no harm.
    let _ = std::fs::remove_file(pid_file);
    Ok(())
}

/// Returns the broker that `args` name, if they name one.
fn broker(args: &AgentServeArgs) -> Result<Option<Broker>, UserError> {
    match (&args.link, &args.nats_ca, &args.nats_fleet) {
        (Some(url), Some(ca), Some(fleet)) => {
            open_broker(url, fleet, (args.nats_seed.as_deref(), ca)).map(Some)
        }
        _ => Ok(None),
    }
}

/// Writes a line to standard error, which is the agent's log. Without it the agent goes on.
fn log(line: &str) {
    let _ = writeln!(std::io::stderr(), "agent: {}", sanitize(line));
}
