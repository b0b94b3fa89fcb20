//! [`Host`]: what is known of this host before anything is planned.

use wavetank_driver::{Feature, Features, KernelSupport, WallClock};
use wavetank_engine::{LoadNamespace, SourcePorts};
use wavetank_plan::{HostFacts, Plan, SocketSupport};
use wavetank_units::{Code, UserError};

use super::LabRun;
use super::fleet_run::FleetRun;
use super::sampling::check_counts_available;

/// Names what of the kernel must not be used, so that every fallback can be walked on one kernel.
const MASK: &str = "WAVETANK_MASK";

/// Facts for resolving, and what of the kernel may be used.
pub struct Host {
    /// What a plan has to know of the hosts that send the load.
    pub facts: HostFacts,
    /// Features of the kernel, and why others are missing.
    pub found: KernelSupport,
    /// The lab with the hosts that send the load, if there is one.
    pub lab: Option<LabRun>,
}

impl Host {
    /// Inspects this host, after raising the open-file limit as far as possible. Fails on unknown
    /// names in the mask.
    pub fn inspect() -> Result<Self, UserError> {
        Self::inspect_lab(None)
    }

    /// The same of the hosts of a lab together, if there is one.
    pub fn inspect_lab(lab: Option<LabRun>) -> Result<Self, UserError> {
        let wanted = wanted(&std::env::var(MASK).unwrap_or_default())?;
        // Where the kernel says no, the plan is made for the limit there is.
        let _ = wavetank_observe::raise_file_limit();
        let found = Features::probe(wanted);
        let facts = wavetank_observe::host_facts();
        let sockets = SocketSupport {
            uring: found.missing(Feature::Uring).map_or(Ok(()), |missing| Err(missing.clone())),
            own_files: found.best_file_tables(),
            ..facts.sockets
        };
        let facts = HostFacts { sockets, ..facts };
        let facts = match &lab {
            Some(lab) => lab.facts(facts),
            None => facts,
        };
        Ok(Self { facts, found, lab })
    }

    /// The same, with the load from the hosts of `fleet`, if there is one.
    #[must_use]
    pub fn with_fleet(self, fleet: Option<&FleetRun>) -> Self {
        let Some(fleet) = fleet else { return self };
        let facts = fleet.facts(self.facts);
        Self { facts, ..self }
    }

    /// The same, with hosts under test that are observed in addition.
    #[must_use]
    pub fn observing(mut self, names: Vec<String>) -> Self {
        self.facts.observed_hosts = names;
        self
    }

    /// Checks whether the target of `plan` can be asked for its own count of connections.
    ///
    /// # Errors
    /// A usage error with the reason.
    pub fn check_target_counts_available(&self, plan: &Plan) -> Result<(), UserError> {
        let servers = self.lab.as_ref().map(|lab| lab.servers(plan));
        check_counts_available(plan, servers.as_deref())
    }

    /// Returns the source ports for connections with an explicit source address. The start differs
    /// each time.
    pub fn source_ports(&self) -> SourcePorts {
        if let Some(lab) = &self.lab {
            return lab.first_ports();
        }
        SourcePorts::new(&self.facts.tuple_ports(), WallClock::unix_ns().unsigned_abs())
    }

    /// Where load threads are to be: nowhere else than this process, outside of a lab.
    pub(crate) fn places(&self) -> Vec<LoadNamespace> {
        self.lab.as_ref().map(LabRun::places).unwrap_or_default()
    }
}

fn wanted(mask: &str) -> Result<Features, UserError> {
    Features::from_mask(mask).map_err(|word| {
        let known: Vec<_> = Feature::ALL.iter().map(|(_, word)| *word).collect();
        UserError::usage(
            Code::BadMask,
            format!("`{word}` in {MASK} is not a feature that can be masked"),
            format!("use some of {}, joined by commas", known.join(", ")),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_read_or_refused() {
        assert_eq!(wanted(""), Ok(Features::all()));
        assert_eq!(wanted("uring"), Ok(Features::all().without(Feature::Uring)));
        let error = wanted("uring,xdp").expect_err("xdp cannot be masked");
        assert!(error.message.contains("`xdp`") && error.hint.contains("own_process"), "{error}");
    }
}
