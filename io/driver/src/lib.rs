//! Sockets, readiness and the clock: the only crate with `unsafe` code, and the only reader of the
//! clock.
//!
//! A [`Driver`] turns readiness into [`Event`]s and takes commands (connect, send, close) in
//! return. It knows no protocol except TLS, no pacing and no plan: connections are numbers to it.
//! Its caller is one thread, which owns it exclusively.
#![expect(unsafe_code, reason = "the one crate that talks to the kernel directly")]

mod clock;
mod clone_vm;
mod datagram_listener;
mod driver;
mod epoll;
mod errno;
mod event_queue;
mod features;
mod file_tables;
mod forward;
mod kernel_support;
mod network_namespace;
mod reply_socket;
mod send_buffer;
mod signals;
mod socket;
mod sockets;
mod thread;
mod tls;
mod token;
mod uring;
mod waker;
mod workers;

pub use clock::{Clock, WallClock, thread_cpu_ns};
pub use clone_vm::Crash;
pub use datagram_listener::{DatagramListener, Readiness};
pub use driver::{
    CloseReason, ConnAddresses, ConnId, Datagrams, Dial, DialTls, Driver, DriverConfig, Event, ListenerId,
    PacketCounts, SEGMENT_BYTES, SendStatus, StreamEnd, StreamEndKind,
};
pub use epoll::Epoll;
pub use errno::Errno;
pub use event_queue::EventQueue;
pub use features::{Feature, Features};
pub use kernel_support::KernelSupport;
pub use network_namespace::NetworkNamespace;
pub use reply_socket::{ReceivedDatagram, ReplySocket};
pub use signals::Signals;
pub use socket::{bind_probe, can_segment, tcp_retransmits};
pub use thread::{fine_timers, pin_to};
pub use tls::{Alpn, HandshakeInfo, QuicSessions, QuicSignatures, Tls, TlsClient, TlsProblem, TlsServer};
pub use uring::{Uring, UringFacts, UringMissing, probe_uring};
pub use waker::Waker;
pub use wavetank_plan::TlsServerOptions;
pub use workers::{StartFault, StartReporter, Started, spawn, spawn_in};
