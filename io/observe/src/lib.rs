//! Facts about this host and this process, read from the kernel. During a run the crate samples
//! them each second, along with the target's own count.
//!
//! Parsers take text and can be tested anywhere; the readers around them are thin. This crate
//! measures nothing that a load thread does. It must not be called from a load thread, because it
//! opens files. A fact that cannot be read gets the kernel's default, because a missing `/proc`
//! must not prevent a small load.

mod accept_queues;
mod cgroup;
mod connection_info;
mod connection_schedule;
mod connection_table;
mod counter_files;
mod cpu_core;
mod cpu_times;
mod file_limit;
mod group_counts;
mod host_facts;
mod host_limits;
mod host_sample;
mod host_watch;
mod link_speeds;
mod listeners;
mod machine_counters;
mod net_files;
mod network;
mod process_files;
mod process_tree;
mod process_usage;
mod read;
mod remote_sample;
mod route_sources;
mod sampler;
mod sending_threads;
mod shell_sample;
mod sibling_cores;
mod slab_memory;
mod source_ports;
mod target_count;
mod target_pollers;
mod this_host;

pub mod counter_text;
pub mod parse;
pub mod sockstat;

pub use cgroup::CpuThrottling;
pub use cpu_core::core_of;
pub use cpu_times::CpuTimes;
pub use file_limit::raise_file_limit;
pub use host_facts::host_facts;
pub use host_sample::host_sample;
pub use host_watch::{HostQuota, HostSampler};
pub use listeners::{interface_index, loopback_families};
pub use process_usage::{ProcessUsage, process_usage, written_bytes};
pub use remote_sample::{RemoteSampler, remote_sampler};
pub use route_sources::route_sources;
pub use sampler::{Observation, SampledHosts, Sampler, ThisHost};
pub use shell_sample::{HostActivity, SAMPLE_END, SHELL_SAMPLER, ShellSample};
pub use slab_memory::slab_bytes;
pub use target_count::{PollResult, TargetPoller};
pub use target_pollers::TargetPollers;
pub use this_host::ThisHostSampler;
