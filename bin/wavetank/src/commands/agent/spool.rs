//! `wavetank agent spool`: what an agent keeps of unsettled runs.

use std::io::{Read as _, Write as _};
use std::path::Path;

use wavetank_fleet::{AgentPayload, AgentState, RunId};
use wavetank_link::read_hello;
use wavetank_runner::{AGENT_SPOOLS, SPOOL_MARK, SpoolDoc, SpoolsDoc};
use wavetank_store::SpoolFile;
use wavetank_units::{Code, UserError};

use crate::cli::{AgentSpoolCommand, AgentSpoolDeleteArgs, AgentSpoolListArgs, AgentSpoolSendArgs};
use crate::output;

/// Runs the subcommand.
pub(super) fn spool(what: &AgentSpoolCommand) -> Result<(), UserError> {
    match what {
        AgentSpoolCommand::List(args) => list(args),
        AgentSpoolCommand::Send(args) => send(args),
        AgentSpoolCommand::Delete(args) => delete(args),
    }
}

fn list(args: &AgentSpoolListArgs) -> Result<(), UserError> {
    let failed = |error| unusable(&args.dir, &error);
    let spools = SpoolFile::list(&args.dir.join(AGENT_SPOOLS)).map_err(failed)?;
    let spools = spools.iter().map(|spool| spool_doc(&args.dir, spool)).collect();
    let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get() as u32);
    output::print(&format!("{SPOOL_MARK}{}\n", SpoolsDoc { cores, spools }.json()))
}

fn spool_doc(dir: &Path, spool: &SpoolFile) -> SpoolDoc {
    let run = spool.run.0;
    let Some(content) = &spool.content else { return SpoolDoc { run, damaged: true, ..SpoolDoc::default() } };
    SpoolDoc {
        run,
        running: is_running(dir, spool),
        damaged: false,
        agent: content.meta.agent.clone(),
        epoch: content.meta.epoch,
        plan_hash: content.meta.plan_hash.clone(),
        intervals: content.intervals,
        cause: content.cause,
        adjustments: content.adjustments,
    }
}

/// Whether an agent still writes to a spool. An agent that has ended its part keeps the file open,
/// and so does one that found it at its start.
fn is_running(dir: &Path, spool: &SpoolFile) -> bool {
    let has_ended = spool.content.as_ref().is_some_and(|content| content.cause.is_some());
    if has_ended || !spool.is_open {
        return false;
    }
    let is_over = |run: RunId, state| run == spool.run && state == AgentState::Sealed;
    !read_hello(dir).is_ok_and(|message| match message.report {
        AgentPayload::Hello(hello) => is_over(message.run, hello.state),
        _ => false,
    })
}

/// Prints the length of a spool, and its bytes.
fn send(args: &AgentSpoolSendArgs) -> Result<(), UserError> {
    let failed = |error| unusable(&args.dir, &error);
    let spool = find(&args.dir, args.run)?;
    let bytes = spool.content.as_ref().map_or(0, |content| content.bytes);
    let mut file = spool.open().map_err(failed)?.take(bytes);
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{SPOOL_MARK}{bytes}").and_then(|()| std::io::copy(&mut file, &mut out));
    written.and_then(|_| out.flush()).map_err(failed)
}

/// Deletes a spool of which the archive has all intervals, and prints `deleted`.
fn delete(args: &AgentSpoolDeleteArgs) -> Result<(), UserError> {
    let spool = find(&args.dir, args.run)?;
    let same = spool.content.as_ref().is_some_and(|content| content.digest == args.digest);
    if !same || is_running(&args.dir, &spool) {
        let path = spool.path.display();
        let message = format!("cannot delete the spool: {path} has other intervals than the archive");
        return Err(UserError::refused(Code::AgentSpool, message, "settle the run again"));
    }
    spool.delete().map_err(|error| unusable(&args.dir, &error))?;
    output::print("deleted\n")
}

fn find(dir: &Path, run: u64) -> Result<SpoolFile, UserError> {
    let found =
        SpoolFile::find(&dir.join(AGENT_SPOOLS), RunId(run)).map_err(|error| unusable(dir, &error))?;
    found.ok_or_else(|| {
        let message = format!("cannot read the spool: {} has none of run {run}", dir.display());
        UserError::refused(Code::AgentSpool, message, "list them: wavetank agent spool list --dir DIR")
    })
}

fn unusable(dir: &Path, error: &std::io::Error) -> UserError {
    let message = format!("cannot read the spools of {}: {error}", dir.display());
    UserError::refused(Code::AgentSpool, message, "check the permissions of the folder")
}
