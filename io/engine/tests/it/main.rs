//! All integration tests of this crate in one program, so that only one program is linked.

mod alone;
mod answering;
mod answers;
mod connections;
mod flow;
mod journeys;
mod names;
mod namespaces;
mod shapes;
mod simulated;
mod sources;
mod support;
