//! [`HeldConnections`]: idle connections that occupy a share of one source's ports, in the order in
//! which the kernel assigns ports.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, Result};

use crate::namespace::Namespace;

/// Ports of one window, which is the most that the kernel's search passes over.
const WINDOW: u16 = 256;

/// Connections that are open but unused.
pub(crate) struct HeldConnections {
    connections: Vec<TcpStream>,
}

impl HeldConnections {
    /// Connects from the one default source to `address` until `share` of the namespace's ports is
    /// in use.
    ///
    /// The kernel first assigns the ports of one parity. Once they are used up, it passes over all
    /// of them for each port of the other parity. The second half is therefore filled through a
    /// narrow window. The window selects the same ports, but saves hours of searching. The port
    /// range is restored at the end.
    pub(crate) fn up_to(share: f64, namespace: &Namespace, address: SocketAddr) -> Result<Self> {
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

    pub(crate) fn len(&self) -> usize {
        self.connections.len()
    }

    /// Connects `count` times, or fewer if the ports run out.
    fn connect(&mut self, count: usize, address: SocketAddr) -> Result<()> {
        for _ in 0..count {
            match TcpStream::connect(address) {
                Ok(stream) => self.connections.push(stream),
                // Earlier requests for the target's count still occupy a port or two.
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
