//! The stored and printed forms of a run: types and their encoding, without logic, tested against
//! golden files.
//!
//! No format on disk contains a core type, because it would freeze that type. Only the mirror types
//! in this crate know the stored form. A [`PlanPackage`] is not stored, and contains the plan
//! itself. Reading never panics, whatever the bytes are.

mod archive_doc;
mod bucket_code;
mod calibration_doc;
mod compare_doc;
mod conns_line;
mod decode_error;
mod environment_doc;
mod error_doc;
mod event_kind;
mod event_line;
mod explain_doc;
mod fleet_doc;
mod forecast_doc;
mod handshakes_line;
mod held_parts;
mod histogram_code;
mod host_counters_line;
mod host_line;
mod host_line_series;
mod impact_doc;
mod interval_extras;
mod interval_line;
mod journey_parts;
mod journeys_line;
mod lab_parts;
mod live_doc;
mod load_change_doc;
mod net_doc;
mod number;
mod number_limits;
mod overflow_guard;
mod pack_doc;
mod plan_doc;
mod plan_package;
mod run_parts;
mod run_record;
mod runs_doc;
mod sample_line;
mod search_doc;
mod series_line;
mod size_doc;
mod spool_line;
mod times;
mod try_doc;
mod verdict;
mod wall_time;

pub use archive_doc::{ARCHIVE_SCHEMA, ArchiveDoc, FileDoc};
pub use calibration_doc::{
    CALIBRATION_SCHEMA, CalibratedHostDoc, CalibrationDoc, CalibrationTargetDoc, CalibrationsDoc, CountedDoc,
    HeldMemoryDoc, LagDoc, ThroughputDoc,
};
pub use compare_doc::{COMPARE_SCHEMA, CompareAnswer, CompareDoc, ComparedRunDoc, MetricDoc, SideDoc};
pub use decode_error::DecodeError;
pub use environment_doc::{EnvironmentDoc, HostDoc};
pub use error_doc::{ERROR_SCHEMA, ErrorDoc};
pub use event_kind::EventKind;
pub use event_line::EventLine;
pub use explain_doc::{CodeDoc, EXPLAIN_SCHEMA, ExplainDoc};
pub use fleet_doc::{AgentDoc, AgentEndDoc, AgentLossDoc, FleetDoc, FleetStatusDoc};
pub use forecast_doc::{
    AmountDoc, CalibrationMarginDoc, CapDoc, FORECAST_SCHEMA, ForecastDoc, HoldingDoc, HoldingMemoryDoc,
    LackDoc, OutlookDoc, PerSecondDoc, PhaseForecastDoc, ScenarioForecastDoc, SpanDoc, StepForecastDoc,
    TimelineDoc,
};
pub use held_parts::{HoldDoc, KernelCount, PhaseConnections, TargetDoc};
pub use host_line::{HostLine, TargetCount, TargetLine};
pub use host_line_series::{HostLineDecoder, HostLineEncoder};
pub use impact_doc::{ClientWindowDoc, ImpactDoc, ImpactOutcome, RecoveryDoc};
pub use interval_extras::{AgentHealth, EndRunRequest, IntervalExtras, LoggedLine};
pub use interval_line::IntervalLine;
pub use journey_parts::{
    CheckDoc, GroupDoc, HookCheckDoc, HookDoc, HookFailureDoc, RendezvousDoc, RendezvousReleaseDoc, Sessions,
};
pub use lab_parts::{HostLimitDoc, HostUseDoc, LabDoc, LabHostDoc, NearestLimitDoc, ServerCountDoc};
pub use live_doc::{
    ChangeDoc, LIVE_SCHEMA, LiveAgent, LiveDoc, LiveEvent, LiveHost, LiveInterval, LiveLevel, LivePhase,
    LiveSearch, LiveState, LiveStep,
};
pub use load_change_doc::LoadChangeDoc;
pub use net_doc::{
    ConnectDoc, ManySenderDoc, ManyToOneDoc, MtuDoc, NET_SCHEMA, NetDoc, NetFailureDoc, NetFindingDoc,
    NetLatencyDoc, NetLinkDoc, NetPairDoc, NetSettingsDoc, RequestResponseDoc, SizePointDoc, SizesDoc,
    TcpThroughputDoc, UdpDoc,
};
pub use number::Number;
pub use overflow_guard::OverflowGuard;
pub use pack_doc::{PACK_SCHEMA, PackDoc, PackedFile};
pub use plan_doc::{PlanDoc, all_constants, engine_name};
pub use plan_package::{PACKAGE_BYTES_MAX, PackageVariable, PlanPackage};
pub use run_parts::{
    Bytes, ConnectionMemory, Connections, CutShortDoc, Generator, LoadDoc, Messages, Packets, PhaseDoc,
    Pings, Probe, RateDoc, Requests, Setup, StepDoc, TlsDoc, Warmup, Wire,
};
pub use run_record::{RUN_SCHEMA, RunRecord};
pub use runs_doc::{ForeignEntryDoc, ForeignEntryKind, RUNS_SCHEMA, RunLine, RunState, RunsDoc};
pub use sample_line::SampleLine;
pub use search_doc::{
    SEARCH_SCHEMA, SearchAnswerDoc, SearchDoc, SearchPointDoc, SearchRunDoc, SearchSetupDoc,
};
pub use size_doc::{AnswerDoc, SIZE_SCHEMA, SizeDoc, TierDoc};
pub use spool_line::{SpoolEnd, SpoolHead, SpoolLine, SpoolState};
pub use times::{Spread, Times};
pub use try_doc::{TRY_SCHEMA, TryBody, TryDoc, TryEvent, TryMessage, TryWalk};
pub use verdict::{Blame, Finding, FixDoc, Status, Threshold, VerdictDoc};
pub use wall_time::WallTime;
