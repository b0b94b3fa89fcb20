//! `wavetank fleet`: many hosts, one file per subcommand.

mod exec;
mod hosts;
mod selection;
mod top;
mod top_table;

use wavetank_units::UserError;

use crate::cli::{FleetArgs, FleetCommand};

/// Runs the subcommand and returns its exit code.
pub(crate) fn fleet(args: FleetArgs) -> Result<u8, UserError> {
    match args.what {
        FleetCommand::Exec(args) => exec::exec(&args),
        FleetCommand::Top(args) => top::top(&args),
        FleetCommand::Hosts(args) => hosts::hosts(&args),
    }
}
