//! The plan of a run.
//!
//! Every number of a [`Plan`] is fixed. `core/experiment` makes it: from a file, or from a URL with
//! `RunOptions`, the command-line arguments. This crate does not use sockets, files, the clock or
//! the environment. It fails only on bad input, and then with a `UserError`.

mod address_filter;
mod condition;
mod connect_to;
pub mod constants;
mod delay_in_path;
mod dns_policy;
mod dns_refresh;
mod event_plan;
pub mod feasibility;
pub mod guard;
mod host;
pub mod journey;
mod load;
mod load_change;
mod mix;
mod options;
pub mod pem;
mod pem_files;
mod phase;
mod plan;
mod plan_fixture;
mod plan_share;
mod pool;
mod proxy;
pub mod redact;
mod scenario;
mod secret;
mod setting_names;
pub mod shape;
mod socket_facts;
mod sources;
mod sources_plan;
mod stage;
mod status_set;
mod target_pick;
mod target_url;
mod thresholds;
mod tls;
pub mod tls_names;
mod tls_options;
mod tls_server_options;
mod track;
mod websocket;

pub use address_filter::AddressFilter;
pub use condition::{
    Condition, ERROR_CLASSES, HostGauge, LatencyPart, Op, PART_NAMES, RequestCounter, Subject, THIS_HOST,
    Value, matches_host,
};
pub use connect_to::ConnectTo;
pub use delay_in_path::delay_in_path;
pub use dns_policy::{DnsPolicy, IpFamily};
pub use dns_refresh::{DnsRefreshPlan, RefreshedName};
pub use event_plan::PlannedEvent;
pub use feasibility::{
    AutomaticChoices, ConnectionEnd, FileBudget, HostLimits, MemoryModel, RINGS_PER_THREAD_MAX,
    SOCKETS_PER_RING_MAX, SPREAD, ServerCapacity, SocketLayout, Transport, adapt_to_host, lacking_for_share,
    plannable_bytes,
};
pub use guard::Guard;
pub use host::{HostFacts, LoadOrigin};
pub use journey::{
    Action, AuthPlan, Check, CheckSubject, Choice, DataPlan, DescriptorSet, Escape, Expr, Extract, GrpcPlan,
    Hole, JsonType, OnFailure, Operand, Quantity, Rendezvous, RowChoice, Table, TableBuilder, Template,
    TemplatePart, Test, Think, ValueRef,
};
pub use load::{Arrivals, Load};
pub use load_change::{LoadChange, LoadChangeError};
pub use mix::ScenarioMix;
pub use options::RunOptions;
pub use pem_files::{check_certificates, load_identity};
pub use phase::{MaxOpenLimit, Phase};
pub use plan::{Close, EngineChoice, FileTables, HttpPlan, HttpVersion, Key, Plan, Target};
pub use plan_share::PlanShare;
pub use proxy::{ProxyChoice, ProxyPlan, ProxyProtocol, ProxyUrl};
pub use scenario::{
    ConnectionOwner, HooksPlan, MessageAction, MessagePlan, ReadExtent, Reply, RequestPlan, Scenario,
    SharedPlan, Step,
};
pub use secret::Secret;
pub use setting_names::SettingNames;
pub use shape::{PopulationCurve, RateCurve};
pub use socket_facts::{NR_OPEN_DEFAULT, SocketSupport, Unsupported};
pub use sources::parse_sources;
pub use sources_plan::{SourceOrder, SourcesPlan};
pub use stage::{Stage, StageLoad};
pub use status_set::StatusSet;
pub use target_pick::{PickOrder, TargetSelection};
pub use target_url::{TargetUrl, UrlProtocol};
pub use thresholds::{check_conditions, implicit_thresholds};
pub use tls::{TlsIdentity, TlsPlan, TlsResume, TlsVersions};
pub use tls_options::{PemFile, TlsOptions};
pub use tls_server_options::TlsServerOptions;
pub use track::Track;
pub use websocket::{EVENT_STREAM_FIELDS, WebSocketPlan};
