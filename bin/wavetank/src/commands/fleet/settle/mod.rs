//! `wavetank fleet settle`: what agents kept is added to the archives of their runs.

mod agent_facts;
mod settled_events;
mod settled_fleet;
mod settled_record;
mod settlement;
mod spool_hosts;
mod spools;
mod unsettled_run;

use std::io::Write as _;

use serde_json::json;
use wavetank_inventory::fold_hosts;
use wavetank_store::RunsDir;
use wavetank_units::{ExitCode, UserError, sanitize};

pub(super) use spools::listing;

use self::settlement::Settlement;
use self::spool_hosts::SpoolHosts;
use self::spools::HostSpools;
use self::unsettled_run::{UnsettledRun, cannot_settle};
use crate::cli::{FileFormat, FleetSettleArgs};
use crate::output;

/// Settles a run, or all runs that the selected hosts keep intervals of. Exit 0 if the archives
/// then have all intervals of all agents, else 1.
pub(super) fn settle(args: &FleetSettleArgs) -> Result<u8, UserError> {
    let agents = &args.agents;
    let runs = RunsDir::new(&args.runs_dir);
    let named = args.run.as_deref().map(|name| UnsettledRun::named(&runs, name)).transpose()?;
    // An archive in use is refused before any host is asked.
    named.as_ref().map(UnsettledRun::lock).transpose()?;
    let hosts = SpoolHosts::read(args)?;
    let spools = HostSpools::look(&hosts);
    let unsettled = match named {
        Some(run) => {
            check(&run, &spools)?;
            vec![run]
        }
        None => UnsettledRun::with_numbers(&runs, &spools.runs())?,
    };
    let mut settlements = Vec::new();
    for run in &unsettled {
        match refuse_running(run, &spools) {
            // A run in progress is not unsettled.
            Err(_) if args.run.is_none() => continue,
            refused => refused?,
        }
        settlements.push(Settlement::make(run, &spools)?);
    }
    let strangers = strangers(args, &spools, &settlements);
    let mut is_ok = strangers.is_empty() && settlements.iter().all(Settlement::is_complete);
    if args.run.is_none() {
        is_ok &= spools.listed.values().all(Result::is_ok);
    }
    let text = match agents.format {
        FileFormat::Json => {
            let runs: Vec<_> = settlements.iter().map(Settlement::json).collect();
            let doc =
                json!({"schema": "wavetank.fleet_settle/1", "ok": is_ok, "runs": runs, "notes": strangers});
            format!("{doc}\n")
        }
        FileFormat::Text => settlements.iter().map(Settlement::text).collect::<Vec<_>>().join("\n"),
    };
    output::print(&text)?;
    if agents.format == FileFormat::Text {
        let nothing = settlements.is_empty() && strangers.is_empty();
        let nothing = nothing.then(|| "the agents keep no intervals of unsettled runs".to_owned());
        for note in strangers.into_iter().chain(nothing) {
            // Without stderr the exit code is left.
            let _ = writeln!(std::io::stderr(), "{}", sanitize(&note));
        }
    }
    Ok((if is_ok { ExitCode::Pass } else { ExitCode::Fail }) as u8)
}

/// Checks that a named run has something to settle.
fn check(run: &UnsettledRun, spools: &HostSpools<'_>) -> Result<(), UserError> {
    if !run.is_settled() || spools.runs().contains(&run.number) {
        return Ok(());
    }
    let hint = "show its result: wavetank report RUN";
    Err(cannot_settle(&run.shown(), "it is settled already", hint))
}

/// Refuses a run that agents carry out now.
fn refuse_running(run: &UnsettledRun, spools: &HostSpools<'_>) -> Result<(), UserError> {
    let is_running = |name: &&String| spools.spool(name, run.number).is_some_and(|spool| spool.running);
    let running: Vec<String> = spools.listed.keys().filter(is_running).cloned().collect();
    if running.is_empty() {
        return Ok(());
    }
    let reason = format!("{} still carries it out", fold_hosts(&running));
    let hint = "wait: agents stop 30 s after they last heard their controller";
    Err(cannot_settle(&run.shown(), &reason, hint))
}

/// Returns a note for each host that is not reached, and for each run with spools and without an
/// archive. They are for a command that names no run.
fn strangers(args: &FleetSettleArgs, spools: &HostSpools<'_>, settled: &[Settlement]) -> Vec<String> {
    if args.run.is_some() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for (host, listed) in &spools.listed {
        match listed {
            Err(reason) => lines.push(format!("{host}: {reason}")),
            Ok(doc) => {
                let is_settled = |run: u64| settled.iter().any(|one| one.is_of(run));
                let is_over = |run: u64| !spools.is_running(run);
                let others = doc.spools.iter().filter(|spool| is_over(spool.run) && !is_settled(spool.run));
                for spool in others {
                    let dir = args.runs_dir.display();
                    lines.push(format!("{host}: keeps run {}, which has no archive in {dir}", spool.run));
                }
            }
        }
    }
    lines
}
