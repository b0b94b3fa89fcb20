//! Networks of labs, made by what `lab up` makes them with, in namespaces of the test's own.

mod hosts;
mod plan;
mod settings;
mod shaped;
mod wired;
