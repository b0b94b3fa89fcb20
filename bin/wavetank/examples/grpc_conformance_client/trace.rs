//! The result of a case, from what `wavetank try --format json` prints.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Value, json};

use crate::experiment::Case;
use crate::{Client, Trouble};

/// Base64 with or without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What the events of a walk say about a call.
#[derive(Default)]
struct Call {
    headers: Vec<String>,
    trailers: Vec<String>,
    messages: Vec<Value>,
    /// Messages that left.
    sent: usize,
    /// The status of the end, if the call has ended.
    status: Option<u64>,
    /// The class and the description of the failure, if there was one.
    failed: Option<(String, String)>,
}

/// Returns the result as JSON.
pub(crate) fn result(client: &Client, case: &Case<'_>, printed: &Value) -> Result<Value, Trouble> {
    let Some(events) = printed["walks"][0]["events"].as_array() else {
        return Err(format!("wavetank did not send the call: {printed}").into());
    };
    let mut call = Call::default();
    for event in events {
        call.take(event)?;
    }
    let error = call.error(client, case.timeout().is_some())?;
    // The fields of a response without a body and trailers are its trailers (PROTOCOL-HTTP2).
    if call.trailers.is_empty() && call.messages.is_empty() && error.is_some() {
        call.trailers = std::mem::take(&mut call.headers);
    }
    let payload = |message: &Value| {
        let of = client.message(&case.response_type(), message.clone())?;
        let read = serde_json::to_value(of)?;
        Ok(read.get("payload").cloned().unwrap_or_else(|| json!({})))
    };
    let is_shown = error.is_none() || !case.has_one_answer();
    let messages = call.messages.iter().filter(|_| is_shown);
    let payloads: Vec<Value> = messages.map(payload).collect::<Result<_, Trouble>>()?;
    let unsent = if case.converses { case.messages.len() - call.sent } else { 0 };
    Ok(json!({"response": {
        "responseHeaders": headers(&call.headers),
        "responseTrailers": headers(&call.trailers),
        "payloads": payloads,
        "error": error,
        "numUnsentRequests": unsent,
    }}))
}

impl Call {
    fn take(&mut self, event: &Value) -> Result<(), Trouble> {
        let line = event["line"].as_str().unwrap_or_default();
        match event["event"].as_str().unwrap_or_default() {
            "request" if line == "gRPC message" => self.sent += 1,
            "answer" => {
                if line != "gRPC message" {
                    (self.headers, self.trailers) = (lines(&event["headers"]), lines(&event["trailers"]));
                    self.status = event["status"].as_u64();
                }
                self.take_body(&event["body"])?;
            }
            "failed" => {
                let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
                self.failed = Some((text("class"), text("detail")));
            }
            _ => {}
        }
        Ok(())
    }

    fn take_body(&mut self, body: &Value) -> Result<(), Trouble> {
        if body["coding"] != "grpc" {
            return Ok(());
        }
        if body["cut"] == true {
            return Err("wavetank does not show the whole answer".into());
        }
        match serde_json::from_str(body["text"].as_str().unwrap_or_default())? {
            Value::Array(messages) => self.messages.extend(messages),
            message => self.messages.push(message),
        }
        Ok(())
    }

    /// The error of the call as JSON; `None`: the server has ended it with OK.
    fn error(&self, client: &Client, has_timeout: bool) -> Result<Option<Value>, Trouble> {
        let Some((class, detail)) = &self.failed else { return Ok(None) };
        let code = match (class.as_str(), self.status) {
            ("status", Some(status)) => code_of_status(status),
            // The time of a step includes connecting.
            ("request_timeout" | "connect_timeout", _) if has_timeout => 4,
            ("body_limit", _) => 8,
            // The service describes one message ("Status codes and their use in gRPC").
            ("protocol", _) if detail.ends_with("messages, not with one") => 12,
            // The answer is not what the service describes.
            ("protocol", _) => 13,
            _ => return Err(format!("{class}: {detail}").into()),
        };
        // The name of the status comes first.
        let message = detail.split_once(": ").map_or("", |(_, message)| message);
        let fields = self.trailers.iter().chain(&self.headers);
        let details = match fields
            .filter_map(|line| line.split_once(": "))
            .find(|(name, _)| *name == "grpc-status-details-bin")
        {
            // The suite's own error has the fields of a google.rpc.Status.
            Some((_, value)) => {
                let error = serde_json::to_value(client.decode("Error", &LENIENT.decode(value)?)?)?;
                error.get("details").cloned().unwrap_or_else(|| json!([]))
            }
            None => json!([]),
        };
        Ok(Some(json!({"code": code, "message": message, "details": details})))
    }
}

/// The code of a status that wavetank shows: that of HTTP if there is none of gRPC. The mapping is
/// that of "HTTP to gRPC Status Code Mapping".
const fn code_of_status(status: u64) -> u64 {
    match status {
        0..=16 => status,
        400 => 13,
        401 => 16,
        403 => 7,
        404 => 12,
        429 | 502..=504 => 14,
        _ => 2,
    }
}

fn lines(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Field lines as the suite's headers. Values of the same name belong together.
fn headers(lines: &[String]) -> Vec<Value> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, value) in lines.iter().filter_map(|line| line.split_once(": ")) {
        match all.iter_mut().find(|(own, _)| *own == name) {
            Some((_, values)) => values.push(value),
            None => all.push((name, vec![value])),
        }
    }
    all.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}
