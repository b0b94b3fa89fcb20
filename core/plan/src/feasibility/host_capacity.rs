//! [`HostCapacity`]: what this host has for a plan's connections.

use std::net::SocketAddr;

use wavetank_units::quantity::format_grouped;
use wavetank_units::{Code, SourceRange, UserError};

use super::FileBudget;
use super::capacity::{self, Capacity, ConnectionDemand};
use super::footprint::{MemoryModel, Transport, USER_BYTES};
use super::shortfall::Shortfall;
use crate::{EngineChoice, FileTables, HostFacts, MaxOpenLimit, SettingNames};

/// More threads than any host has CPUs; above it a typing error is likelier.
const THREADS_MAX: u32 = 4_096;

/// The resources of this host: files, source tuples, memory and threads.
#[derive(Clone, Copy, Debug)]
pub struct HostCapacity<'a> {
    host: &'a HostFacts,
    sources: &'a [SourceRange],
    targets: &'a [SocketAddr],
    capacity: Capacity,
    /// Threads there are at most if files do not ask for more.
    threads_most: u32,
    /// Their number was asked for.
    threads_fixed: bool,
}

/// How a number of connections is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLayout {
    /// Threads that files ask for at least.
    pub threads: u32,
    /// Which file descriptor table each thread fills.
    pub files: FileTables,
    /// Why there are more threads than expected.
    pub remark: Option<String>,
}

impl<'a> HostCapacity<'a> {
    /// Computes the capacity for connections from `sources` (empty: the kernel's choice) to
    /// `targets`, with or without TLS, on a resolved engine. `threads` is the requested number of
    /// threads, if any.
    ///
    /// # Errors
    /// Too many threads, or fewer threads than hosts that send.
    pub fn new(
        host: &'a HostFacts,
        sources: &'a [SourceRange],
        targets: &'a [SocketAddr],
        engine: EngineChoice,
        threads: Option<u32>,
        transport: Transport,
    ) -> Result<Self, UserError> {
        // The same number on each host of a lab that sends, so that all send equally. Each agent of
        // a fleet has this number of threads by itself.
        let senders = if host.is_fleet() { 1 } else { host.load_host_count() };
        let usual = || u32::try_from(host.cpus.len()).unwrap_or(1).max(1).next_multiple_of(senders);
        let threads_most = threads.unwrap_or_else(usual);
        if threads_most < senders {
            let message =
                format!("--threads {threads_most} is fewer than the {senders} load hosts of the lab");
            let hint = format!("--threads {senders} or a multiple of it, or leave it out");
            return Err(UserError::usage(Code::Conflict, message, hint));
        }
        if threads_most > THREADS_MAX {
            let message = format!("--threads {threads_most} is out of range");
            return Err(UserError::usage(
                Code::Overflow,
                message,
                "one per CPU is the default and usually best",
            ));
        }
        let both_ends = host.is_target(targets);
        let files = FileBudget::new(host, engine, threads_most, threads.is_some(), both_ends);
        let capacity = Capacity::for_host(host, sources, targets, files, (engine, transport));
        Ok(Self { host, sources, targets, capacity, threads_most, threads_fixed: threads.is_some() })
    }

    /// Returns `wanted` waiting requests, or fewer if this host's memory is too small. They need no
    /// file and no source port.
    pub fn clamp_to_memory(&self, wanted: u64) -> (u64, MaxOpenLimit) {
        let waiting = Capacity { by_files: u64::MAX, by_sources: u64::MAX, ..self.capacity };
        waiting.clamp_to_host(wanted)
    }

    /// Returns `wanted` connections, or fewer if this host cannot hold them, and what limits the
    /// number. `users` is the number of users without a connection.
    pub fn limit_to_host(&self, wanted: u64, users: u64) -> (u64, MaxOpenLimit) {
        let left = self.capacity.memory_bytes.saturating_sub(users.saturating_mul(USER_BYTES));
        let by_memory = left / self.capacity.each.with_request_in_flight();
        Capacity { by_memory, ..self.capacity }.clamp_to_host(wanted)
    }

    /// The host.
    pub const fn host(&self) -> &'a HostFacts {
        self.host
    }

    /// Ends of each connection that are on this host: 1 or 2.
    pub fn ends(&self) -> u64 {
        if self.host.is_target(self.targets) { 2 } else { 1 }
    }

    /// Connections that there are files for.
    pub fn files(&self) -> u64 {
        self.capacity.files.max_sockets()
    }

    /// Returns the number of io\_uring rings that hold this number of connections.
    pub fn rings(&self, connections: u64) -> u64 {
        self.capacity.files.rings(connections)
    }

    /// Pairs of source address and port.
    pub const fn tuples(&self) -> u64 {
        self.capacity.by_sources
    }

    /// Memory that may be planned with, in bytes.
    pub const fn memory_bytes(&self) -> u64 {
        self.capacity.memory_bytes
    }

    /// Returns the memory that one connection takes of this host, at both ends if the target is on
    /// it.
    pub const fn footprint(&self) -> MemoryModel {
        self.capacity.each
    }

    /// Returns everything that is missing (exit 5) for `demand` and for `users` without a
    /// connection.
    pub(super) fn missing(
        &self,
        demand: ConnectionDemand,
        users: u64,
        names: SettingNames,
    ) -> Vec<Shortfall> {
        capacity::shortfalls((demand, users), self.capacity, self.host, self.sources, self.targets, names)
    }

    /// How `connections` are held.
    pub fn held(&self, connections: u64) -> ThreadLayout {
        let holding = self.capacity.files.holding(connections);
        let even =
            holding.threads.checked_next_multiple_of(self.host.load_host_count()).unwrap_or(holding.threads);
        let wanted = if self.threads_fixed { holding.threads } else { even };
        let threads = wanted.min(u32::try_from(connections).unwrap_or(u32::MAX)).max(1);
        let remark = (threads > self.threads_most).then(|| {
            format!(
                "{threads} load threads, because each has a table of files of its own and one holds {} (ulimit -n)",
                format_grouped(self.host.files_max)
            )
        });
        ThreadLayout { threads, files: holding.files, remark }
    }
}
