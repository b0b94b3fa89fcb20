//! Measuring a network between two hosts, as logic without sockets: the messages of both ends, the
//! order of pairs, statistics, and what is wrong with a network.
//!
//! `wavetank net serve` and `wavetank net HOST` talk over one *control connection* in JSON lines
//! ([`ControlLine`]). Both prove that they have the same token ([`Token`]) without sending it. Data
//! travels over further connections, which the client opens. Each starts with a [`DataHeader`] that
//! only a holder of the session's key can make.

mod control_line;
mod data_header;
mod endpoint;
mod estimate;
mod findings;
mod message;
mod path_mtu;
mod schedule;
mod sizes;
mod summary;
mod test_kind;
mod throughput;
mod token;
mod udp_flow;

pub use control_line::{ControlLine, LINE_BYTES_MAX, LineError};
pub use data_header::{DataHeader, DataKind, HEADER_BYTES};
pub use endpoint::{DEFAULT_PORT, EndpointEvent, EndpointJob, MeasureJob};
pub use estimate::{pair_seconds, total_seconds};
pub use findings::{NetFindingCode, find_net_problems};
pub use message::{
    ClientHello, ClientProof, ClientRequest, FlowResult, Incompatible, PROTOCOL, ServerHello, ServerProof,
    ServerReply, UdpResult,
};
pub use path_mtu::{MtuProbe, MtuResult, MtuSearch};
pub use schedule::{HostPair, rounds};
pub use sizes::{half_bandwidth_bytes, sweep_bytes};
pub use summary::{latency_doc, tcp_doc, udp_doc};
pub use test_kind::{Direction, NetSettings, NetTest};
pub use throughput::ThroughputMeter;
pub use token::{SessionKey, Token, random_hex};
pub use udp_flow::{UDP_HEADER_BYTES, UdpFlow, UdpPacket};
