//! [`Job`]: what a host is to do.

use wavetank_capacity::size::{Role, Sizing, Tuning};

use crate::Severity;

/// What a host is to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Its role; `None`: any.
    pub role: Option<Role>,
    /// What the load needs, if there is one.
    pub sizing: Option<Sizing>,
}

impl Job {
    /// Whether anything is known about the purpose of the host.
    pub const fn is_known(&self) -> bool {
        self.role.is_some() || self.sizing.is_some()
    }

    /// Returns the severity of something that matters for a job, and may not matter otherwise.
    pub(super) const fn severity(&self) -> Severity {
        if self.is_known() { Severity::Warning } else { Severity::Note }
    }

    /// Returns the limits that the load needs on hosts of the role.
    pub fn tunings(&self) -> impl Iterator<Item = &Tuning> {
        let all = self.sizing.iter().flat_map(|sizing| &sizing.tunings);
        all.filter(|tuning| self.role.is_none_or(|role| tuning.role == role))
    }

    /// Whether the host opens connections.
    pub fn connects(&self) -> bool {
        matches!(self.role, Some(Role::Load | Role::Balancer))
    }

    /// Whether the host accepts connections.
    pub fn accepts(&self) -> bool {
        matches!(self.role, Some(Role::Server | Role::Balancer))
    }
}
