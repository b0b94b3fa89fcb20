//! Health probes of services, and balancers' health checks of their servers.

use wavetank_grammar::Node;
use wavetank_units::{Code, Nanos};

use super::{Reader, Reported, TreeReader as _};
use crate::grammar::MapName;
use crate::{BackendCheck, Health, Probe};

/// Default interval between two probes, and default time limit of a service's start.
const EVERY: Nanos = Nanos::from_millis(50);
const WITHIN: Nanos = Nanos::from_secs(10);
/// Maximum number of consecutive checks, failed or successful.
const IN_A_ROW_MAX: u32 = 100;

impl Reader<'_> {
    /// Reads the probe of a service that listens on `ports`. Without a port the service only has to
    /// be alive.
    pub(super) fn health(&mut self, node: Option<&Node>, ports: &[u16]) -> Option<Health> {
        let first = ports.first().copied();
        let plain = first.map_or(Probe::Alive, |port| Probe::Tcp { port });
        let Some(node) = node else { return Some(Health { probe: plain, every: EVERY, within: WITHIN }) };
        let mut keys = self.open(node, MapName::Health)?;
        let path = keys.take("http").map(|node| self.http_path(node));
        let port = keys.take("port").map(|node| self.port(node));
        let every = keys.take("every").map_or(Some(EVERY), |node| self.positive_duration(node));
        let within = keys.take("within").map_or(Some(WITHIN), |node| self.positive_duration(node));
        let place = keys.place;
        keys.finish();
        let port = port.map_or(Some(first), |port| port.map(|port| Some(port.value)))?;
        let probe = match (path, port) {
            (Some(path), Some(port)) => Probe::Http { port, path: path? },
            (Some(_), None) => {
                let message = "a health check needs a port";
                return self.fail(
                    Code::LabKeyConflict,
                    place,
                    message,
                    "health: {port: 8080, http: /}, or listen: 8080",
                );
            }
            (None, Some(port)) => Probe::Tcp { port },
            (None, None) => Probe::Alive,
        };
        Some(Health { probe, every: every?, within: within? })
    }

    /// Reads a balancer's check. `false` means no check, and a missing value means the default.
    pub(super) fn check(&mut self, node: Option<&Node>) -> Result<Option<BackendCheck>, Reported> {
        let usual = BackendCheck::default();
        let Some(node) = node else { return Ok(Some(usual)) };
        if Self::is_false(node) {
            return Ok(None);
        }
        let mut keys = self.open(node, MapName::Check).ok_or(Reported)?;
        let path = keys.take("http").map(|node| self.http_path(node));
        let every = keys.take("every").map_or(Some(usual.every), |node| self.positive_duration(node));
        let timeout = keys.take("timeout").map_or(Some(usual.timeout), |node| self.positive_duration(node));
        let mut in_a_row = |reader: &mut Self, key: &'static str, usual: u32| {
            keys.take(key).map_or(Some(usual), |node| {
                reader.count_up_to(node, IN_A_ROW_MAX, "checks").map(|few| few.value)
            })
        };
        let (fall, rise) = (in_a_row(self, "fall", usual.fall), in_a_row(self, "rise", usual.rise));
        keys.finish();
        let path = path.map_or(Some(None), |path| path.map(Some));
        let read =
            || Some(BackendCheck { path: path?, every: every?, timeout: timeout?, fall: fall?, rise: rise? });
        read().map(Some).ok_or(Reported)
    }
}
