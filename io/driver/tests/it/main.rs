//! All integration tests of this crate in one program, so that it is linked only once.

mod epoll;
mod leaving;
#[path = "parts/made.rs"]
mod made;
mod network_namespace;
mod suite;
mod tls;
mod uring;
