//! The gRPC service: health checks, and the echo service of `examples/grpc/echo.proto`.

use std::sync::LazyLock;

use prost::Message as _;
use wavetank_grpc::{Descriptors, MessageError, ReflectionAnswers, push_frame, read_frames};
use wavetank_units::Nanos;

use crate::truth::Counts;

/// Statuses that the service answers with.
const UNKNOWN: u16 = 2;
const INVALID_ARGUMENT: u16 = 3;
const RESOURCE_EXHAUSTED: u16 = 8;
const UNIMPLEMENTED: u16 = 12;
/// The largest status.
const STATUS_MAX: u16 = 16;
/// The most messages of one response.
const MESSAGES_MAX: usize = 100_000;
/// The most bytes of one response.
const BODY_BYTES_MAX: usize = 16 << 20;
/// Longest delay.
const DELAY_MAX: Nanos = Nanos::from_secs(3_600);

/// A method of a known service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rpc {
    /// `grpc.health.v1.Health/Check`: the server is always serving.
    Health,
    /// `grpc.reflection.v1.ServerReflection/ServerReflectionInfo`, or that of `v1alpha`.
    Reflection,
    Say,
    Repeat,
    Collect,
    Chat,
    /// A method that its service does not have.
    Unknown,
}

impl Rpc {
    /// Returns the method of a path, if its service is a known one.
    pub(crate) fn from_path(path: &str) -> Option<Self> {
        if let Some(method) = path.strip_prefix("/grpc.health.v1.Health/") {
            return Some(if method == "Check" { Self::Health } else { Self::Unknown });
        }
        for service in ["/grpc.reflection.v1.ServerReflection/", "/grpc.reflection.v1alpha.ServerReflection/"]
        {
            if let Some(method) = path.strip_prefix(service) {
                return Some(if method == "ServerReflectionInfo" { Self::Reflection } else { Self::Unknown });
            }
        }
        let method = path.strip_prefix("/wavetank.echo.v1.Echo/")?;
        Some(match method {
            "Say" => Self::Say,
            "Repeat" => Self::Repeat,
            "Collect" => Self::Collect,
            "Chat" => Self::Chat,
            _ => Self::Unknown,
        })
    }

    /// Returns the response to a request with this body, and how long it waits. Its messages are
    /// counted, except for questions for descriptions.
    pub(crate) fn answer(self, body: &[u8], counts: &Counts) -> (GrpcReply, Nanos) {
        if self == Self::Reflection {
            return (describe(body), Nanos::ZERO);
        }
        let mut messages = Vec::new();
        let read = read_frames(body, |bytes| {
            let message = match self {
                Self::Health | Self::Reflection | Self::Unknown => Message::default(),
                _ => Message::decode(bytes).map_err(|error| MessageError::Bytes(error.to_string()))?,
            };
            messages.push(message);
            Ok(())
        });
        if let Err(error) = read {
            return (GrpcReply::failed(INVALID_ARGUMENT, error.to_string()), Nanos::ZERO);
        }
        counts.messages_received.add(messages.len() as u64);
        self.answer_messages(&messages)
    }

    fn answer_messages(self, messages: &[Message]) -> (GrpcReply, Nanos) {
        let wait = |message: &Message| Nanos::from_millis(i64::from(message.delay_ms.max(0))).min(DELAY_MAX);
        let delay = messages.iter().map(wait).max().unwrap_or_default();
        let is_stream = matches!(self, Self::Collect | Self::Chat);
        let reply = match (self, messages) {
            (Self::Unknown, _) => GrpcReply::failed(UNIMPLEMENTED, "there is no such method".to_owned()),
            (_, all) if !is_stream && all.len() != 1 => {
                let message = format!("{} messages; the method takes one", all.len());
                GrpcReply::failed(INVALID_ARGUMENT, message)
            }
            (_, all) if let Some(bad) = all.iter().find(|message| message.status != 0) => {
                let status = u16::try_from(bad.status).ok().filter(|status| *status <= STATUS_MAX);
                GrpcReply::failed(status.unwrap_or(UNKNOWN), bad.text.clone())
            }
            (Self::Health, _) => GrpcReply::of(&[Serving { status: 1 }]),
            (Self::Repeat, [one]) => {
                let count = usize::try_from(one.count.max(1)).unwrap_or(usize::MAX);
                if count > MESSAGES_MAX || one.encoded_len().saturating_mul(count) > BODY_BYTES_MAX {
                    GrpcReply::failed(RESOURCE_EXHAUSTED, "the response would be too large".to_owned())
                } else {
                    GrpcReply::of(&vec![one.clone(); count])
                }
            }
            (Self::Collect, all) => {
                let count = i32::try_from(all.len()).unwrap_or(i32::MAX);
                let last = all.last().cloned().unwrap_or_default();
                GrpcReply::of(&[Message { count, ..last }])
            }
            (_, all) => GrpcReply::of(all),
        };
        (reply, delay)
    }
}

/// The services that reflection describes.
const HEALTH: &str = "syntax = \"proto3\"; package grpc.health.v1; \
    message HealthCheckRequest { string service = 1; } \
    message HealthCheckResponse { \
        enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; SERVICE_UNKNOWN = 3; } \
        ServingStatus status = 1; \
    } \
    service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }";
const ECHO: &str = include_str!("../../../examples/grpc/echo.proto");

static DESCRIBED: LazyLock<ReflectionAnswers> = LazyLock::new(|| {
    let source = |name: &str| match name {
        "health.proto" => Some(HEALTH.to_owned()),
        "echo.proto" => Some(ECHO.to_owned()),
        _ => None,
    };
    let compiled = Descriptors::compile(&["health.proto", "echo.proto"], &source).expect("valid files");
    ReflectionAnswers::new(&compiled.encode()).expect("a valid set")
});

/// Answers questions for descriptions.
fn describe(body: &[u8]) -> GrpcReply {
    let mut answers = Vec::new();
    match DESCRIBED.answer(body, &mut answers) {
        Ok(()) => GrpcReply { body: answers, ..GrpcReply::default() },
        Err(error) => GrpcReply::failed(INVALID_ARGUMENT, error.to_string()),
    }
}

/// The response to a call.
#[derive(Debug, Default)]
pub(crate) struct GrpcReply {
    /// The frames of the messages.
    pub(crate) body: Vec<u8>,
    /// The number of messages that are counted as sent.
    pub(crate) messages: u64,
    pub(crate) status: u16,
    /// The message of a status other than OK.
    pub(crate) message: String,
}

impl GrpcReply {
    fn of(messages: &[impl prost::Message]) -> Self {
        let mut body = Vec::new();
        for message in messages {
            push_frame(&mut body, false, |out| message.encode(out)).expect("a buffer takes all bytes");
        }
        Self { body, messages: messages.len() as u64, ..Self::default() }
    }

    pub(crate) fn failed(status: u16, message: String) -> Self {
        Self { status, message, ..Self::default() }
    }

    /// Appends the head of the response. A response without messages has no trailers: its status is
    /// in its head.
    pub(crate) fn push_head(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
        out.extend_from_slice(b"content-type: application/grpc\r\n");
        if self.body.is_empty() {
            self.push_trailers(out);
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.body);
    }

    /// Appends the trailers as lines.
    pub(crate) fn push_trailers(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("grpc-status: {}\r\n", self.status).as_bytes());
        if self.message.is_empty() {
            return;
        }
        out.extend_from_slice(b"grpc-message: ");
        for byte in self.message.bytes() {
            match byte {
                b' '..=b'~' if byte != b'%' => out.push(byte),
                _ => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            }
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// The message of the echo service; see `examples/grpc/echo.proto`. Other fields of it are echoed
/// as they are only by the methods that need none of these, so all fields are here.
#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(string, tag = "1")]
    text: String,
    #[prost(int32, tag = "2")]
    status: i32,
    #[prost(int32, tag = "3")]
    delay_ms: i32,
    #[prost(int32, tag = "4")]
    count: i32,
    #[prost(bytes = "vec", tag = "5")]
    payload: Vec<u8>,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(message, repeated, tag = "7")]
    items: Vec<Item>,
    #[prost(int64, tag = "8")]
    number: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Item {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(double, tag = "2")]
    price: f64,
}

/// `grpc.health.v1.HealthCheckResponse`.
#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Serving {
    #[prost(int32, tag = "1")]
    status: i32,
}
