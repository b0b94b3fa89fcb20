//! [`LoadConfig`]: the resources of a host that the load may use, and how to use them.

use std::sync::Arc;

use wavetank_driver::{Features, TlsClient};
use wavetank_journey::Journeys;
use wavetank_plan::Plan;
use wavetank_units::{Ports, UserError};

use crate::load_namespace::LoadNamespace;
use crate::sources::SourcePorts;

/// The configuration of load threads, in addition to their plan.
#[derive(Clone)]
pub struct LoadConfig {
    /// One CPU for each thread. With any other number, the kernel places the threads.
    pub cpus: Vec<u32>,
    /// Ports to bind if the plan has source addresses. With namespaces, this applies only to
    /// requests outside the load.
    pub ports: SourcePorts,
    /// The namespaces of load threads, in turn. If empty, the threads run in the namespace of the
    /// process.
    pub namespaces: Vec<LoadNamespace>,
    /// The kernel features that may be used.
    pub features: Features,
    /// The TLS client, if the plan uses TLS.
    pub tls: Option<Arc<TlsClient>>,
    /// The plan's scenarios, compiled.
    pub journeys: Journeys,
}

/// How connections leave this host.
#[derive(Clone)]
pub(crate) struct OutboundConfig {
    /// Ports to bind if the plan has source addresses.
    pub(crate) ports: SourcePorts,
    /// The kernel features that may be used.
    pub(crate) features: Features,
    /// The TLS client, if TLS is used.
    pub(crate) tls: Option<Arc<TlsClient>>,
}

impl LoadConfig {
    /// Returns how connections leave this host.
    pub(crate) fn outbound(&self) -> OutboundConfig {
        OutboundConfig { ports: self.ports.clone(), features: self.features, tls: self.tls.clone() }
    }

    /// The configuration for tests and benches: all kernel features, no TLS, no chosen ports, no
    /// data.
    ///
    /// # Errors
    /// If a scenario cannot be compiled.
    pub fn plain(plan: &Plan) -> Result<Self, UserError> {
        Ok(Self {
            cpus: Vec::new(),
            ports: SourcePorts::new(&Ports::default(), 0),
            namespaces: Vec::new(),
            features: Features::all(),
            tls: None,
            journeys: Journeys::new(plan, Vec::new())?,
        })
    }
}
