//! Truth suite: the TLS results agree with what a third-party server saw.

mod certificates;
mod counts;
mod faults;
mod garbling;
mod ours;
mod server;
mod words;
