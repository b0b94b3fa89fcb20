//! [`EnvironmentDoc`]: `environment.json`, the host and program a run was made with.

use serde::{Deserialize, Serialize};
use wavetank_plan::HostFacts;

/// What this host was like. Needed to believe a number later, and to compare two runs fairly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentDoc {
    /// Version of wavetank.
    pub version: String,
    /// Host name.
    pub hostname: String,
    /// Kernel release.
    pub kernel: String,
    /// CPU model.
    pub cpu_model: String,
    /// CPUs the process may run on.
    pub cpus: Vec<u32>,
    /// Memory available at the start, bytes.
    pub memory_available_bytes: u64,
    /// Files the process may open.
    pub files_max: u64,
    /// First and last port the kernel picks from.
    pub port_range: (u16, u16),
    /// Addresses of the host's interfaces.
    pub addresses: Vec<String>,
}

impl EnvironmentDoc {
    /// The facts of `host` as seen by `version` of wavetank.
    pub fn new(host: &HostFacts, version: &str) -> Self {
        Self {
            version: version.to_owned(),
            hostname: host.hostname.clone(),
            kernel: host.kernel.clone(),
            cpu_model: host.cpu_model.clone(),
            cpus: host.cpus.clone(),
            memory_available_bytes: host.memory_available_bytes,
            files_max: host.files_max,
            port_range: host.port_range,
            addresses: host.addresses.iter().map(ToString::to_string).collect(),
        }
    }
}
