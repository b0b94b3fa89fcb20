//! [`HostGauge`]: what a condition can ask of a host.

use serde::{Deserialize, Serialize};

use super::value_kind::ValueKind;

/// A gauge of a host (`cpu(lb1) < 96%`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostGauge {
    /// Share of all cores' time that is not idle.
    Cpu,
    /// The same of the busiest core.
    HottestCore,
    /// Memory in use.
    Memory,
    /// Swap in use.
    Swap,
    /// Data received.
    NetIn,
    /// Data sent.
    NetOut,
    /// TCP sockets in state ESTABLISHED.
    Established,
    /// Longest accept queue.
    Queue,
}

const GAUGES: [(&str, HostGauge); 8] = [
    ("cpu", HostGauge::Cpu),
    ("hottest_core", HostGauge::HottestCore),
    ("memory", HostGauge::Memory),
    ("swap", HostGauge::Swap),
    ("net_in", HostGauge::NetIn),
    ("net_out", HostGauge::NetOut),
    ("established", HostGauge::Established),
    ("queue", HostGauge::Queue),
];

impl HostGauge {
    /// The gauge a condition calls `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        GAUGES.iter().find(|(known, _)| *known == name).map(|(_, gauge)| *gauge)
    }

    /// Its name in conditions.
    pub fn name(self) -> &'static str {
        GAUGES.iter().find(|(_, gauge)| *gauge == self).map(|(name, _)| *name).expect("every gauge is listed")
    }

    pub(super) fn kind(self) -> ValueKind {
        match self {
            Self::Cpu | Self::HottestCore => ValueKind::Share,
            Self::Memory | Self::Swap => ValueKind::BytesOrShare,
            Self::NetIn | Self::NetOut => ValueKind::Link,
            Self::Established | Self::Queue => ValueKind::Count,
        }
    }
}
