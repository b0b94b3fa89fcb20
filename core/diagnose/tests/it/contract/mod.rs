//! Contract §5, clause by clause: each with a case on both sides of its boundary.

mod bottleneck;
mod case;
mod cut_short;
mod doubts;
mod drift;
mod failure_times;
mod fleet;
mod held;
mod host_counters;
mod lab;
mod own_host;
mod server_side;
mod standstill;
mod verdict;
