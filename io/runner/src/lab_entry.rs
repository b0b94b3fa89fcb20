//! [`LabEntry`]: how a run gets its lab.

use std::cell::Cell;

use wavetank_lab::{LabFolder, LabSpec, LabStatus, LabTag, TaggedProcess};
use wavetank_topology::Lab;
use wavetank_units::{Code, UserError};

use super::console::RunConsole;
use super::fleet_run::FleetTolerance;
use super::lab_run::LabRun;

/// The way into a lab that is up and stays, or into one that is created for the run.
pub struct LabEntry<'a> {
    lab: &'a Lab,
    folder: LabFolder,
    /// Name of the lab's file.
    file: String,
    /// What the run tolerates of agents in the lab; `None`: it sends the load by itself.
    agents: Option<FleetTolerance>,
    was_up: bool,
    brought_up: Cell<bool>,
}

impl<'a> LabEntry<'a> {
    /// Looks whether `lab`, which `file` describes, is up in `folder`. Nothing is created yet.
    ///
    /// # Errors
    /// A lab of that name that differs from the file, or that is only partly up.
    pub fn new(
        lab: &'a Lab,
        folder: LabFolder,
        file: String,
        agents: Option<FleetTolerance>,
    ) -> Result<Self, UserError> {
        let was_up = is_up(&folder, lab)?;
        Ok(Self { lab, folder, file, agents, was_up, brought_up: Cell::new(false) })
    }

    /// Brings the lab up, unless it is already up, and moves this process into it.
    ///
    /// # Errors
    /// A lab that cannot be created or entered.
    pub fn enter(&self, console: &mut dyn RunConsole) -> Result<LabRun, UserError> {
        if self.was_up {
            console.info(&format!("lab        {} is up, and stays", self.lab.name));
        } else {
            let mark = LabTag::generate(&self.lab.name)?;
            // The lab is removed even if this process is killed.
            let owner = TaggedProcess::for_pid(std::process::id());
            let order = LabSpec { mark, file: self.file.clone(), lab: self.lab.clone(), owner };
            let (_, warnings) = wavetank_lab::up(&order, &self.folder)?;
            for text in &warnings {
                console.warn(text);
            }
            self.brought_up.set(true);
            console.info(&format!(
                "lab        {} is up: {}",
                self.folder.name(),
                hosts(self.lab.hosts.len())
            ));
        }
        let wait =
            || console.info("lab        waiting: another run uses it, or its faults are being reverted");
        Ok(LabRun::begin(&self.folder, !self.was_up, wait)?.by_agents(self.agents))
    }

    /// Removes the lab if it was created for the run.
    ///
    /// # Errors
    /// What is left of it.
    pub fn leave(&self) -> Result<(), UserError> {
        if self.brought_up.get() { wavetank_lab::down(&self.folder) } else { Ok(()) }
    }
}

/// Returns a text such as `1 host` or `3 hosts`.
fn hosts(count: usize) -> String {
    format!("{count} host{}", if count == 1 { "" } else { "s" })
}

/// Whether the lab is already up. Fails if it differs from the file.
fn is_up(folder: &LabFolder, lab: &Lab) -> Result<bool, UserError> {
    if !folder.exists() {
        // `up` reports anything else at that path.
        return Ok(false);
    }
    let name = folder.name();
    match LabStatus::read(folder)?.condition {
        "up" if folder.order()?.lab == *lab => Ok(true),
        "up" => {
            let message = format!("lab {name} is up, but differs from the file");
            let hint = format!("wavetank lab down --lab {name}; or use another name: --lab NAME");
            Err(UserError::usage(Code::LabDiffers, message, hint))
        }
        // `up` first removes the remains of a killed lab.
        "dead" => Ok(false),
        state => {
            let message = format!("lab {name} is {state}");
            let hint = format!("wavetank lab status --lab {name}; wavetank lab down --lab {name} removes it");
            Err(UserError::usage(Code::LabNotUp, message, hint))
        }
    }
}
