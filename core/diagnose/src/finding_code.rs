//! [`FindingCode`]: the stable names of findings.

use std::fmt;

use wavetank_measure::ErrorClass;

/// Defines [`FindingCode`]. A macro, because the formatter would give each variant its own line.
macro_rules! codes {
    ($($name:ident,)*) => {
        /// What a finding is about. Its name in snake case, e.g. `accept_queue_full`, is stable for
        /// scripts. `core/report/src/explain/words/findings.txt` explains each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr)]
        #[strum(serialize_all = "snake_case")]
        #[expect(missing_docs, reason = "`wavetank explain` has a text for each, which a test ensures")]
        pub enum FindingCode {
            $($name,)*
            /// How requests failed. It has the name of the class.
            Class(ErrorClass),
        }

        impl FindingCode {
            /// All codes but those of error classes.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

codes! {
    // The generator: doubts, and what follows from them.
    Accounting, AgentsLost, Dropped, Full, Generator, GeneratorCpu, GeneratorFailures,
    GeneratorFull, GeneratorLag, Lag, Late, NeverBegan, Stalled, Starved, Steal, Throttled,
    // What the load shows.
    After, Before, DriftInFlight, DriftMemory, DriftP99, HeldBelowPlan, PoolLimit, SameAge,
    Standstill,
    // What hosts, networks and logs show.
    AbandonedRequests, AcceptQueueFull, AcceptQueueNear, BadChecksums, BalancerBypassed,
    BalancerMaxconn, BalancerQueue, BalancerTimeout, BodyTooLarge, BoundBeforeConnect,
    ClientTimeout, ClosedByHost, ConnectionTracking, ConntrackFull, CpuFull, CpuQuota, CpuSteal,
    CutByReload, DelayedAcks, DiskWait, FirewallDrops, FlowsForgotten, HealthFlapping, HostNoFiles, HostNoPorts,
    InterfaceDrops, LinkFull, ManyOrphans, NeighboursFull, NoLiveUpstreams, OneCpuFull,
    OneServerOnly, OutOfMemory, PacketLoss, PacketsDropped, PortsHalfUsed, ProxyHeaderMissing,
    RateLimited, ResponseRejected, ReversePathFilter, ServerErrors, SlowAccept, SlowResponses, SlowReader, SlowServer, SmtSiblings,
    SocketBacklog, SoftirqOneCpu, StuckWorker, Swapping, SynQueueFull, TcpMemory, TlsHandshakes, UdpBufferFull,
    UpstreamClosed, UpstreamRefused, UpstreamRetried, UpstreamTls, UpstreamUnreachable, UpstreamUnresolved,
    WorkerConnections,
}

impl FindingCode {
    /// The name for scripts, e.g. `accept_queue_full`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Class(class) => class.name(),
            own => own.into(),
        }
    }

    /// Returns how directly the evidence shows it: `high` if a log or a counter names exactly this,
    /// `medium` if several values agree while no counter or log names the cause, `low` for a hint:
    /// the load is uneven, or a limit is near.
    pub const fn confidence(self) -> &'static str {
        match self {
            Self::AbandonedRequests
            | Self::ClosedByHost
            | Self::ConnectionTracking
            | Self::CpuFull
            | Self::CpuSteal
            | Self::CutByReload
            | Self::DelayedAcks
            | Self::DiskWait
            | Self::DriftInFlight
            | Self::DriftMemory
            | Self::DriftP99
            | Self::FlowsForgotten
            | Self::GeneratorCpu
            | Self::ManyOrphans
            | Self::OneCpuFull
            | Self::PacketLoss
            | Self::ServerErrors
            | Self::SlowReader
            | Self::SlowResponses
            | Self::SlowServer
            | Self::SmtSiblings
            | Self::SocketBacklog
            | Self::Standstill
            | Self::StuckWorker => "medium",
            Self::AcceptQueueNear | Self::BalancerBypassed | Self::OneServerOnly | Self::PortsHalfUsed => {
                "low"
            }
            _ => "high",
        }
    }
}

impl fmt::Display for FindingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
