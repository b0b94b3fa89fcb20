//! `wavetank net`: measures the network between hosts.

mod between;
mod direct;
mod endpoint;
mod fleet_hosts;
mod lab_hosts;
mod net_hosts;
mod remote_end;
mod result;
mod serve;
mod token_source;

use wavetank_units::UserError;

use crate::cli::{NetArgs, NetSubcommand};

/// Runs the subcommand, or measures. Returns the exit code.
pub(crate) fn net(args: NetArgs) -> Result<u8, UserError> {
    match args.what {
        Some(NetSubcommand::Serve(serve)) => serve::serve(&serve),
        Some(NetSubcommand::Endpoint) => endpoint::endpoint(),
        None if args.measure.lab.is_some() || args.measure.fleet.is_some() => between::measure(&args.measure),
        None => direct::measure(&args.measure),
    }
}
