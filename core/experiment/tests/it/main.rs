//! All integration tests of this crate in one program, so that one link serves them all.

mod asked;
mod bodies;
mod engines;
mod examples;
mod forecasts;
mod hostile;
mod lacks;
mod lowering;
mod mistakes;
#[path = "../../../grammar/tests/it/common/mutation.rs"]
mod mutation;
mod mutations;
mod names;
mod outlooks;
mod packages;
mod rehearsals;
mod schema;
mod seconds;
mod shares;
mod support;
mod tls;
mod traces;
mod url_runs;
mod urls;
