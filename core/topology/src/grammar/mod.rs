//! The grammar of topology files as a table. It lists every key with its value and its purpose.

mod balancing;
mod fault;
mod host;
mod lab;
mod map_name;
mod own;
mod service;

pub(crate) use map_name::{Key, Kind, MapName, Section};
pub(crate) use own::CustomKind;
pub(crate) use wavetank_grammar::Grammar;

use balancing::{CHECK, DIRECT_ROUTING, IPVS, NAT, SERVER};
use fault::FAULT;
use host::{HOST, HOST_FILE, INTERFACE, LIMITS, ROUTE, VIRTUAL};
use lab::{LAB, NETWORK};
use serde_json::Value;
use service::{COMMAND, HAPROXY, HEALTH, NGINX, SERVE, SERVICE, TIMEOUTS};
use wavetank_grammar::ErrorHints;
use wavetank_grammar::json_schema_values::pattern_or_variable;

impl Grammar for MapName {
    type Own = CustomKind;

    const ALL: &'static [Self] = &[
        Self::Lab,
        Self::Network,
        Self::Host,
        Self::Interface,
        Self::Limits,
        Self::HostFile,
        Self::Virtual,
        Self::Route,
        Self::Service,
        Self::Serve,
        Self::Nginx,
        Self::Haproxy,
        Self::Timeouts,
        Self::DirectRouting,
        Self::Nat,
        Self::Ipvs,
        Self::Command,
        Self::Server,
        Self::Check,
        Self::Health,
        Self::Fault,
    ];
    const FILE: Self = Self::Lab;
    const TITLE: &'static str = "Wavetank lab, version 1";
    const ADVICE: ErrorHints = ErrorHints {
        a_file: "a lab",
        empty: "a lab begins with wavetank_lab: 1; examples/labs has some",
        documents: "one lab a file: leave out the line ---",
        deep: "use fewer levels",
        map: "{role: load, networks: [front]}",
        line: "role: load",
        alias: "use one key for hosts that are alike: app[1-4]",
        merge: "use one key for hosts that are alike: app[1-4]",
        long: "put files of hosts next to it: files: {/etc/app.conf: {from: app.conf}}",
    };

    fn section(self) -> &'static Section {
        match self {
            Self::Lab => &LAB,
            Self::Network => &NETWORK,
            Self::Host => &HOST,
            Self::Interface => &INTERFACE,
            Self::Limits => &LIMITS,
            Self::Route => &ROUTE,
            Self::Virtual => &VIRTUAL,
            Self::HostFile => &HOST_FILE,
            Self::Service => &SERVICE,
            Self::Nginx => &NGINX,
            Self::Haproxy => &HAPROXY,
            Self::Timeouts => &TIMEOUTS,
            Self::Serve => &SERVE,
            Self::DirectRouting => &DIRECT_ROUTING,
            Self::Nat => &NAT,
            Self::Ipvs => &IPVS,
            Self::Command => &COMMAND,
            Self::Server => &SERVER,
            Self::Check => &CHECK,
            Self::Health => &HEALTH,
            Self::Fault => &FAULT,
        }
    }

    fn definition(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    fn taken(self) -> String {
        self.section().title.to_lowercase()
    }

    fn name_shape() -> Value {
        pattern_or_variable::<Self>("[a-z0-9]([a-z0-9_-]{0,22}[a-z0-9])?")
    }
}
