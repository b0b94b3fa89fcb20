//! In-kernel balancers as pure functions. They compute the owner of each slot of a hash table, the
//! servers that are alive, and the texts for `nft` and keepalived. The caller only runs programs
//! and checks the servers.

mod direct;
mod family;
mod ipvs;
mod maglev;
mod nat;
mod nft_balancer;
mod pool;
mod ruleset;

pub use ipvs::{KEEPALIVED_CONFIG, keepalived};
pub use maglev::Maglev;
pub use nft_balancer::NftBalancer;
pub use pool::{Pool, PoolChange};
