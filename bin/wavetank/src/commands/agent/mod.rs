//! `wavetank agent`: the agent of a load host, one file per subcommand.

mod agent_error;
mod agent_lock;
mod attach;
mod hello;
mod serve;
mod spool;
mod stop;

pub(super) use agent_lock::AgentLock;
pub(super) use stop::end_holder;
use wavetank_units::{ExitCode, UserError};

use crate::cli::{AgentArgs, AgentCommand};

/// Runs the subcommand and returns its exit code.
pub(crate) fn agent(args: AgentArgs) -> Result<u8, UserError> {
    match args.what {
        AgentCommand::Serve(args) => serve::serve(&args)?,
        AgentCommand::Attach(args) => attach::attach(&args)?,
        AgentCommand::Hello(args) => hello::hello(&args)?,
        AgentCommand::Stop(args) => stop::stop(&args)?,
        AgentCommand::Spool(args) => spool::spool(&args.what)?,
    }
    Ok(ExitCode::Pass as u8)
}
