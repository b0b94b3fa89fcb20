//! All integration tests of this crate in one program, so that one link serves them all.

mod agent;
mod agent_of_fleet;
mod controller;
mod gathering;
mod rendezvous;
mod sim;
mod wire;
