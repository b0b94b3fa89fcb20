//! Raw TCP: bytes, and how much of what the server sends answers a step.
//!
//! The stream is read in order. Bytes behind an answer belong to the next one. If no step of a plan
//! reads, they are discarded.

mod client;

#[cfg(test)]
mod tests;

pub use client::{Client, Fault, ReadRule};
