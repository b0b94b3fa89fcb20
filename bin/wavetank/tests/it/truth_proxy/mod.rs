//! Truth suite: the bytes between connecting and the first request, sent to third-party proxies and
//! balancers. Their logs show what they understood.

mod faults;
mod foreign;
mod header;
mod tunnel;
