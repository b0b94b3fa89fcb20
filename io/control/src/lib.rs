//! Control of a running run from other processes of its user: status, stop, another load.
//!
//! A run listens on a Unix socket with its id in the user's [`RunFolder`] ([`ControlServer`]).
//! Other processes list the runs there, send a [`ControlRequest`] to one, or watch it ([`client`]).
//! A connection carries one request as a JSON line. The reply is a line, or for
//! [`ControlRequest::Watch`] a line for each sealed second; see `docs/formats/control.md`.
//!
//! The run's controller takes requests when it looks for them. It never waits for a client, which
//! misses lines if it does not read. Load threads know nothing of it.

#[cfg(target_os = "linux")]
pub mod client;
#[cfg(target_os = "linux")]
mod folder;
#[cfg(target_os = "linux")]
mod messages;
#[cfg(target_os = "linux")]
mod server;

#[cfg(target_os = "linux")]
pub use folder::RunFolder;
#[cfg(target_os = "linux")]
pub use messages::{ControlReply, ControlRequest};
#[cfg(target_os = "linux")]
pub use server::{ControlServer, PendingRequest};
