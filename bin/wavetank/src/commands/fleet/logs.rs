//! `wavetank fleet logs`.

use std::io::Write as _;

use wavetank_ssh::HostEvent;
use wavetank_units::{ExitCode, UserError, sanitize};

use super::agent_hosts::{AgentHosts, HostScript, failure};
use crate::cli::FleetLogsArgs;

/// Prints the end of each agent's log, each line with its host. Exit 0 if all logs were read.
pub(super) fn logs(args: &FleetLogsArgs) -> Result<u8, UserError> {
    let hosts = AgentHosts::read(&args.hosts, &args.ssh, &args.folder.dir)?;
    let count = hosts.hosts.len();
    let width = hosts.hosts.iter().map(|host| host.name.chars().count()).max().unwrap_or(0);
    let follow = if args.follow { " -F" } else { "" };
    let script = |host| HostScript {
        host,
        text: format!("tail -n {}{follow} \"$d/agent.log\"", args.lines),
        input: None,
        time_limit: None,
    };
    let show = &mut |event: HostEvent<'_>| {
        if let HostEvent::Line { host, is_error: false, text } = event {
            let line = format!("{:width$}  {}\n", hosts.hosts[host].name, sanitize(text));
            // Output to a closed pipe is lost, and the hosts go on.
            let _ = std::io::stdout().write_all(line.as_bytes());
        }
    };
    // Every log is followed at the same time.
    let runs = hosts.run((0..count).map(script).collect(), args.follow.then_some(count), show);
    let mut is_ok = true;
    for (host, run) in &runs {
        if let Some(reason) = failure(run).filter(|_| !hosts.is_interrupted()) {
            is_ok = false;
            let name = &hosts.hosts[*host].name;
            let _ = writeln!(std::io::stderr(), "{name:width$}  {}", sanitize(&reason));
        }
    }
    Ok((if is_ok { ExitCode::Pass } else { ExitCode::Fail }) as u8)
}
