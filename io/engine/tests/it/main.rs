//! All integration tests of this crate in one program, so that one link serves them all.

mod alone;
mod answering;
mod answers;
mod connections;
mod flow;
mod journeys;
mod names;
mod places;
mod shapes;
mod sources;
mod support;
