//! Real nginx and `HAProxy` as the lab runs them: configurations accepted, ports shared, counters
//! exact, deaths noticed.

mod balancer;
mod refused;
mod sale;
mod server;
mod stand;
