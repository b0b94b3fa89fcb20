//! Load threads: shared-nothing, one event loop each, arrays instead of objects.
//!
//! - [`pacer`] computes when something is due.
//! - [`users`] decides which virtual user continues next.
//! - [`sessions`] holds the position of each session in its journey.
//! - [`exchange`] handles one request in flight.
//! - [`connections`] handles slots, the pool and the protocol.
//! - The driver moves bytes.
//!
//! [`worker`] owns all of them, runs the loop and passes values between them. Only the last three
//! call each other, downwards. [`threads`] is the public interface. Nothing here decides what a
//! result means.
//!
//! In addition to the load, [`single_user`] walks one user through a journey and waits for every
//! response. It serves the steps before and after a run, the probe, and `wavetank try`.

mod budget;
mod collector;
mod completed;
mod conn_io;
mod conn_slot;
mod connection_demand;
mod connections;
mod exchange;
mod exchange_buffers;
mod failure;
mod inbox;
mod load_config;
mod load_namespace;
mod logs;
mod machine;
mod messages;
mod new_share;
mod offered;
mod outbox;
mod pacer;
mod pool;
mod preconnect;
mod preface;
mod probe;
mod reconnect;
mod recorder;
mod rendezvous;
mod rendezvous_waiters;
mod request_flags;
mod request_queue;
mod requests;
mod samples;
mod sessions;
mod single_user;
mod slab;
mod sleeper;
mod slot_allocator;
mod sources;
mod thread_limits;
mod threads;
mod upgrade_request;
mod users;
mod worker;

pub use collector::{Collector, HostInterval};
pub use load_config::LoadConfig;
pub use load_namespace::LoadNamespace;
pub use messages::{Command, EndOfRun, LogLine, Message, RequestTimes, Sample, SealedInterval, SlowSample};
pub use new_share::NewShare;
pub use probe::{Probe, ProbeAnswer, ProbeFailure, ProbeRepeats};
pub use rendezvous::{FleetQuorum, FleetRelease, PhaseCount, WaitingUsers};
pub use single_user::{
    EarlyEnd, FullResponse, Handshake, Opened, RequestCause, RequestFailure, SentRequest, SingleUser,
    SingleUserLimits, StepFailure, TraceEvent, WalkResult,
};
pub use sources::SourcePorts;
pub use threads::{LoadThreads, run_here};
