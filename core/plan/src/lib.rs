//! The plan of a run.
//!
//! Command-line arguments become `RunOptions`, and `resolve` combines them with host facts and
//! resolved names, which the caller provides. The result is a [`Plan`] in which every number is
//! fixed. `core/experiment` lowers a file to the same. This crate does not use sockets, files, the
//! clock or the environment. It fails only on bad input, and then with a [`UserError`].

mod allow_target;
pub mod calibration;
mod condition;
mod connect_to;
pub mod constants;
mod dns_refresh;
mod error;
mod event_plan;
mod file_budget;
mod footprint;
pub mod forecast;
pub mod guard;
mod host;
mod host_limits;
mod ipv6_text;
pub mod journey;
mod load;
mod mix;
mod nanos;
mod network;
mod number;
mod options;
pub mod pem;
mod pem_files;
mod percent;
mod phase;
mod plan;
mod pool;
mod ports;
mod proxy;
pub mod quantity;
mod rate;
pub mod redact;
pub mod resolve;
mod sanitize;
mod scenario;
mod server_capacity;
pub mod shape;
mod shortfall;
pub mod size;
mod socket_facts;
mod sources;
mod stage;
mod status_set;
mod suggest;
mod target_pick;
mod target_url;
mod thresholds;
mod tls;
pub mod tls_names;
mod tls_options;
mod tls_server_options;
mod track;
mod unix_socket;

pub use allow_target::AllowTarget;
pub use condition::{
    Condition, ERROR_CLASSES, HostGauge, LatencyPart, Op, PART_NAMES, RequestCounter, Subject, Value,
    matches_host,
};
pub use connect_to::ConnectTo;
pub use dns_refresh::{DnsRefreshPlan, RefreshedName};
pub use error::{ExitCode, UserError};
pub use event_plan::PlannedEvent;
pub use file_budget::{FileBudget, RINGS_PER_THREAD_MAX, SOCKETS_PER_RING_MAX, SocketLayout};
pub use footprint::{ConnectionEnd, MemoryModel, plannable_bytes};
pub use guard::Guard;
pub use host::HostFacts;
pub use host_limits::HostLimits;
pub use ipv6_text::split_zone;
pub use journey::{
    Action, AuthPlan, Check, CheckSubject, Choice, DataPlan, Escape, Expr, Extract, Hole, OnFailure, Operand,
    Quantity, Rendezvous, RowChoice, Template, TemplatePart, Test, Think,
};
pub use load::{Arrivals, Load};
pub use mix::ScenarioMix;
pub use nanos::Nanos;
pub use network::Network;
pub use number::Number;
pub use options::{DnsPolicy, IpFamily, RunOptions, Secret};
pub use pem_files::{check_certificates, load_identity};
pub use phase::{MaxOpenLimit, Phase};
pub use plan::{
    Close, EngineChoice, FileTables, HttpPlan, HttpVersion, Key, Plan, SourceOrder, SourceRange, SourcesPlan,
    StatusSet, Target,
};
pub use ports::Ports;
pub use proxy::{ProxyChoice, ProxyPlan, ProxyProtocol, ProxyUrl};
pub use rate::Rate;
pub use resolve::{Resolved, resolve};
pub use sanitize::{is_control_char, sanitize, sanitize_lines, shell_quoted};
pub use scenario::{ConnectionOwner, HooksPlan, RequestPlan, Scenario, SharedPlan, Step};
pub use server_capacity::{SPREAD, ServerCapacity};
pub use shape::{PopulationCurve, RateCurve};
pub use socket_facts::{NR_OPEN_DEFAULT, SocketSupport, Unsupported};
pub use sources::parse_sources;
pub use stage::{Stage, StageLoad};
pub use suggest::did_you_mean;
pub use target_pick::{PickOrder, TargetSelection};
pub use target_url::TargetUrl;
pub use thresholds::{check_conditions, implicit_thresholds};
pub use tls::{TlsIdentity, TlsPlan, TlsResume, TlsVersions};
pub use tls_options::{PemFile, TlsOptions};
pub use tls_server_options::TlsServerOptions;
pub use track::Track;
pub use unix_socket::{address_text, parse_address, unix_address, unix_path};
