//! Truth suite: what is said of TLS is what a foreign server saw of it.

mod certificates;
mod counts;
mod faults;
mod garbling;
mod ours;
mod server;
mod words;
