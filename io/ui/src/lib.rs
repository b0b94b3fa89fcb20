//! The web page `wavetank ui`: running and stored runs in a browser, and their control.
//!
//! The server knows the runs directory, the control sockets of running runs, and the program
//! itself. A load is started as `wavetank run FILE --detach`, and reports are the output of
//! `wavetank report`. So a run never depends on the page, and both show the same numbers.
//!
//! It listens on loopback only. A one-time token in the printed address opens a session
//! ([`UiServer::new_url`]). Requests that change anything need the session's cookie, a header that
//! no form can send, and the page's own `Origin`. There is no CORS, and host names other than
//! loopback are refused, so no other site can use the page.
//!
//! The async runtime runs in a thread of its own. No load thread is in this process.

#[cfg(target_os = "linux")]
mod access;
#[cfg(target_os = "linux")]
mod actions;
#[cfg(target_os = "linux")]
mod assets;
#[cfg(target_os = "linux")]
mod context;
#[cfg(target_os = "linux")]
mod experiments;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod history;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod problem;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod reports;
#[cfg(target_os = "linux")]
mod runs;
#[cfg(target_os = "linux")]
mod server;

#[cfg(target_os = "linux")]
pub use context::UiConfig;
#[cfg(target_os = "linux")]
pub use server::UiServer;
