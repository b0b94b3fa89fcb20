//! [`ServerCapacity`]: the resources of this host for a server that holds many connections.

use wavetank_units::UserError;
use wavetank_units::quantity::format_grouped;

use super::capacity::no_memory;
use super::footprint::{Transport, available_for};
use super::shortfall::Shortfall;
use super::shortfalls::{conntrack_shortfall, locked_memory_shortfall, threads};
use super::{
    BACKLOG_ASKED, ConnectionEnd, FileBudget, MemoryModel, SocketLayout, connection_table_risk,
    plannable_bytes, receive_memory_risk,
};
use crate::{EngineChoice, HostFacts};

/// Connections are distributed over threads randomly, so one part in `SPREAD` is added as headroom
/// for threads with more than their share. Of a million connections on 50 threads, a thread's share
/// is 20,000. In practice the real number differs by less than 1,000.
pub const SPREAD: u64 = 20;
/// The option that asks for connections.
const CONNECTIONS: &str = "--connections";
/// Number of connections from which clients are assumed to open them at a high rate.
const MANY: u64 = 50_000;

/// The resources of this host for a server. Pure arithmetic over [`HostFacts`], with the same model
/// of memory and files as for a plan.
#[derive(Clone, Copy, Debug)]
pub struct ServerCapacity<'a> {
    host: &'a HostFacts,
    engine: EngineChoice,
    budget: FileBudget,
    footprint: MemoryModel,
    /// Ends of each connection that are on this host.
    ends: u64,
}

impl<'a> ServerCapacity<'a> {
    /// Computes the capacity for `threads` threads on a resolved engine, with or without TLS.
    /// `None` means one thread per CPU, and more where descriptor tables require them. With
    /// `both_ends` the clients are on this host, too.
    pub fn new(
        host: &'a HostFacts,
        engine: EngineChoice,
        threads: Option<u32>,
        both_ends: bool,
        tls: bool,
    ) -> Self {
        let cpus = u32::try_from(host.cpus.len()).unwrap_or(1).max(1);
        let budget = FileBudget::new(host, engine, threads.unwrap_or(cpus), threads.is_some(), both_ends);
        let footprint = MemoryModel::for_end(ConnectionEnd::Target, engine, Transport::tcp(tls));
        Self { host, engine, budget, footprint, ends: if both_ends { 2 } else { 1 } }
    }

    /// Returns how many threads and which descriptor tables hold `connections`.
    ///
    /// # Errors
    /// Everything that this host lacks for them (exit 5), combined into one error, each part with a
    /// hint.
    pub fn holding(&self, connections: u64) -> Result<SocketLayout, UserError> {
        let with_room = connections.saturating_add(connections / SPREAD);
        let holding = self.budget.holding(with_room);
        let host = self.host;
        let rings = self.budget.rings(with_room);
        let lacks = [
            self.files(connections, with_room),
            self.memory(connections),
            // Clients create their rings when they start.
            (self.engine == EngineChoice::Uring)
                .then(|| locked_memory_shortfall(host, rings, 1))
                .flatten()
                .map(Shortfall::from),
            threads(host, holding.threads, "threads of the server").map(Shortfall::from),
            conntrack_shortfall(host, connections),
        ];
        let reported = Shortfall::into_user_errors(lacks.into_iter().flatten().collect(), CONNECTIONS);
        UserError::combine(reported).map_or(Ok(holding), Err)
    }

    /// Returns notes about limits that are low for `connections` without making them fail, one line
    /// each, with a hint.
    pub fn notes(&self, connections: u64) -> Vec<String> {
        let sockets = connections.saturating_mul(self.ends);
        let notes = [
            self.backlog(connections),
            receive_memory_risk(connections, self.host),
            connection_table_risk(sockets, self.host),
        ];
        notes.into_iter().flatten().collect()
    }

    fn files(&self, connections: u64, with_room: u64) -> Option<Shortfall> {
        let most = self.budget.max_sockets();
        (with_room > most).then(|| {
            // The number of connections that fit including their headroom.
            let fitting = (u128::from(most) * u128::from(SPREAD) / u128::from(SPREAD + 1)) as u64;
            Shortfall::exceeding(fitting, self.budget.refusal(connections, with_room))
        })
    }

    /// Checks the memory of the target's end alone. A client on this host checks its own end.
    fn memory(&self, connections: u64) -> Option<Shortfall> {
        let available = self.host.memory_available_bytes;
        let each = self.footprint.idle();
        let bytes = connections.saturating_mul(each);
        (bytes > plannable_bytes(available)).then(|| {
            let fitting = plannable_bytes(available) / each;
            Shortfall::exceeding(fitting, no_memory(connections, available_for(bytes), fitting, self.host))
        })
    }

    /// Warns about a short accept queue. A client that finds it full gets no reply, and tries again
    /// after a second.
    fn backlog(&self, connections: u64) -> Option<String> {
        let most = self.host.limits.backlog_max?;
        (connections >= MANY && most < BACKLOG_ASKED).then(|| {
            format!(
                "{} connections may wait to be accepted: opened at 25,000/s, a thread that is kept from its CPU for \
                 {} ms makes clients try again after 1 s; as root, before the server starts: sysctl -w \
                 net.core.somaxconn={BACKLOG_ASKED}",
                format_grouped(most),
                most / 25
            )
        })
    }
}
