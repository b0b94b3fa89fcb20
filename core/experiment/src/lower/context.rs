//! [`LowerContext`]: what lowering needs from outside the file.

use std::net::SocketAddr;

use wavetank_journey::data::Table;
use wavetank_plan::{EngineChoice, HostFacts, Secret, SourcesPlan, TargetUrl};
use wavetank_units::UserError;

/// Inputs from outside the file.
pub struct LowerContext<'a> {
    /// Known facts about this host.
    pub host: &'a HostFacts,
    /// The rows of each source under `data`, in order; `None` if they are not read yet.
    pub tables: &'a [Option<Table>],
    /// Returns the addresses of a URL's name with the port, after
    /// [`connect_point`](crate::Experiment::connect_point).
    pub addresses: &'a dyn Fn(&TargetUrl) -> Result<Vec<SocketAddr>, UserError>,
    /// Returns the bytes of a file that the experiment names.
    pub file: &'a dyn Fn(&str) -> Result<Vec<u8>, UserError>,
    /// Returns the value of `${secret:NAME}`.
    pub secret: &'a dyn Fn(&str) -> Option<Secret>,
    /// Source addresses, with `auto` resolved.
    pub sources: SourcesPlan,
    /// Number of load threads, if requested.
    pub threads: Option<u32>,
    /// The requested driver.
    pub engine: EngineChoice,
}
