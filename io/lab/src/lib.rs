//! A whole cluster on one machine: hosts are namespaces, links are virtual, servers are real.
//!
//! **Everything of a lab dies with its processes.** Nothing is created in the machine's own
//! namespaces. A *keeper* process lives in a network namespace that is the lab's switch. Every host
//! of the lab is a *host* process, PID 1 of its own PID namespace, which the kernel kills when the
//! keeper dies. Namespaces, links, filter tables and mounts end with these processes. Only files
//! remain: the lab's folder and its control groups, which have the lab's [`LabTag`]. Namespaces are
//! entered by executing our own program again (`reexec`), since a process with several threads
//! cannot.

mod cleanup;
mod client;
mod config_check;
pub mod crash;
mod down;
mod enter_network;
mod exec;
pub mod fault;
mod file_error;
mod folder;
mod host;
mod host_handle;
mod host_process;
mod json_socket;
mod lab_spec;
mod lab_tag;
mod lock;
mod log_offsets;
mod logs;
mod namespaces;
pub mod net;
mod reexec;
mod refusals;
mod response;
mod routing;
pub mod service;
mod state;
mod status;
mod supervisor;
mod tagged_process;
mod up;

pub use client::Client;
pub use down::down;
pub use enter_network::enter_network;
pub use folder::{LabFolder, LabsFolder};
pub use host_handle::HostHandle;
pub use host_process::HostProcess;
pub use lab_spec::LabSpec;
pub use lab_tag::LabTag;
pub use log_offsets::{LogOffsets, LogPart, LogParts};
pub use logs::{LogFile, logs};
pub use reexec::run_internal_command;
pub use refusals::privileged;
pub use state::{HostState, LabState, Phase, is_kept, wait_for_end};
pub use status::{HostStatus, LabStatus, versioned};
pub use tagged_process::TaggedProcess;
pub use up::{check, check_events, up};
