//! [`EnvironmentDoc`]: `environment.json`, the command, program and host a run was made with.

use serde::{Deserialize, Serialize};
use wavetank_plan::HostFacts;
use wavetank_units::Sentence;

use crate::{DecodeError, LabDoc, LoadDoc, Probe};

/// Written before the load starts, so that it identifies a run killed at any moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentDoc {
    /// Id of the run.
    pub id: String,
    /// Version of wavetank.
    pub version: String,
    /// The command line, secrets as `***`.
    pub command: String,
    /// Wall time of instant 0, RFC 3339 in UTC.
    pub started_at: String,
    /// A description of the load.
    pub load: LoadDoc,
    /// Description of what this run rehearses and how; absent if the load is the planned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal: Option<Sentence>,
    /// The uncounted first request and its response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Driver in use: `uring` or `epoll`.
    pub engine: String,
    /// Why it is not the best engine available, and what to do about it. Absent if it is the best,
    /// or if the user chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_why: Option<String>,
    /// The host.
    pub host: HostDoc,
    /// The lab that the run was made in; absent outside of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab: Option<LabDoc>,
}

/// What the host was like. Needed to believe a number later, and to compare two runs fairly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostDoc {
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

impl From<&HostFacts> for HostDoc {
    fn from(host: &HostFacts) -> Self {
        Self {
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

impl EnvironmentDoc {
    /// The object as indented JSON: people open this file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data with string keys always encodes")
    }

    /// Reads `environment.json`.
    ///
    /// # Errors
    /// If the text is not such an object.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        serde_json::from_str(text).map_err(|error| DecodeError::json(&error))
    }
}
