//! What shall be run.
//!
//! Text (command-line words, later an experiment file) becomes `RunOptions`, and
//! `resolve` turns those, with facts about the host and resolved names handed in by
//! the caller, into a [`Plan`] in which every number is fixed. This crate knows no sockets, files,
//! clock or environment; it fails only on bad input, and then with a [`UserError`].

mod condition;
pub mod constants;
mod error;
mod host;
mod nanos;
mod network;
mod options;
mod plan;
pub mod quantity;
mod rate;
mod target_url;

pub use condition::{Condition, Op, Part, RequestCount, Subject, Value};
pub use error::{ExitCode, UserError};
pub use host::HostFacts;
pub use nanos::Nanos;
pub use network::{AllowTarget, ConnectTo, Network};
pub use options::{DnsUse, IpFamily, RunOptions, SecretText};
pub use plan::{
    Arrivals, Close, ConnectionUse, EngineChoice, HttpPlan, HttpVersion, Key, Load, MaxOpenBy, Phase, Plan,
    RequestPlan, Scenario, SourceRange, StatusSet, Step, Target,
};
pub use rate::Rate;
pub use target_url::TargetUrl;
