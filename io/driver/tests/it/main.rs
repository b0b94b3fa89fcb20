//! All integration tests of this crate in one program, so that one link serves them all.

mod epoll;
mod leaving;
#[path = "parts/made.rs"]
mod made;
mod network_namespace;
mod suite;
mod tls;
mod uring;
