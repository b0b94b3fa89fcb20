//! Commands on many hosts at the same time, over the system's own ssh.
//!
//! [`run_on_hosts`] starts an `ssh` process for each host, a limited number at a time, and reports
//! what they write and how they end. [`run_host_commands`] has a command for each host, which may
//! read a file. [`SshOptions::attached`] is a process for one that exchanges messages. The user's
//! ssh configuration applies: keys, jump hosts, aliases. No password is asked for.

mod command;
mod end;
mod host_process;
mod lines;
mod pool;

pub use command::{InputFile, RemoteCommand, SshOptions};
pub use end::HostEnd;
pub use pool::{HostEvent, HostRun, run_host_commands, run_on_hosts};
