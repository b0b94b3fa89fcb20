//! [`FleetRunArgs`]: the fleet that sends the load of a run.

use std::path::PathBuf;

use clap::Args;
use wavetank_units::UserError;

/// The fleet that sends the load of a run.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Fleet")]
pub(crate) struct FleetRunArgs {
    /// Send the load from the hosts of this fleet file, on which `wavetank fleet up` started agents
    #[arg(long, value_name = "FILE")]
    pub(crate) fleet: Option<PathBuf>,
    /// Hosts or groups of the fleet to leave out (repeatable)
    #[arg(long, value_name = "HOSTS", requires = "fleet")]
    pub(crate) without: Vec<String>,
    /// Configuration file of ssh in place of the user's
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// Folder of `fleet broker init`, if the fleet's link is a broker [default: FILE.broker]
    #[arg(long, value_name = "DIR", requires = "fleet")]
    pub(crate) broker: Option<PathBuf>,
}

impl FleetRunArgs {
    /// Checks that the run can come from a fleet.
    pub(super) fn check(&self, once: bool, source_auto: bool) -> Result<(), UserError> {
        let refused = |what: &str, hint: &str| {
            Err(UserError::usage("conflict", format!("{what} cannot be used with --fleet"), hint))
        };
        if self.fleet.is_none() {
            return Ok(());
        }
        if once {
            return refused("--once", "leave out --fleet: one request is sent from this host");
        }
        if source_auto {
            return refused("--source auto", "name the addresses: --source 10.0.8.0/24");
        }
        Ok(())
    }
}
