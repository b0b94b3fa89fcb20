//! The grammar of experiments as a table. It lists every key with its value and its purpose.

mod custom_kind;
mod data;
mod experiment;
mod grpc;
mod grpc_call;
mod http;
mod load;
mod map_name;
mod message;
mod sse;
mod step;
mod step_form;
mod synonyms;
mod tcp;
mod udp;
mod websocket;

pub(crate) use custom_kind::CustomKind;
pub(crate) use map_name::{Key, Kind, MapName, Section};
pub(crate) use step::{FORMS, METHODS};
pub(crate) use step_form::StepForm;
pub(crate) use wavetank_grammar::Grammar;

use data::{DATA_FILE, DATA_ROWS};
use experiment::{EVENT, EXPERIMENT};
use grpc::GRPC;
use http::{HTTP, TARGET, TARGET_URL, TLS};
use load::{PHASE, SCENARIO};
use serde_json::{Value, json};
use step::{CHOICE, MULTIPART_FILE, SOAP_CALL};
use wavetank_grammar::{ErrorHints, maps_with_key};
use websocket::WEBSOCKET;

impl Grammar for MapName {
    type Own = CustomKind;

    const ALL: &'static [Self] = &[
        Self::Experiment,
        Self::Target,
        Self::TargetUrl,
        Self::Http,
        Self::Grpc,
        Self::Tls,
        Self::WebSocket,
        Self::DataFile,
        Self::DataRows,
        Self::Scenario,
        Self::Phase,
        Self::Choice,
        Self::MultipartFile,
        Self::SoapCall,
        Self::TcpBytes,
        Self::TcpExtent,
        Self::Event,
    ];
    const FILE: Self = Self::Experiment;
    const TITLE: &'static str = "Wavetank experiment, version 1";
    const ADVICE: ErrorHints = ErrorHints {
        a_file: "an experiment",
        empty: "`wavetank new FILE` writes one to start from",
        documents: "one experiment a file: leave out the line ---",
        deep: "name inner steps under blocks: and call them by use: NAME",
        map: "{rate: 8/s, for: 10m}",
        line: "for: 10m",
        alias: "name a stretch of steps under blocks: and call it by use: NAME",
        merge: "name what is shared under blocks: or vars:",
        long: "rows of data belong into a file of their own: data: {NAME: {file: rows.csv}}",
    };
    const SYNONYMS: &'static [(&'static str, &'static str)] = synonyms::SYNONYMS;
    const VARIABLE: Option<&'static str> = Some(r"\$\{.+\}");

    fn section(self) -> &'static Section {
        match self {
            Self::Experiment => &EXPERIMENT,
            Self::Http => &HTTP,
            Self::Grpc => &GRPC,
            Self::Tls => &TLS,
            Self::WebSocket => &WEBSOCKET,
            Self::Target => &TARGET,
            Self::TargetUrl => &TARGET_URL,
            Self::DataFile => &DATA_FILE,
            Self::DataRows => &DATA_ROWS,
            Self::Scenario => &SCENARIO,
            Self::Phase => &PHASE,
            Self::Event => &EVENT,
            Self::MultipartFile => &MULTIPART_FILE,
            Self::SoapCall => &SOAP_CALL,
            Self::Choice => &CHOICE,
            Self::TcpBytes => &tcp::BYTES,
            Self::TcpExtent => &tcp::EXTENT,
        }
    }

    fn definition(self) -> String {
        let title = self.section().title.to_lowercase();
        title.replace(['\'', ','], "").replace(' ', "_")
    }

    fn name_shape() -> Value {
        json!({"type": ["string", "number"], "pattern": r"^\S+$"})
    }

    fn homes(word: &str) -> Vec<&'static str> {
        let mut homes = maps_with_key(&HOMES, word);
        if FORMS.iter().any(|form| form.verbs.iter().chain(form.keys).any(|key| key.name == word)) {
            homes.push("a step");
        }
        homes
    }
}

/// Maps suggested for a key in the wrong place; one of several similar maps represents all.
const HOMES: [MapName; 9] = [
    MapName::Experiment,
    MapName::Http,
    MapName::Grpc,
    MapName::Tls,
    MapName::WebSocket,
    MapName::Scenario,
    MapName::Phase,
    MapName::Event,
    MapName::DataFile,
];
