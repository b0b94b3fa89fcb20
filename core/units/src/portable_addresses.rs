//! Serializes lists of addresses without loss, for `#[serde(with = "…")]`.
//!
//! Serde's own form of an address loses the zone of IPv6. The number of a Unix socket has a meaning
//! in one process only, so its path is written instead.

use std::net::{Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::unix_socket::{has_room_for, unix_address, unix_host, unix_path};

/// An address as it is written.
#[derive(Serialize, Deserialize)]
enum PortableAddress {
    V4(SocketAddrV4),
    V6 {
        ip: Ipv6Addr,
        port: u16,
        flow_info: u32,
        scope_id: u32,
    },
    /// A Unix socket, by its path.
    Unix(String),
}

/// Writes `addresses`; a Unix socket is written as its path.
///
/// # Errors
/// Those of `serializer`.
pub fn serialize<S: Serializer>(addresses: &[SocketAddr], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(addresses.iter().map(|address| PortableAddress::from(*address)))
}

/// Reads what [`serialize`] wrote.
///
/// # Errors
/// Those of `deserializer`, paths that no Unix socket can have, and more paths than a process may
/// know.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SocketAddr>, D::Error> {
    let addresses = Vec::<PortableAddress>::deserialize(deserializer)?;
    addresses.into_iter().map(|address| address.on_this_host().map_err(D::Error::custom)).collect()
}

impl From<SocketAddr> for PortableAddress {
    fn from(address: SocketAddr) -> Self {
        match (address, unix_path(address)) {
            (_, Some(path)) => Self::Unix(path.to_owned()),
            (SocketAddr::V4(v4), _) => Self::V4(v4),
            (SocketAddr::V6(v6), _) => {
                Self::V6 { ip: *v6.ip(), port: v6.port(), flow_info: v6.flowinfo(), scope_id: v6.scope_id() }
            }
        }
    }
}

impl PortableAddress {
    fn on_this_host(self) -> Result<SocketAddr, String> {
        Ok(match self {
            Self::V4(v4) => v4.into(),
            Self::V6 { ip, port, flow_info, scope_id } => {
                SocketAddrV6::new(ip, port, flow_info, scope_id).into()
            }
            Self::Unix(path) => {
                let host = unix_host(&path).map_err(|error| error.message)?;
                if !has_room_for(&path) {
                    return Err("there are more Unix sockets than a process may know".to_owned());
                }
                unix_address(&host).ok_or("the path is none of a Unix socket")?
            }
        })
    }
}
