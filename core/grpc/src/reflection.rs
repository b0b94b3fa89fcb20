//! [`Reflection`]: asks a server for the descriptions of its services.
//!
//! The protocol is `grpc.reflection.v1`, or `v1alpha` where a server has only that
//! (<https://github.com/grpc/grpc/blob/master/doc/server-reflection.md>). Its method takes and
//! returns a stream. All questions of a round are sent together.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message as _;
use prost_reflect::prost_types::FileDescriptorProto;
use wavetank_units::{Code, UserError};

use crate::frame;

const UNIMPLEMENTED: u16 = 12;
/// The most files that are asked for.
const FILES_MAX: usize = 10_000;
/// The most questions of one round, so that the response is not too long.
const QUESTIONS_MAX: usize = 16;
const HINT: &str = "grpc: {proto: FILE}, or --proto FILE, describes the services without the server";

/// The versions of the protocol, the newest first.
const VERSIONS: [&str; 2] = ["v1", "v1alpha"];

/// A conversation with a server; see the module documentation.
#[derive(Debug)]
pub struct Reflection {
    /// Index into [`VERSIONS`].
    version: usize,
    has_services: bool,
    /// Services and files that were not asked for yet.
    waiting: Vec<Question>,
    /// The encoded files that have arrived, by name.
    files: BTreeMap<String, Vec<u8>>,
    /// The files that were asked for, or have arrived.
    known: BTreeSet<String>,
    /// The first error that the server answered with.
    error: Option<String>,
}

/// What a server is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Question {
    Services,
    Symbol(String),
    File(String),
}

impl Default for Reflection {
    fn default() -> Self {
        Self::new()
    }
}

impl Reflection {
    /// Starts a conversation.
    pub const fn new() -> Self {
        Self {
            version: 0,
            has_services: false,
            waiting: Vec::new(),
            files: BTreeMap::new(),
            known: BTreeSet::new(),
            error: None,
        }
    }

    /// Returns the path and the body of the next request; `None`: everything has arrived.
    pub fn next_request(&self) -> Option<(String, Vec<u8>)> {
        let path =
            format!("/grpc.reflection.{}.ServerReflection/ServerReflectionInfo", VERSIONS[self.version]);
        let questions: &[Question] = if self.has_services { self.round() } else { &[Question::Services] };
        let mut body = Vec::new();
        for question in questions {
            let message = Request::from(question);
            frame::push(&mut body, false, |out| message.encode(out)).expect("a buffer takes all bytes");
        }
        (!questions.is_empty()).then_some((path, body))
    }

    /// The questions of the next round.
    fn round(&self) -> &[Question] {
        &self.waiting[..self.waiting.len().min(QUESTIONS_MAX)]
    }

    /// Reads the response to the last request: its gRPC status and its body.
    ///
    /// # Errors
    /// If the server does not support the protocol, or breaks it.
    pub fn read_response(&mut self, status: u16, body: &[u8]) -> Result<(), UserError> {
        if status == UNIMPLEMENTED && !self.has_services && self.version + 1 < VERSIONS.len() {
            self.version += 1;
            return Ok(());
        }
        if status == UNIMPLEMENTED {
            return Err(failed("the server does not support reflection"));
        }
        if status != 0 {
            return Err(failed(&format!(
                "the server answered the question for its services with status {status}"
            )));
        }
        let mut responses = Vec::new();
        let read = frame::read(body, |bytes| {
            let response = Response::decode(bytes);
            responses.push(response.map_err(|error| crate::MessageError::Bytes(error.to_string()))?);
            Ok(())
        });
        read.map_err(|error| failed(&format!("the answer to reflection is not valid: {error}")))?;
        let asked = if self.has_services { self.round().len() } else { 1 };
        if responses.len() != asked {
            let message = format!("the server answered {} of {asked} questions", responses.len());
            return Err(failed(&message));
        }
        if self.has_services {
            self.waiting.drain(..asked);
        }
        responses.into_iter().try_for_each(|response| self.take(response))
    }

    fn take(&mut self, response: Response) -> Result<(), UserError> {
        if let Some(error) = response.error {
            // Some servers do not describe all of their services.
            let text = format!("the server answered: {} (status {})", error.message, error.code);
            self.error.get_or_insert(text);
            self.has_services = true;
        }
        if let Some(list) = response.services {
            self.has_services = true;
            let own = |name: &str| name.starts_with("grpc.reflection.");
            let services = list.service.into_iter().map(|service| service.name).filter(|name| !own(name));
            self.waiting.extend(services.map(Question::Symbol));
        }
        for bytes in response.files.map(|files| files.file).unwrap_or_default() {
            self.add(bytes)?;
        }
        Ok(())
    }

    /// Adds a file, and asks for those that it imports.
    fn add(&mut self, bytes: Vec<u8>) -> Result<(), UserError> {
        let file = FileDescriptorProto::decode(&*bytes)
            .map_err(|error| failed(&format!("a description of the server is not valid: {error}")))?;
        let name = file.name.unwrap_or_default();
        self.known.insert(name.clone());
        if self.files.contains_key(&name) {
            return Ok(());
        }
        // It may have been asked for by another file meanwhile.
        self.waiting.retain(|question| !matches!(question, Question::File(own) if *own == name));
        self.files.insert(name, bytes);
        for import in file.dependency {
            if self.known.insert(import.clone()) {
                self.waiting.push(Question::File(import));
            }
        }
        if self.known.len() > FILES_MAX {
            return Err(failed("the server describes too many files"));
        }
        Ok(())
    }

    /// Returns everything that has arrived as an encoded `FileDescriptorSet`.
    ///
    /// # Errors
    /// If the server has described nothing.
    pub fn into_descriptors(self) -> Result<Vec<u8>, UserError> {
        if self.files.is_empty() {
            return Err(failed(self.error.as_deref().unwrap_or("the server names no services")));
        }
        Ok(FileSet { file: self.files.into_values().collect() }.encode_to_vec())
    }
}

fn failed(message: &str) -> UserError {
    UserError::usage(Code::BadProto, format!("cannot get the services by reflection: {message}"), HINT)
}

/// `grpc.reflection.v1.ServerReflectionRequest`.
#[derive(Clone, PartialEq, prost::Message)]
struct Request {
    #[prost(string, optional, tag = "3")]
    file: Option<String>,
    #[prost(string, optional, tag = "4")]
    symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    services: Option<String>,
}

impl From<&Question> for Request {
    fn from(question: &Question) -> Self {
        match question {
            Question::Services => Self { services: Some("*".to_owned()), ..Self::default() },
            Question::Symbol(name) => Self { symbol: Some(name.clone()), ..Self::default() },
            Question::File(name) => Self { file: Some(name.clone()), ..Self::default() },
        }
    }
}

/// `grpc.reflection.v1.ServerReflectionResponse`.
#[derive(Clone, PartialEq, prost::Message)]
struct Response {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<ResponseError>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    service: Vec<Service>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ResponseError {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// `google.protobuf.FileDescriptorSet`, with files as they came, so that options are kept.
#[derive(Clone, PartialEq, prost::Message)]
struct FileSet {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file: Vec<Vec<u8>>,
}

/// Answers the questions of a client from descriptions.
#[derive(Clone, Debug)]
pub struct ReflectionAnswers {
    pool: prost_reflect::DescriptorPool,
}

impl ReflectionAnswers {
    /// Answers from an encoded `FileDescriptorSet`.
    ///
    /// # Errors
    /// If it is not valid.
    pub fn new(set: &[u8]) -> Result<Self, UserError> {
        let pool = prost_reflect::DescriptorPool::decode(set);
        Ok(Self { pool: pool.map_err(|error| failed(&error.to_string()))? })
    }

    /// Appends the response to the body of a request to `out`.
    ///
    /// # Errors
    /// If the body has no valid messages.
    pub fn answer(&self, body: &[u8], out: &mut Vec<u8>) -> Result<(), crate::MessageError> {
        frame::read(body, |bytes| {
            let request = Request::decode(bytes);
            let request = request.map_err(|error| crate::MessageError::Bytes(error.to_string()))?;
            let response = self.response(&request);
            frame::push(out, false, |out| response.encode(out)).expect("a buffer takes all bytes");
            Ok(())
        })
        .map(drop)
    }

    fn response(&self, request: &Request) -> Response {
        if request.services.is_some() {
            let name =
                |service: prost_reflect::ServiceDescriptor| Service { name: service.full_name().to_owned() };
            let services = Some(Services { service: self.pool.services().map(name).collect() });
            return Response { services, ..Response::default() };
        }
        let file = match (&request.file, &request.symbol) {
            (Some(name), _) => self.pool.get_file_by_name(name),
            (None, Some(name)) => self.pool.get_service_by_name(name).map(|service| service.parent_file()),
            (None, None) => None,
        };
        let Some(file) = file else {
            let error = ResponseError { code: 5, message: "there is no such file or service".to_owned() };
            return Response { error: Some(error), ..Response::default() };
        };
        let files = Some(Files { file: vec![file.encode_to_vec()] });
        Response { files, ..Response::default() }
    }
}
