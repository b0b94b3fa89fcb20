//! [`NftBalancer`]: a balancer made of kernel rules, as texts for `nft`.

use super::{Pool, direct, nat};
use crate::{Backend, BackendCheck, DirectRouting, Host, Nat, Rendered, Service, ServiceKind};

/// Direct routing or NAT, as texts for a process that runs `nft`. There are three texts:
/// [`rules`](Self::rules) once, [`slots`](Self::slots) after each change of the pool, and
/// [`removal`](Self::removal) at the end.
#[derive(Clone, Copy, Debug)]
pub struct NftBalancer<'l> {
    service: &'l Service,
    balancer: &'l Host,
    how: How<'l>,
}

#[derive(Clone, Copy, Debug)]
enum How<'l> {
    Direct(&'l DirectRouting),
    Nat(&'l Nat),
}

impl<'l> NftBalancer<'l> {
    /// Returns the rules for `service` of `balancer`, or `None` if the service is of another kind.
    pub fn for_service(service: &'l Service, balancer: &'l Host) -> Option<Self> {
        let how = match &service.kind {
            ServiceKind::DirectRouting(direct) => How::Direct(direct),
            ServiceKind::Nat(nat) => How::Nat(nat),
            _ => return None,
        };
        Some(Self { service, balancer, how })
    }

    /// Returns the rules, for a file named after the service. No slot has a server yet, so clients
    /// are refused.
    pub fn rules(&self) -> Rendered {
        let path = format!("{}.nft", self.service.name);
        match self.how {
            How::Direct(direct) => direct::rules(self.service, direct, self.balancer, path),
            How::Nat(nat) => nat::rules(self.service, nat, path),
        }
    }

    /// Returns the text that assigns all slots to the servers in one step, by the weights of
    /// [`Pool::weights`].
    pub fn slots(&self, weights: &[u32]) -> String {
        match self.how {
            How::Direct(direct) => direct::slots(self.service, direct, weights),
            How::Nat(nat) => nat::slots(self.service, nat, weights),
        }
    }

    /// Returns the text that removes the rules. Afterwards clients are refused.
    pub fn removal(&self) -> String {
        format!("delete table {}\n", self.table())
    }

    /// Returns the family and name of its table in `nft`: `netdev wavetank_web`.
    pub fn table(&self) -> String {
        match self.how {
            How::Direct(_) => direct::table(self.service),
            How::Nat(nat) => nat::table(self.service, nat),
        }
    }

    /// Returns the map of its table that remembers connections. It leads to the mark of the server,
    /// which is its number in [`servers`](Self::servers), from 1. `None`: the kernel's connection
    /// tracking remembers them.
    pub fn flows(&self) -> Option<&'static str> {
        match self.how {
            How::Direct(_) => Some(direct::FLOWS),
            How::Nat(_) => None,
        }
    }

    /// Returns the servers that get its connections.
    pub fn servers(&self) -> &'l [Backend] {
        match self.how {
            How::Direct(direct) => &direct.servers,
            How::Nat(nat) => &nat.servers,
        }
    }

    /// Returns the health check of the servers, or `None` if they are not checked.
    pub fn check(&self) -> Option<&'l BackendCheck> {
        match self.how {
            How::Direct(direct) => direct.check.as_ref(),
            How::Nat(nat) => nat.check.as_ref(),
        }
    }

    /// Returns the pool of all servers, each alive.
    pub fn pool(&self) -> Pool {
        let (fall, rise) = self.check().map_or((1, 1), |check| (check.fall, check.rise));
        Pool::new(self.servers().iter().map(|server| server.weight), fall, rise)
    }
}
