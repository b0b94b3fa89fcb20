//! [`NftBalancer`]: a balancer made of kernel rules, as texts for `nft`.

use super::{Pool, direct, nat};
use crate::{Backend, BackendCheck, DirectRouting, Host, Nat, Rendered, Service, ServiceKind};

/// Direct routing or NAT, as somebody with `nft` carries it out. Three texts make its life: [`rules`](Self::rules) once,
/// [`slots`](Self::slots) each time that the pool changes, [`removal`](Self::removal) at the end.
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
    /// The steering that `service` of `balancer` wants; `None` if it is another kind of service.
    pub fn for_service(service: &'l Service, balancer: &'l Host) -> Option<Self> {
        let how = match &service.kind {
            ServiceKind::DirectRouting(direct) => How::Direct(direct),
            ServiceKind::Nat(nat) => How::Nat(nat),
            _ => return None,
        };
        Some(Self { service, balancer, how })
    }

    /// The rules, for a file named after the service. No slot has a server yet, so that clients are refused.
    pub fn rules(&self) -> Rendered {
        let path = format!("{}.nft", self.service.name);
        match self.how {
            How::Direct(direct) => direct::rules(self.service, direct, self.balancer, path),
            How::Nat(nat) => nat::rules(self.service, nat, path),
        }
    }

    /// Gives all slots to the servers by their weights, those of [`Pool::weights`], in one step.
    pub fn slots(&self, weights: &[u32]) -> String {
        match self.how {
            How::Direct(direct) => direct::slots(self.service, direct, weights),
            How::Nat(nat) => nat::slots(self.service, nat, weights),
        }
    }

    /// Takes the rules away. Clients are refused from then on.
    pub fn removal(&self) -> String {
        format!("delete table {}\n", self.table())
    }

    /// The family and name of its table, by which `nft` knows it: `netdev wavetank_web`.
    pub fn table(&self) -> String {
        match self.how {
            How::Direct(_) => direct::table(self.service),
            How::Nat(nat) => nat::table(self.service, nat),
        }
    }

    /// The map of its table that remembers connections, to the mark of their servers: the server's place among
    /// [`servers`](Self::servers), from 1. `None`: the kernel's connection tracking remembers them.
    pub fn flows(&self) -> Option<&'static str> {
        match self.how {
            How::Direct(_) => Some(direct::FLOWS),
            How::Nat(_) => None,
        }
    }

    /// Whom it steers to.
    pub fn servers(&self) -> &'l [Backend] {
        match self.how {
            How::Direct(direct) => &direct.servers,
            How::Nat(nat) => &nat.servers,
        }
    }

    /// How it finds out who lives; `None`: nobody looks.
    pub fn check(&self) -> Option<&'l BackendCheck> {
        match self.how {
            How::Direct(direct) => direct.check.as_ref(),
            How::Nat(nat) => nat.check.as_ref(),
        }
    }

    /// All servers, alive.
    pub fn pool(&self) -> Pool {
        let (fall, rise) = self.check().map_or((1, 1), |check| (check.fall, check.rise));
        Pool::new(self.servers().iter().map(|server| server.weight), fall, rise)
    }
}
