//! Whether a plan fits a host: files, source tuples, memory, threads and entries of kernel tables.
//!
//! Pure arithmetic over [`HostFacts`](crate::HostFacts). A [shortfall](shortfalls) makes
//! connections fail, so nothing is sent with one.

mod capacity;
mod engine;
mod file_budget;
mod footprint;
mod host_capacity;
mod host_fit;
mod host_limits;
mod kernel_tables;
mod peak;
mod port_search;
mod server_capacity;
mod shortfall;
mod shortfalls;

pub use capacity::ConnectionDemand;
pub use engine::{Engine, choose as choose_engine};
pub use file_budget::{FileBudget, RINGS_PER_THREAD_MAX, SOCKETS_PER_RING_MAX, SocketLayout};
pub use footprint::{ConnectionEnd, MemoryModel, PAGE_BYTES, TIME_WAIT_BYTES, Transport, plannable_bytes};
pub use host_capacity::{HostCapacity, ThreadLayout};
pub use host_fit::{AutomaticChoices, adapt_to_host, lacking_for_share};
pub use host_limits::{BACKLOG_ASKED, BURST, HostLimits, TIME_WAIT};
pub use kernel_tables::{connection_table_risk, receive_memory_risk};
pub use peak::Peak;
pub use port_search::port_search_note;
pub use server_capacity::{SPREAD, ServerCapacity};
pub use shortfalls::shortfalls;
