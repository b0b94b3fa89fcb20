//! [`CounterFiles`]: reads the counters of a host from files of `/proc`, and what rose since the
//! last reading.

use std::path::{Path, PathBuf};

use wavetank_measure::{HostCounters, LinkSample};

use crate::counter_text::{self, Counters};
use crate::machine_counters::MachineCounters;
use crate::network::in_network_of;
use crate::{read, source_ports};

const SOMAXCONN: &str = "/proc/sys/net/core/somaxconn";

/// The files of a network namespace, and the counters at the last reading.
#[derive(Clone, Debug)]
pub(crate) struct CounterFiles {
    folder: PathBuf,
    before: Option<Counters>,
    /// What the machine counts as a whole; `None` for a lab host, which shares it with others.
    machine: Option<MachineCounters>,
    /// Number of ports that the kernel may choose from for a connection.
    local_ports: u64,
    /// The longest accept queue that the kernel allows (`net.core.somaxconn`); 0 if unknown.
    somaxconn: u64,
}

impl CounterFiles {
    /// Returns those of process `pid`. A separate thread enters its namespace now, to read
    /// settings.
    pub(crate) fn for_pid(pid: u32) -> Self {
        let settings = || Some((source_ports::port_range(), read::number(SOMAXCONN)));
        let (range, somaxconn) = in_network_of(pid, settings).unzip();
        let local_ports = range.map_or(0, |(first, last)| u64::from(last.saturating_sub(first)) + 1);
        Self {
            folder: Path::new("/proc").join(pid.to_string()).join("net"),
            before: None,
            machine: None,
            local_ports,
            somaxconn: somaxconn.flatten().unwrap_or(0),
        }
    }

    /// The same with what the machine counts as a whole: CPUs, memory, pressure, packets that no
    /// CPU took.
    pub(crate) fn with_machine(self) -> Self {
        Self { machine: Some(MachineCounters::default()), ..self }
    }

    /// Number of ports that the kernel may choose from for a connection.
    pub(crate) const fn local_ports(&self) -> u64 {
        self.local_ports
    }

    /// Returns what rose since the last call; nothing in the first. `quota` is the text of the
    /// control group's `cpu.stat`, `rates` are the rates of interfaces with a known one.
    pub(crate) fn sample(&mut self, quota: Option<&str>, rates: &[(String, u64)]) -> HostCounters {
        let text = |name: &str| read::text(self.folder.join(name)).unwrap_or_default();
        let mut now = Counters::new();
        counter_text::add_protocols(&text("snmp"), &mut now);
        counter_text::add_protocols(&text("netstat"), &mut now);
        counter_text::add_interfaces(&text("dev"), &mut now);
        let tracking = text("stat/nf_conntrack");
        counter_text::add_conntrack(&tracking, &mut now);
        if let Some(quota) = quota {
            counter_text::add_quota(quota, &mut now);
        }
        if let Some(machine) = &mut self.machine {
            machine.add_own(&mut now);
        }
        let link = |(interface, bits_per_s): &(String, u64)| {
            let bytes = |column: &str| now.get(&format!("dev.{interface}.{column}")).copied();
            let (in_bytes, out_bytes) = (bytes("rx_bytes")?, bytes("tx_bytes")?);
            Some(LinkSample { interface: interface.clone(), bits_per_s: *bits_per_s, in_bytes, out_bytes })
        };
        let links = rates.iter().filter_map(link).collect();
        counter_text::remove_traffic(&mut now);
        let rises = self.before.as_ref().map(|before| counter_text::rises(&now, before)).unwrap_or_default();
        self.before = Some(now);
        // Of a whole machine, other files have them together with their limit.
        let tracked = || counter_text::tracked_connections(&tracking).unwrap_or(0);
        let tracked = if self.machine.is_some() { 0 } else { tracked() };
        let levels = [("conntrack.used", tracked), ("somaxconn", self.somaxconn)];
        let levels = levels.into_iter().filter(|(_, value)| *value > 0);
        let levels = levels.map(|(name, value)| (name.to_owned(), value)).collect();
        HostCounters { rises, levels, links, ..HostCounters::default() }
    }
}
