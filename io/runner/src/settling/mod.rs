//! Adds what agents kept to the archives of their runs.

mod agent_facts;
mod settled_events;
mod settled_fleet;
mod settled_record;
mod settlement;
mod spool_list;
mod spools;
mod unsettled_run;

use wavetank_inventory::fold_hosts;
use wavetank_store::RunsDir;
use wavetank_units::UserError;

pub use settlement::Settlement;
pub use spool_list::{SPOOL_MARK, SpoolDoc, SpoolsDoc};
pub use spools::{SpoolCommand, SpoolHosts};

use spools::HostSpools;
use unsettled_run::{UnsettledRun, cannot_settle};

/// Runs that were settled as far as their hosts allow.
pub struct SettledRuns {
    /// Each run.
    pub settlements: Vec<Settlement>,
    /// A note for each host that is not reached, and for each run with spools and without an
    /// archive. Empty if a run was named.
    pub notes: Vec<String>,
    /// Whether the archives have all intervals of all agents.
    pub is_complete: bool,
}

/// Settles the run that is named, or all runs in `runs` that `hosts` keep intervals of.
///
/// # Errors
/// A run that cannot be settled, hosts that cannot be found.
pub fn settle<H: SpoolHosts>(
    runs: &RunsDir,
    name: Option<&str>,
    hosts: impl FnOnce() -> Result<H, UserError>,
) -> Result<SettledRuns, UserError> {
    let named = name.map(|name| UnsettledRun::named(runs, name)).transpose()?;
    // An archive in use is refused before any host is asked.
    named.as_ref().map(UnsettledRun::lock).transpose()?;
    let hosts = hosts()?;
    let spools = HostSpools::look(&hosts);
    let unsettled = match named {
        Some(run) => {
            check(&run, &spools)?;
            vec![run]
        }
        None => UnsettledRun::with_numbers(runs, &spools.runs())?,
    };
    let mut settlements = Vec::new();
    for run in &unsettled {
        match refuse_running(run, &spools) {
            // A run in progress is not unsettled.
            Err(_) if name.is_none() => continue,
            refused => refused?,
        }
        settlements.push(Settlement::make(run, &spools)?);
    }
    let notes = if name.is_some() { Vec::new() } else { strangers(runs, &spools, &settlements) };
    let is_reached = name.is_some() || spools.listed.values().all(Result::is_ok);
    let is_complete = is_reached && notes.is_empty() && settlements.iter().all(Settlement::is_complete);
    Ok(SettledRuns { settlements, notes, is_complete })
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
/// archive.
fn strangers(runs: &RunsDir, spools: &HostSpools<'_>, settled: &[Settlement]) -> Vec<String> {
    let mut lines = Vec::new();
    for (host, listed) in &spools.listed {
        match listed {
            Err(reason) => lines.push(format!("{host}: {reason}")),
            Ok(doc) => {
                let is_settled = |run: u64| settled.iter().any(|one| one.number == run);
                let is_over = |run: u64| !spools.is_running(run);
                let others = doc.spools.iter().filter(|spool| is_over(spool.run) && !is_settled(spool.run));
                for spool in others {
                    let dir = runs.path().display();
                    lines.push(format!("{host}: keeps run {}, which has no archive in {dir}", spool.run));
                }
            }
        }
    }
    lines
}
