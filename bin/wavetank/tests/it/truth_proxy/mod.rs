//! Truth suite: what is said between connecting and the first request, to foreign proxies and balancers: their logs tell
//! what they understood.

mod faults;
mod foreign;
mod header;
mod tunnel;
