//! TLS as a filter: without TLS it does what every driver must, and with it the same in plaintext.

mod crossed;
mod peer;
#[path = "../suite/mod.rs"]
mod suite;

driver_suite!(wavetank_driver::Tls<wavetank_driver::Epoll>);
