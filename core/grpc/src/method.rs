//! [`Method`]: one method of a service, with the types of its messages.

use std::io::Write;

use prost::Message as _;
use prost_reflect::{DynamicMessage, Kind, MessageDescriptor, MethodDescriptor, SerializeOptions};
use serde_json::Value;
use wavetank_units::{Code, UserError, did_you_mean};

use crate::{MessageError, frame};

/// How requests are encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestEncoding {
    /// As they are.
    #[default]
    Identity,
    /// Each message is compressed.
    Gzip,
}

/// One method of a service.
#[derive(Clone, Debug)]
pub struct Method {
    descriptor: MethodDescriptor,
    input: MessageDescriptor,
    output: MessageDescriptor,
}

impl Method {
    pub(crate) fn new(method: MethodDescriptor) -> Self {
        let (input, output) = (method.input(), method.output());
        Self { descriptor: method, input, output }
    }

    /// Returns the name of the service with its package, and the method: `shop.Orders/Place`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.descriptor.parent_service().full_name(), self.descriptor.name())
    }

    /// Whether a call sends several messages.
    pub fn is_client_streaming(&self) -> bool {
        self.descriptor.is_client_streaming()
    }

    /// Whether a call is answered with several messages.
    pub fn is_server_streaming(&self) -> bool {
        self.descriptor.is_server_streaming()
    }

    /// Appends the body of a request: a frame with the message that `json` describes, or one for
    /// each item of a list if the method takes a stream. No text at all is a message without
    /// fields.
    ///
    /// # Errors
    /// If the JSON does not fit the type.
    pub fn encode(
        &self,
        json: &[u8],
        encoding: RequestEncoding,
        out: &mut Vec<u8>,
    ) -> Result<(), MessageError> {
        let gzip = encoding == RequestEncoding::Gzip;
        let json = if json.trim_ascii().is_empty() { b"{}" } else { json };
        if self.is_client_streaming() && json.trim_ascii_start().starts_with(b"[") {
            let items: Vec<Value> =
                serde_json::from_slice(json).map_err(|error| MessageError::Json(error.to_string()))?;
            return items.into_iter().try_for_each(|item| self.encode_one(item, gzip, out));
        }
        let mut reader = serde_json::Deserializer::from_slice(json);
        let read = DynamicMessage::deserialize(self.input.clone(), &mut reader);
        match read.and_then(|message| reader.end().map(|()| message)) {
            Ok(message) => push(&message, gzip, out),
            Err(error) => match serde_json::from_slice(json) {
                Ok(value) => self.encode_one(value, gzip, out),
                Err(_) => Err(MessageError::Json(error.to_string())),
            },
        }
    }

    /// Encodes a message in which a field of text may have a number: a session's variable keeps the
    /// type of what it was extracted from.
    fn encode_one(&self, mut item: Value, gzip: bool, out: &mut Vec<u8>) -> Result<(), MessageError> {
        write_numbers_as_text(&self.input, &mut item);
        let read = DynamicMessage::deserialize(self.input.clone(), item);
        push(&read.map_err(|error| MessageError::Json(error.to_string()))?, gzip, out)
    }

    /// Appends the JSON of a response's body: one message, or a list of them if the method answers
    /// with a stream. Returns the number of messages. An empty body, as a failed call has it, is
    /// nothing.
    ///
    /// # Errors
    /// If the body has no whole frames, or not the method's messages.
    pub fn decode(&self, body: &[u8], out: &mut Vec<u8>) -> Result<usize, MessageError> {
        let is_stream = self.is_server_streaming();
        let count = decode(&self.output, is_stream, body, out)?;
        if !is_stream && count > 1 {
            return Err(MessageError::Count(count));
        }
        Ok(count)
    }

    /// Appends the JSON of one message of a response, even if the method answers with a stream.
    /// Returns the number of messages. An empty body is nothing.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_message(&self, body: &[u8], out: &mut Vec<u8>) -> Result<usize, MessageError> {
        match decode(&self.output, false, body, out)? {
            count @ 0..=1 => Ok(count),
            count => Err(MessageError::Count(count)),
        }
    }

    /// Appends the JSON of a request's body, to be shown.
    ///
    /// # Errors
    /// As [`decode`](Self::decode).
    pub fn decode_request(&self, body: &[u8], out: &mut Vec<u8>) -> Result<usize, MessageError> {
        decode(&self.input, self.is_client_streaming(), body, out)
    }

    /// Checks that the request's type has every field that a message names, at any depth. Values do
    /// not matter. A list is several messages.
    ///
    /// # Errors
    /// If there is no such field.
    pub fn check_names(&self, message: &Value) -> Result<(), UserError> {
        check_names(&self.input, message)
    }
}

fn push(message: &DynamicMessage, gzip: bool, out: &mut Vec<u8>) -> Result<(), MessageError> {
    let write = |out: &mut Vec<u8>| message.encode(out);
    frame::push(out, gzip, write).map_err(|error| MessageError::Json(error.to_string()))
}

/// The most bytes of the JSON of a response. A message can be a thousand times shorter than its
/// JSON, which names fields without a value.
const JSON_BYTES_MAX: usize = 64 << 20;

/// Writes JSON up to a limit.
struct LimitedJson<'a>(&'a mut Vec<u8>);

impl Write for LimitedJson<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > JSON_BYTES_MAX {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn decode(
    of: &MessageDescriptor,
    is_stream: bool,
    body: &[u8],
    out: &mut Vec<u8>,
) -> Result<usize, MessageError> {
    let options = SerializeOptions::new().skip_default_fields(false).stringify_64_bit_integers(false);
    let mut is_first = true;
    if is_stream {
        out.push(b'[');
    }
    let count = frame::read(body, |bytes| {
        let message = DynamicMessage::decode(of.clone(), bytes);
        let message = message.map_err(|error| MessageError::Bytes(error.to_string()))?;
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        let mut json = serde_json::Serializer::new(LimitedJson(&mut *out));
        let written = message.serialize_with_options(&mut json, &options);
        written.map_err(|error| {
            if error.is_io() { MessageError::TooLarge } else { MessageError::Bytes(error.to_string()) }
        })
    })?;
    if is_stream {
        out.push(b']');
    }
    Ok(count)
}

fn check_names(of: &MessageDescriptor, message: &Value) -> Result<(), UserError> {
    // Types with a form of their own are checked when they are encoded.
    if of.package_name() == "google.protobuf" {
        return Ok(());
    }
    let entries = match message {
        Value::Array(items) => return items.iter().try_for_each(|item| check_names(of, item)),
        Value::Object(entries) => entries,
        _ => return Ok(()),
    };
    for (name, value) in entries {
        let field = of.get_field_by_name(name).or_else(|| of.get_field_by_json_name(name));
        let field = field.ok_or_else(|| no_field(of, name))?;
        let Kind::Message(inner) = field.kind() else { continue };
        match value {
            Value::Object(values) if field.is_map() => {
                if let Kind::Message(inner) = inner.map_entry_value_field().kind() {
                    values.values().try_for_each(|value| check_names(&inner, value))?;
                }
            }
            value => check_names(&inner, value)?,
        }
    }
    Ok(())
}

fn no_field(of: &MessageDescriptor, name: &str) -> UserError {
    let names: Vec<String> = of.fields().map(|field| field.name().to_owned()).collect();
    let hint = match did_you_mean(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near}?"),
        None if names.is_empty() => "the message has no fields".to_owned(),
        None => format!("its fields are {}", names.join(", ")),
    };
    UserError::usage(Code::GrpcField, format!("the message {} has no field `{name}`", of.full_name()), hint)
}

/// Turns numbers and booleans in fields of text into text.
fn write_numbers_as_text(of: &MessageDescriptor, message: &mut Value) {
    let Value::Object(entries) = message else { return };
    if of.package_name() == "google.protobuf" {
        return;
    }
    for (name, value) in entries {
        let Some(field) = of.get_field_by_name(name).or_else(|| of.get_field_by_json_name(name)) else {
            continue;
        };
        match (field.kind(), value) {
            (Kind::Message(entry), Value::Object(values)) if field.is_map() => {
                let kind = entry.map_entry_value_field().kind();
                values.values_mut().for_each(|value| write_as_text(&kind, value));
            }
            (kind, Value::Array(items)) => items.iter_mut().for_each(|item| write_as_text(&kind, item)),
            (kind, value) => write_as_text(&kind, value),
        }
    }
}

fn write_as_text(kind: &Kind, value: &mut Value) {
    match (kind, &*value) {
        (Kind::String, Value::Number(_) | Value::Bool(_)) => *value = Value::String(value.to_string()),
        (Kind::Message(inner), _) => write_numbers_as_text(inner, value),
        _ => {}
    }
}
