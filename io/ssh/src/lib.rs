//! Commands on many hosts at the same time, over the system's own ssh.
//!
//! [`run_on_hosts`] starts an `ssh` process for each host, a limited number at a time, and reports
//! what they write and how they end. The user's ssh configuration applies: keys, jump hosts,
//! aliases. No password is asked for.

mod command;
mod end;
mod host_process;
mod lines;
mod pool;

pub use command::{RemoteCommand, SshOptions};
pub use end::HostEnd;
pub use pool::{HostEvent, HostRun, run_on_hosts};
