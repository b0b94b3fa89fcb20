//! [`Namespace`]: a separate network, where ports may be few and connections of other programs do
//! not linger.

use crate::programs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use nix::sched::{CloneFlags, unshare};

/// Proof that the calling thread is in a network namespace that was made for it, and the paths of
/// its settings.
pub(crate) struct Namespace {
    /// IPv4 settings of the namespace of the thread that opens them.
    settings: &'static Path,
    /// Settings of all its sockets.
    core: &'static Path,
    /// Its network state.
    state: &'static Path,
}

/// The counts of `/proc/net/sockstat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SocketCounts {
    /// TCP sockets in use in this namespace. Both ends of a connection within it count.
    pub(crate) in_use: u64,
    /// Sockets of this namespace in TIME-WAIT.
    pub(crate) lingering: u64,
    /// TCP sockets that this machine keeps memory for, in all its namespaces.
    pub(crate) allocated: u64,
}

/// How many sockets are in TIME-WAIT, by the end that closed first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lingering {
    pub(crate) server: usize,
    pub(crate) client: usize,
}

/// Runs `work` in a fresh namespace with loopback only. Processes that it starts run there too. The
/// namespace ends with its last process.
pub(crate) fn inside<T: Send>(work: impl FnOnce(&Namespace) -> Result<T> + Send) -> Result<T> {
    let thread = || {
        // Only this thread moves to the new namespace.
        unshare(CloneFlags::CLONE_NEWNET).context("a network namespace needs root")?;
        let ip = programs::find("ip").context("ip is not installed")?;
        let mut command = Command::new(ip);
        let status = command.args(["link", "set", "lo", "up"]).stdin(Stdio::null()).status().context("ip")?;
        if !status.success() {
            bail!("`ip link set lo up` ended with {status}");
        }
        work(&Namespace {
            settings: Path::new("/proc/sys/net/ipv4"),
            core: Path::new("/proc/sys/net/core"),
            state: Path::new("/proc/thread-self/net"),
        })
    };
    std::thread::scope(|scope| scope.spawn(thread).join().map_err(|_| anyhow!("a bench panicked"))?)
}

/// Checks that a namespace can be made. The error contains the reason if not.
pub(crate) fn possible() -> Result<()> {
    inside(|_| Ok(()))
}

impl Namespace {
    /// Writes `/proc/sys/net/ipv4/NAME`, which applies to this namespace only.
    pub(crate) fn set(&self, name: &str, value: &str) -> Result<()> {
        std::fs::write(self.settings.join(name), value).with_context(|| format!("{name} = {value}"))
    }

    /// Returns the first and last port that the kernel assigns to connections.
    pub(crate) fn port_range(&self) -> Result<(u16, u16)> {
        let text = std::fs::read_to_string(self.settings.join("ip_local_port_range")).context("ports")?;
        let mut ports = text.split_whitespace().filter_map(|port| port.parse().ok());
        ports.next().zip(ports.next()).with_context(|| format!("ip_local_port_range: {text}"))
    }

    /// Raises the limit of connections that wait to be accepted to the maximum. A fresh namespace
    /// has 4,096.
    pub(crate) fn widen_backlog(&self) -> Result<()> {
        std::fs::write(self.core.join("somaxconn"), "65535").context("somaxconn = 65535")
    }

    /// Returns the TCP sockets in use. Both ends of a connection within the namespace count.
    pub(crate) fn sockets(&self) -> Result<u64> {
        self.socket_counts().map(|counts| counts.in_use)
    }

    /// Returns all counts of the kernel.
    pub(crate) fn socket_counts(&self) -> Result<SocketCounts> {
        let text = std::fs::read_to_string(self.state.join("sockstat")).context("sockstat")?;
        counts_in(&text).with_context(|| format!("sockstat: {text}"))
    }

    /// Returns the number of sockets with an address that starts with these bytes, including
    /// sockets in TIME-WAIT.
    pub(crate) fn sockets_of(&self, network: [u8; 2]) -> Result<u64> {
        let tcp = std::fs::read_to_string(self.state.join("tcp")).context("tcp")?;
        Ok(of_network(&tcp, network))
    }

    /// Returns the sockets in TIME-WAIT of connections to `port`. Such a socket stays at the end
    /// that closed first.
    pub(crate) fn lingering(&self, port: u16) -> Result<Lingering> {
        let tcp = std::fs::read_to_string(self.state.join("tcp")).context("tcp")?;
        Ok(lingering_in(&tcp, port))
    }
}

/// Reads the line `TCP: inuse 17 orphan 0 tw 3 alloc 1 mem 447`.
fn counts_in(sockstat: &str) -> Option<SocketCounts> {
    let line = sockstat.lines().find_map(|line| line.strip_prefix("TCP: "))?;
    let value = |name: &str| {
        let mut words = line.split(' ').skip_while(|&word| word != name);
        words.nth(1)?.parse().ok()
    };
    Some(SocketCounts { in_use: value("inuse")?, lingering: value("tw")?, allocated: value("alloc")? })
}

/// Counts the lines of `/proc/net/tcp` with such an address at either end. The file prints an
/// address as one number in the host's byte order. On little-endian hosts its first two bytes are
/// therefore the last two printed ones.
fn of_network(tcp: &str, [first, second]: [u8; 2]) -> u64 {
    let ending = if cfg!(target_endian = "little") {
        format!("{second:02X}{first:02X}")
    } else {
        format!("{first:02X}{second:02X}")
    };
    let is_of = |address: &str| {
        let number = address.split(':').next().unwrap_or_default();
        if cfg!(target_endian = "little") { number.ends_with(&ending) } else { number.starts_with(&ending) }
    };
    let lines = tcp.lines().skip(1);
    lines.filter(|line| line.split_whitespace().skip(1).take(2).any(is_of)).count() as u64
}

/// Counts the lines with state 06 in the fourth column. The second and third column are the local
/// and remote address, as `0100007F:1F90`.
fn lingering_in(tcp: &str, port: u16) -> Lingering {
    let mut found = Lingering::default();
    let port = format!(":{port:04X}");
    for line in tcp.lines() {
        let fields: Vec<&str> = line.split_whitespace().take(4).collect();
        if let [_, local, remote, "06"] = fields[..] {
            found.server += usize::from(local.ends_with(&port));
            found.client += usize::from(remote.ends_with(&port));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_counted() {
        let text = "sockets: used 32\nTCP: inuse 17 orphan 0 tw 3 alloc 1 mem 447\nUDP: inuse 0 mem 0\n";
        assert_eq!(counts_in(text), Some(SocketCounts { in_use: 17, lingering: 3, allocated: 1 }));
        assert_eq!(counts_in("sockets: used 32\n"), None);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn sockets_are_counted_by_their_network() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue\n\
                    \x20  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n\
                    \x20  1: 0100007F:1F90 0700017F:8000 06 00000000:00000000\n\
                    \x20  2: FFFF017F:8002 0100007F:1F90 01 00000000:00000000\n";
        assert_eq!(of_network(text, [127, 1]), 2);
        assert_eq!(of_network(text, [127, 0]), 3);
        assert_eq!(of_network(text, [10, 1]), 0);
    }

    #[test]
    fn lingering_sockets_report_who_closed() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue\n\
                    \x20  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n\
                    \x20  1: 0100007F:1F90 0100007F:8000 06 00000000:00000000\n\
                    \x20  2: 0100007F:1F90 0100007F:8002 06 00000000:00000000\n\
                    \x20  3: 0100007F:8004 0100007F:1F90 06 00000000:00000000\n\
                    \x20  4: 0100007F:8006 0100007F:1F90 01 00000000:00000000\n";
        assert_eq!(lingering_in(text, 8_080), Lingering { server: 2, client: 1 });
        assert_eq!(lingering_in(text, 81), Lingering::default());
    }
}
