//! Networks of labs, created by the code of `lab up`, in the test's own namespaces.

mod hosts;
mod plan;
mod settings;
mod shaped;
mod wired;
