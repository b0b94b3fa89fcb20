//! Runs and searches in this process, against a server in this process.

mod refused;
mod run;
mod search;
mod support;
