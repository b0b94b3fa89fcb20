//! [`PlanDoc`]: `plan.yaml`, the resolved plan as users and `report` read it.
//!
//! Canonical: one plan has one text, and its SHA-256 is the run's `plan_hash`. It therefore
//! contains no data of a single execution (id, time, host), and no secret. Bodies are given by size
//! and hash. A plan read back is enough to judge and report a run, but not to send it again.

mod constants;
mod dns;
mod exact_quantity;
mod hash;
mod message;
mod names;
mod phase;
mod pick;
mod proxy;
mod scenario;
mod shape;
mod shared;
mod status_ranges;
mod target;
mod text;
mod tls;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wavetank_plan::{
    Close, Condition, EngineChoice, FileTables, HooksPlan, HttpPlan, HttpVersion, Plan, Scenario,
    SourceOrder, SourcesPlan,
};
use wavetank_units::SourceRange;

use crate::DecodeError;
pub use constants::all_constants;
use dns::DnsYaml;
use exact_quantity::{exact_duration, exact_rate, read_duration, read_rate};
use hash::sha256_hex;
use message::WebSocketYaml;
use names::{name_of, one_of};
use phase::PhaseYaml;
use proxy::{PROXY_PROTOCOLS, ProxyYaml};
use scenario::ScenarioYaml;
use shared::{EventYaml, SharedYaml};
use status_ranges::{read_statuses, statuses};
use target::TargetYaml;
use tls::TlsYaml;

/// Version of the document.
const PLAN_VERSION: u32 = 1;
/// Limit of a plan's length; checked before parsing.
const PLAN_BYTES_MAX: usize = 64 << 20;

/// The document, in the order of its keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanDoc {
    wavetank_plan: u32,
    name: String,
    seed: u64,
    targets: Vec<TargetYaml>,
    http: HttpYaml,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls: Option<TlsYaml>,
    sources: Vec<String>,
    source_order: String,
    scenarios: Vec<ScenarioYaml>,
    #[serde(default, skip_serializing_if = "is_default")]
    shared: SharedYaml,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<ScenarioYaml>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<ScenarioYaml>,
    phases: Vec<PhaseYaml>,
    threads: u32,
    engine: String,
    #[serde(default = "one_table")]
    files: String,
    open_rate: String,
    drain: String,
    late_tolerance: String,
    thresholds: Vec<String>,
    stop: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    under_test: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    events: Vec<EventYaml>,
    tags: BTreeMap<String, String>,
    constants: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct HttpYaml {
    version: String,
    timeout: String,
    connect_timeout: String,
    keepalive: bool,
    requests_per_connection: Option<u64>,
    close: String,
    pipeline: u32,
    expect: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    cookies: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body_max_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proxy: Option<ProxyYaml>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proxy_protocol: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dns: Option<DnsYaml>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ping: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    websocket: Option<WebSocketYaml>,
}

impl PlanDoc {
    /// The document of `plan`.
    pub fn new(plan: &Plan) -> Self {
        // Taken apart by name, so that a new field of the plan cannot be forgotten here.
        let Plan {
            name,
            seed,
            targets,
            http,
            tls,
            sources,
            scenarios,
            shared,
            around: HooksPlan { before, after },
            phases,
            threads,
            engine,
            files,
            open_rate,
            drain,
            late_tolerance,
            thresholds,
            stop,
            under_test,
            events,
            tags,
        } = plan;
        let scenario = |scenario: &Scenario| ScenarioYaml::new(scenario, targets, shared);
        Self {
            wavetank_plan: PLAN_VERSION,
            name: name.clone(),
            seed: *seed,
            targets: targets.iter().map(TargetYaml::new).collect(),
            http: HttpYaml::new(http),
            tls: tls.as_ref().map(TlsYaml::new),
            sources: sources
                .ranges
                .iter()
                .map(|range| format!("{} to {}", range.first, range.last))
                .collect(),
            source_order: name_of(sources.order, &SOURCE_ORDERS).to_owned(),
            scenarios: scenarios.iter().map(scenario).collect(),
            shared: SharedYaml::new(shared),
            before: before.as_deref().map(scenario),
            after: after.as_deref().map(scenario),
            phases: phases.iter().map(PhaseYaml::new).collect(),
            threads: *threads,
            engine: engine_name(*engine).to_owned(),
            files: name_of(*files, &FILES).to_owned(),
            open_rate: exact_rate(*open_rate),
            drain: exact_duration(*drain),
            late_tolerance: exact_duration(*late_tolerance),
            thresholds: thresholds.iter().map(|condition| condition.text.clone()).collect(),
            stop: stop.iter().map(|condition| condition.text.clone()).collect(),
            under_test: under_test.clone(),
            events: events.iter().map(EventYaml::new).collect(),
            tags: tags.clone(),
            constants: constants::as_map(),
        }
    }

    /// The canonical text.
    pub fn to_yaml(&self) -> String {
        // No folding: a folded text is equivalent for a YAML reader, but grep cannot find long
        // values in it.
        let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
        serde_saphyr::to_string_with_options(self, options)
            .expect("plain data with string keys always encodes into a string")
    }

    /// Reads `plan.yaml`.
    ///
    /// # Errors
    /// If the text is not such a document.
    pub fn from_yaml(text: &str) -> Result<Self, DecodeError> {
        if text.len() > PLAN_BYTES_MAX {
            return Err(DecodeError::new(format!("a plan of {} bytes is too long", text.len())));
        }
        let doc: Self = serde_saphyr::from_str(text).map_err(|error| match peeked_version(text) {
            Some(version) if version > PLAN_VERSION => {
                DecodeError::version("plan version", version, PLAN_VERSION)
            }
            // Only the first line is used; the lines below it show an excerpt of the file.
            _ => {
                let reported = error.to_string();
                DecodeError::new(reported.lines().next().unwrap_or_default().trim_start_matches("error: "))
            }
        })?;
        if doc.wavetank_plan == PLAN_VERSION {
            Ok(doc)
        } else {
            Err(DecodeError::version("plan version", doc.wavetank_plan, PLAN_VERSION))
        }
    }

    /// Name of the run.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Seed of every random choice.
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The user's labels.
    pub const fn tags(&self) -> &BTreeMap<String, String> {
        &self.tags
    }

    /// SHA-256 of the text in hex: `plan_hash`.
    pub fn hash(text: &str) -> String {
        sha256_hex(text.as_bytes())
    }

    /// Returns the plan without secrets and long bodies, enough to judge and report its run.
    ///
    /// # Errors
    /// If a value has the wrong kind or refers to a missing item.
    pub fn plan(&self) -> Result<Plan, DecodeError> {
        let conditions = |texts: &[String]| -> Result<Vec<Condition>, DecodeError> {
            texts
                .iter()
                .map(|text| Condition::parse(text).map_err(|error| DecodeError::new(error.message)))
                .collect()
        };
        let targets: Vec<_> = self.targets.iter().map(TargetYaml::read).collect::<Result<_, _>>()?;
        let shared = self.shared.read()?;
        let scenarios: Vec<_> = self
            .scenarios
            .iter()
            .map(|scenario| scenario.read(&targets, &shared.counts))
            .collect::<Result<_, _>>()?;
        let phases: Vec<_> = self.phases.iter().map(PhaseYaml::read).collect::<Result<_, _>>()?;
        let known = |part: &(u16, u64)| usize::from(part.0) < scenarios.len();
        if !phases.iter().flat_map(|phase| phase.mix.parts()).all(known) {
            return Err(DecodeError::new("a phase refers to a scenario that does not exist"));
        }
        let around = |scenario: &Option<ScenarioYaml>| {
            scenario
                .as_ref()
                .map(|scenario| scenario.read(&targets, &shared.counts).map(Box::new))
                .transpose()
        };
        let around = HooksPlan { before: around(&self.before)?, after: around(&self.after)? };
        Ok(Plan {
            name: self.name.clone(),
            seed: self.seed,
            targets,
            http: self.http.read()?,
            tls: self.tls.as_ref().map(TlsYaml::read).transpose()?,
            sources: SourcesPlan {
                ranges: self.sources.iter().map(|text| read_source(text)).collect::<Result<_, _>>()?,
                order: one_of(&self.source_order, &SOURCE_ORDERS)?,
            },
            scenarios,
            shared,
            around,
            phases,
            threads: self.threads,
            engine: one_of(&self.engine, &ENGINES)?,
            files: one_of(&self.files, &FILES)?,
            open_rate: read_rate(&self.open_rate)?,
            drain: read_duration(&self.drain)?,
            late_tolerance: read_duration(&self.late_tolerance)?,
            thresholds: conditions(&self.thresholds)?,
            stop: conditions(&self.stop)?,
            under_test: self.under_test.clone(),
            events: self.events.iter().map(EventYaml::read).collect::<Result<_, _>>()?,
            tags: self.tags.clone(),
        })
    }
}

impl HttpYaml {
    fn new(http: &HttpPlan) -> Self {
        let HttpPlan {
            version,
            timeout,
            connect_timeout,
            keepalive,
            requests_per_connection,
            close,
            pipeline,
            expect,
            cookies,
            body_max,
            proxy,
            proxy_protocol,
            dns,
            ping,
            websocket,
        } = http;
        Self {
            version: name_of(*version, &VERSIONS).to_owned(),
            timeout: exact_duration(*timeout),
            connect_timeout: exact_duration(*connect_timeout),
            keepalive: *keepalive,
            requests_per_connection: *requests_per_connection,
            close: name_of(*close, &CLOSES).to_owned(),
            pipeline: *pipeline,
            expect: statuses(expect),
            cookies: *cookies,
            body_max_bytes: *body_max,
            proxy: proxy.as_ref().map(ProxyYaml::new),
            proxy_protocol: proxy_protocol.map(|version| name_of(version, &PROXY_PROTOCOLS).to_owned()),
            dns: dns.as_ref().map(DnsYaml::new),
            ping: ping.map(exact_duration),
            websocket: WebSocketYaml::new(websocket),
        }
    }

    fn read(&self) -> Result<HttpPlan, DecodeError> {
        Ok(HttpPlan {
            version: one_of(&self.version, &VERSIONS)?,
            timeout: read_duration(&self.timeout)?,
            connect_timeout: read_duration(&self.connect_timeout)?,
            keepalive: self.keepalive,
            requests_per_connection: self.requests_per_connection,
            close: one_of(&self.close, &CLOSES)?,
            pipeline: self.pipeline,
            expect: read_statuses(&self.expect)?,
            cookies: self.cookies,
            body_max: self.body_max_bytes,
            proxy: self.proxy.as_ref().map(ProxyYaml::read).transpose()?,
            proxy_protocol: self
                .proxy_protocol
                .as_deref()
                .map(|name| one_of(name, &PROXY_PROTOCOLS))
                .transpose()?,
            dns: self.dns.as_ref().map(DnsYaml::read).transpose()?,
            ping: self.ping.as_deref().map(read_duration).transpose()?,
            websocket: self.websocket.as_ref().map(WebSocketYaml::read).unwrap_or_default(),
        })
    }
}

const VERSIONS: [(&str, HttpVersion); 4] = [
    ("HTTP/1.0", HttpVersion::Http10),
    ("HTTP/1.1", HttpVersion::Http11),
    ("HTTP/2", HttpVersion::Http2),
    ("HTTP/3", HttpVersion::Http3),
];
const CLOSES: [(&str, Close); 2] = [("fin", Close::Fin), ("rst", Close::Rst)];
const SOURCE_ORDERS: [(&str, SourceOrder); 2] =
    [("in_turn", SourceOrder::InTurn), ("fill_first", SourceOrder::FillFirst)];
const ENGINES: [(&str, EngineChoice); 3] =
    [("auto", EngineChoice::Auto), ("epoll", EngineChoice::Epoll), ("uring", EngineChoice::Uring)];
const FILES: [(&str, FileTables); 3] = [
    ("shared", FileTables::Shared),
    ("per_thread", FileTables::PerThread),
    ("per_process", FileTables::PerProcess),
];

/// Whether there is nothing to write.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The value of plans from before this setting existed.
fn one_table() -> String {
    "shared".to_owned()
}

/// The name of `engine` in `plan.yaml`, `environment.json` and `run.json`.
pub fn engine_name(engine: EngineChoice) -> &'static str {
    name_of(engine, &ENGINES)
}

fn read_source(text: &str) -> Result<SourceRange, DecodeError> {
    let bounds = text.split_once(" to ").and_then(|(first, last)| first.parse().ok().zip(last.parse().ok()));
    let (first, last) =
        bounds.ok_or_else(|| DecodeError::new(format!("`{text}` is not a range of addresses")))?;
    Ok(SourceRange { first, last })
}

/// Returns the version in the text's first line. A later version may have other keys below it.
fn peeked_version(text: &str) -> Option<u32> {
    text.lines().next()?.strip_prefix("wavetank_plan:")?.trim().parse().ok()
}
