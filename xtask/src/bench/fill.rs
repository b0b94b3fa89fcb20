//! [`HeldConnections`]: idle connections that occupy a share of one source's ports, as the kernel gives them out.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, Result};

use super::namespace::Namespace;

/// Ports of one window: the kernel's search passes over at most so many.
const WINDOW: u16 = 256;

/// Connections that are only held.
pub(super) struct HeldConnections {
    connections: Vec<TcpStream>,
}

impl HeldConnections {
    /// Connects from the one default source to `address` until `share` of the namespace's ports is used.
    ///
    /// The kernel gives out the ports of the range's first parity and, once they are gone, passes over all of them for
    /// each port of the other. The second half is therefore filled through a narrow window: the same ports as without,
    /// without the hours of searching. The range is as before at the end.
    pub(super) fn up_to(share: f64, namespace: &Namespace, address: SocketAddr) -> Result<Self> {
        let (first, last) = namespace.port_range()?;
        let ports = usize::from(last - first) + 1;
        let wanted = (ports as f64 * share) as usize;
        let mut filled = Self { connections: Vec::with_capacity(wanted) };
        filled.connect(wanted.min(ports / 2), address)?;
        let mut from = first;
        while filled.len() < wanted {
            let to = last.min(from.saturating_add(WINDOW - 1));
            namespace.set("ip_local_port_range", &format!("{from} {to}"))?;
            let free = usize::from(to - from).div_ceil(2);
            filled.connect(free.min(wanted - filled.len()), address)?;
            from = to.checked_add(1).context("the ports are used up")?;
        }
        namespace.set("ip_local_port_range", &format!("{first} {last}"))?;
        Ok(filled)
    }

    pub(super) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Connects `count` times, fewer where the ports run out before.
    fn connect(&mut self, count: usize, address: SocketAddr) -> Result<()> {
        for _ in 0..count {
            match TcpStream::connect(address) {
                Ok(stream) => self.connections.push(stream),
                // A port or two are taken by whoever asked the target something.
                Err(error) if error.kind() == ErrorKind::AddrNotAvailable => break,
                Err(error) => {
                    let number = self.len() + 1;
                    return Err(error).with_context(|| format!("idle connection {number} to {address}"));
                }
            }
        }
        Ok(())
    }
}
