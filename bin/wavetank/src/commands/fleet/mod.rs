//! `wavetank fleet`: many hosts, one file per subcommand.

mod agent_hosts;
mod agent_rows;
mod agent_settings;
mod broker_folder;
mod broker_init;
mod broker_keeper;
mod broker_serve;
mod calibrate;
mod down;
mod exec;
mod hosts;
mod kept_process;
mod load_fleet;
mod logs;
mod manifest;
mod manifest_files;
mod program_file;
mod selection;
mod settle;
mod status;
mod top;
mod top_table;
mod unit;
mod up;
mod up_plan;
mod up_scripts;

use wavetank_units::UserError;

pub(super) use load_fleet::{connect_fleet, tolerance};
pub(super) use selection::Selection;

use crate::cli::{FleetArgs, FleetCommand};

/// Runs the subcommand and returns its exit code.
pub(crate) fn fleet(args: FleetArgs) -> Result<u8, UserError> {
    match args.what {
        FleetCommand::Calibrate(args) => calibrate::calibrate(&args),
        FleetCommand::Exec(args) => exec::exec(&args),
        FleetCommand::Top(args) => top::top(&args),
        FleetCommand::Hosts(args) => hosts::hosts(&args),
        FleetCommand::Up(args) => up::up(&args),
        FleetCommand::Down(args) => down::down(&args),
        FleetCommand::Status(args) => status::status(&args),
        FleetCommand::Settle(args) => settle::settle(&args),
        FleetCommand::Logs(args) => logs::logs(&args),
        FleetCommand::Unit(args) => unit::unit(&args),
        FleetCommand::Manifest(args) => manifest::manifest(&args),
        FleetCommand::Broker(args) => broker_init::broker(&args),
    }
}
