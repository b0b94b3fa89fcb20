//! Sockets, readiness and the clock: the only crate with `unsafe` code, and the only reader of the clock.
//!
//! A [`Driver`] turns readiness into [`Event`]s and takes commands (connect, send, close) in return. It
//! knows no protocol but TLS, no pacing and no plan: connections are numbers to it. Its caller is one thread,
//! which owns it whole.
#![expect(unsafe_code, reason = "the one crate that talks to the kernel directly")]

mod clock;
mod driver;
mod epoll;
mod errno;
mod features;
mod found;
mod network_namespace;
mod own_files;
mod own_process;
mod signals;
mod socket;
mod sockets;
mod thread;
mod tls;
mod token;
mod unsent;
mod uring;
mod waker;
mod workers;

pub use clock::{Clock, WallClock, thread_cpu_ns};
pub use driver::{ConnId, Dial, DialTls, Driver, Ended, Ends, Event, ListenerId, Sent, Setup};
pub use epoll::Epoll;
pub use errno::Errno;
pub use features::{Feature, Features};
pub use found::Found;
pub use network_namespace::NetworkNamespace;
pub use own_process::Crash;
pub use signals::Signals;
pub use socket::bind_probe;
pub use thread::{fine_timers, pin_to};
pub use tls::{Alpn, Secured, Tls, TlsClient, TlsProblem, TlsServer};
pub use uring::{Uring, UringFacts, UringMissing, probe_uring};
pub use waker::Waker;
pub use wavetank_plan::TlsServerOptions;
pub use workers::{Start, StartFault, Started, spawn, spawn_in};
