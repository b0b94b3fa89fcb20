//! [`Case`]: a case of the suite as an experiment file.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use crate::{PACKAGE, Trouble};

/// The file with the descriptions of the service.
pub(crate) const DESCRIPTORS: &str = "service.binpb";

/// A `ClientCompatRequest`.
pub(crate) struct Case<'a> {
    request: &'a Value,
    pub(crate) messages: Vec<Value>,
    /// Several steps make the call.
    pub(crate) converses: bool,
}

impl<'a> Case<'a> {
    /// Reads the JSON of a case.
    pub(crate) fn new(request: &'a Value, converses: bool) -> Result<Self, Trouble> {
        if !request["cancel"].is_null() {
            return Err("a user who leaves a call gets no status for it".into());
        }
        let given = request["requestMessages"].as_array().map_or(&[][..], Vec::as_slice);
        let mut messages = given.to_vec();
        for message in messages.iter_mut().filter_map(Value::as_object_mut) {
            message.remove("@type");
        }
        let mut case = Self { request, messages, converses };
        case.converses |= case.is_full_duplex() || case.delay().is_some();
        // The steps of a conversation have no deadline in common.
        case.converses &= case.timeout().is_none();
        if !case.converses && case.delay().is_some() {
            return Err("a call of one step has no pauses".into());
        }
        Ok(case)
    }

    /// Whether the server answers at most once.
    pub(crate) fn has_one_answer(&self) -> bool {
        matches!(self.stream_type(), "STREAM_TYPE_UNARY" | "STREAM_TYPE_CLIENT_STREAM")
    }

    /// The name of the type of its responses, without the package.
    pub(crate) fn response_type(&self) -> String {
        format!("{}Response", self.request["method"].as_str().unwrap_or_default())
    }

    /// The files for TLS by their key in `tls:`, with their contents; none without TLS.
    pub(crate) fn tls_files(&self) -> Result<Vec<(&'static str, Vec<u8>)>, Trouble> {
        let own = &self.request["clientTlsCreds"];
        let all = [("ca", &self.request["serverTlsCert"]), ("cert", &own["cert"]), ("key", &own["key"])];
        let given = all.into_iter().filter_map(|(key, text)| Some((key, text.as_str()?)));
        given.map(|(key, text)| Ok((key, BASE64_STANDARD.decode(text)?))).collect()
    }

    /// The experiment file.
    /// `tls` are the names of the files for TLS by their key.
    pub(crate) fn experiment(&self, tls: &Map<String, Value>) -> Value {
        let request = self.request;
        let scheme = if tls.is_empty() { "grpc" } else { "grpcs" };
        let gzip = request["compression"] == "COMPRESSION_GZIP";
        let mut file = json!({
            "wavetank": 1,
            "target": format!("{scheme}://{}:{}", request["host"].as_str().unwrap_or_default(), request["port"]),
            "grpc": {"descriptors": DESCRIPTORS, "gzip": gzip, "deadline": self.timeout().is_some()},
            "steps": if self.converses { self.conversation() } else { vec![self.call()] },
            "phases": [{"users": 1, "sessions": 1}],
        });
        if !tls.is_empty() {
            file["http"] = json!({"tls": tls});
        }
        with_dollars(&mut file);
        file
    }

    fn stream_type(&self) -> &str {
        self.request["streamType"].as_str().unwrap_or_default()
    }

    fn is_full_duplex(&self) -> bool {
        self.stream_type() == "STREAM_TYPE_FULL_DUPLEX_BIDI_STREAM"
    }

    /// The timeout in milliseconds, if the case has one.
    pub(crate) fn timeout(&self) -> Option<u64> {
        self.request["timeoutMs"].as_u64()
    }

    /// The pause before each message, in milliseconds.
    fn delay(&self) -> Option<u64> {
        self.request["requestDelayMs"].as_u64().filter(|delay| *delay > 0)
    }

    fn method(&self) -> String {
        let text = |name: &str| self.request[name].as_str();
        let service = text("service").map_or_else(|| format!("{PACKAGE}.ConformanceService"), str::to_owned);
        format!("{service}/{}", text("method").unwrap_or_default())
    }

    /// The metadata. Several values of a name are one with commas.
    fn headers(&self) -> Map<String, Value> {
        let given = self.request["requestHeaders"].as_array().map_or(&[][..], Vec::as_slice);
        let field = |header: &Value| {
            let values: Vec<&str> = header["value"].as_array()?.iter().filter_map(Value::as_str).collect();
            Some((header["name"].as_str()?.to_owned(), values.join(", ").into()))
        };
        given.iter().filter_map(field).collect()
    }

    /// Makes the call with one step. What it extracts makes it read the whole answer.
    fn call(&self) -> Value {
        let is_stream =
            matches!(self.stream_type(), "STREAM_TYPE_CLIENT_STREAM") || self.stream_type().contains("BIDI");
        let message =
            if is_stream { json!(self.messages) } else { self.messages.first().cloned().unwrap_or_default() };
        let step = json!({"grpc.call": self.method(), "headers": self.headers(), "json": message});
        self.reading(step)
    }

    fn conversation(&self) -> Vec<Value> {
        let mut steps = vec![json!({"grpc.open": self.method(), "headers": self.headers()})];
        for message in &self.messages {
            if let Some(delay) = self.delay() {
                steps.push(json!({"think": format!("{delay}ms")}));
            }
            let mut step = json!({"grpc.send": message});
            if self.is_full_duplex() {
                step["reply"] = "any".into();
            }
            steps.push(self.limited(step));
        }
        steps.push(self.reading(json!({"grpc.end": true})));
        steps
    }

    /// Adds what makes `step` read the whole answer.
    fn reading(&self, mut step: Value) -> Value {
        step["extract"] = json!({"answer": "json $"});
        self.limited(step)
    }

    fn limited(&self, mut step: Value) -> Value {
        step["on_failure"] = "end_session".into();
        if let Some(timeout) = self.timeout() {
            step["timeout"] = format!("{timeout}ms").into();
        }
        step
    }
}

/// Keeps texts from being templates.
fn with_dollars(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.replace("${", "$${"),
        Value::Array(items) => items.iter_mut().for_each(with_dollars),
        Value::Object(entries) => entries.values_mut().for_each(with_dollars),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
