//! Balancers in the kernel, on paper: who owns which slot of a hash table, who of the servers is alive, and the texts for
//! `nft` and keepalived that make it so. Whoever carries this out only runs programs and asks servers whether they live.

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
