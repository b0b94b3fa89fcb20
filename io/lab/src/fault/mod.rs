//! Faults of a host: begun, and undone whatever happens to who asked for them.

use serde_json::Value;
use wavetank_plan::UserError;
use wavetank_topology::Lab;

use crate::service::Services;

/// The faults under way in one host, in the host's process.
#[derive(Debug)]
pub struct Faults;

impl Faults {
    /// None so far, in `lab.hosts[host]`.
    pub fn new(_lab: &Lab, _host: usize) -> Self {
        Self
    }

    /// Begins what is asked for; its number is for [`end`](Self::end).
    pub fn begin(&mut self, _what: &Value, _services: &mut Services) -> Result<u64, UserError> {
        Err(UserError::refused(
            "value_later",
            "faults of a lab come with a later version",
            "a lab without faults",
        ))
    }

    /// Undoes the fault of this number.
    pub fn end(&mut self, id: u64, _services: &mut Services) -> Result<(), UserError> {
        Err(UserError::refused("value_later", format!("there is no fault {id}"), "it may have ended already"))
    }

    /// Undoes all of them.
    pub fn end_all(&mut self, _services: &mut Services) {}
}
