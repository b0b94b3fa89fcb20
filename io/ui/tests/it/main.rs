//! The server over real connections: sessions, refusals, running runs and lists.

mod access;
mod client;
mod running;
mod stored;
