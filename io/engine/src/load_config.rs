//! [`LoadConfig`]: what of a host the load may use, and what it was told to do with it.

use std::sync::Arc;

use wavetank_driver::{Features, TlsClient};
use wavetank_journey::Journeys;
use wavetank_plan::{Plan, Ports, UserError};

use crate::load_namespace::LoadNamespace;
use crate::sources::SourcePorts;

/// What load threads are made with, beside their plan.
#[derive(Clone)]
pub struct LoadConfig {
    /// One for each thread, where there are enough; with none the kernel places them.
    pub cpus: Vec<u32>,
    /// Ports to bind, with source addresses in the plan: where there are places, of who asks beside the load.
    pub ports: SourcePorts,
    /// Where load threads are, in turn; with none they are where the process is.
    pub places: Vec<LoadNamespace>,
    /// What of the kernel may be used.
    pub features: Features,
    /// Our side of TLS, of a plan that speaks it.
    pub tls: Option<Arc<TlsClient>>,
    /// The plan's scenarios, compiled.
    pub journeys: Journeys,
}

/// How connections leave this host.
#[derive(Clone)]
pub(crate) struct OutboundConfig {
    /// Ports to bind, with source addresses in the plan.
    pub(crate) ports: SourcePorts,
    /// What of the kernel may be used.
    pub(crate) features: Features,
    /// Our side of TLS, of a plan that speaks it.
    pub(crate) tls: Option<Arc<TlsClient>>,
}

impl LoadConfig {
    /// How connections leave this host.
    pub(crate) fn way(&self) -> OutboundConfig {
        OutboundConfig { ports: self.ports.clone(), features: self.features, tls: self.tls.clone() }
    }

    /// Everything a kernel may have, no TLS, no port of our own choice, no data: for tests and benches.
    ///
    /// # Errors
    /// Where a scenario cannot be compiled.
    pub fn plain(plan: &Plan) -> Result<Self, UserError> {
        Ok(Self {
            cpus: Vec::new(),
            ports: SourcePorts::new(&Ports::default(), 0),
            places: Vec::new(),
            features: Features::all(),
            tls: None,
            journeys: Journeys::new(plan, Vec::new())?,
        })
    }
}
