//! [`Descriptors`]: the services and messages of `.proto` files.

use prost::Message as _;
use prost_reflect::prost_types::FileDescriptorSet;
use prost_reflect::{DescriptorPool, MethodDescriptor};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};
use wavetank_units::{Code, UserError, did_you_mean};

use crate::Method;

/// The services and messages of `.proto` files, or of a set of descriptors.
#[derive(Clone, Debug)]
pub struct Descriptors {
    pool: DescriptorPool,
}

impl Descriptors {
    /// Compiles `names`. `source` returns the text of a file by the name under which others import
    /// it; `None`: there is none. The files of `google/protobuf` are built in.
    ///
    /// # Errors
    /// If a file is missing or is not valid. The message has the file, line and column.
    pub fn compile(names: &[&str], source: &dyn Fn(&str) -> Option<String>) -> Result<Self, UserError> {
        let mut resolver = ChainFileResolver::new();
        // The resolver must be `'static`, so the sources are collected first.
        let mut sources = Sources(Vec::new());
        for name in names {
            sources.add(name, source)?;
        }
        resolver.add(sources);
        resolver.add(GoogleFileResolver::new());
        let mut compiler = Compiler::with_file_resolver(resolver);
        compiler.include_imports(true);
        for name in names {
            compiler.open_file(name).map_err(|error| invalid(&error))?;
        }
        Ok(Self { pool: compiler.descriptor_pool() })
    }

    /// Reads an encoded `FileDescriptorSet`, as `protoc --descriptor_set_out --include_imports`
    /// writes it.
    ///
    /// # Errors
    /// If the bytes are not such a set, or an imported file is not in it.
    pub fn decode(bytes: &[u8]) -> Result<Self, UserError> {
        let invalid = |error: &dyn std::fmt::Display| {
            let message = format!("the set of descriptors is not valid: {error}");
            UserError::usage(Code::BadProto, message, "protoc --include_imports --descriptor_set_out=FILE …")
        };
        let set = FileDescriptorSet::decode(bytes).map_err(|error| invalid(&error))?;
        // The library panics at others, such as `editions`.
        let is_known = |syntax: &str| matches!(syntax, "proto2" | "proto3");
        if let Some(file) = set.file.iter().find(|file| !file.syntax.as_deref().is_none_or(is_known)) {
            let message = format!("{} has the syntax {}, which is not supported", file.name(), file.syntax());
            return Err(UserError::usage(
                Code::BadProto,
                message,
                "describe the services in proto2 or proto3",
            ));
        }
        let pool = DescriptorPool::from_file_descriptor_set(set).map_err(|error| invalid(&error))?;
        Ok(Self { pool })
    }

    /// Returns them as an encoded `FileDescriptorSet`.
    pub fn encode(&self) -> Vec<u8> {
        self.pool.encode_to_vec()
    }

    /// Returns a method by the name of its service and its own: `shop.Orders/Place`. The method
    /// alone is enough if only one service has it.
    ///
    /// # Errors
    /// If there is no such method.
    pub fn method(&self, name: &str) -> Result<Method, UserError> {
        let name = name.trim_start_matches('/');
        let (service, method) = name.rsplit_once('/').or_else(|| name.rsplit_once('.')).unwrap_or(("", name));
        let full =
            |found: &MethodDescriptor| format!("{}/{}", found.parent_service().full_name(), found.name());
        let all: Vec<MethodDescriptor> =
            self.pool.services().flat_map(|service| service.methods().collect::<Vec<_>>()).collect();
        let fits = |found: &&MethodDescriptor| {
            let own = found.parent_service();
            let named = service.is_empty() || own.full_name() == service || own.name() == service;
            named && found.name() == method
        };
        let found: Vec<&MethodDescriptor> = all.iter().filter(fits).collect();
        match found.as_slice() {
            [only] => return Ok(Method::new((*only).clone())),
            [] => {}
            several => {
                let names: Vec<String> = several.iter().map(|found| full(found)).collect();
                let message = format!("several services have a method `{name}`");
                return Err(UserError::usage(
                    Code::GrpcMethod,
                    message,
                    format!("one of {}", names.join(", ")),
                ));
            }
        }
        let names: Vec<String> = all.iter().map(full).collect();
        let hint = match did_you_mean(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {near}?"),
            None if names.is_empty() => "name a .proto file that has services".to_owned(),
            None => format!("there is {}", list(&names)),
        };
        Err(UserError::usage(Code::GrpcMethod, format!("no service has a method `{name}`"), hint))
    }
}

/// Returns the first of `names`.
fn list(names: &[String]) -> String {
    const SHOWN_MAX: usize = 6;
    let more = if names.len() > SHOWN_MAX { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(SHOWN_MAX)].join(", "))
}

/// The text of each file, by name.
struct Sources(Vec<(String, String)>);

/// The most files that are read.
const FILES_MAX: usize = 10_000;

impl Sources {
    /// Adds a file and all that it imports.
    fn add(&mut self, name: &str, source: &dyn Fn(&str) -> Option<String>) -> Result<(), UserError> {
        let mut waiting = vec![name.to_owned()];
        while let Some(name) = waiting.pop() {
            let is_known = self.0.iter().any(|(known, _)| *known == name);
            if is_known || self.0.len() >= FILES_MAX {
                continue;
            }
            // A missing file is reported with the position of its import.
            let Some(text) = source(&name) else { continue };
            let file = File::from_source(&name, &text).map_err(|error| invalid(&error))?;
            waiting.extend(file.file_descriptor_proto().dependency.iter().cloned());
            self.0.push((name, text));
        }
        Ok(())
    }
}

impl FileResolver for Sources {
    fn resolve_path(&self, path: &std::path::Path) -> Option<String> {
        path.to_str().map(str::to_owned)
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let text = self.0.iter().find(|(known, _)| known == name).map(|(_, text)| text);
        File::from_source(name, text.ok_or_else(|| protox::Error::file_not_found(name))?)
    }
}

/// Returns the error for a file that cannot be compiled. Its debug form has file, line and column.
fn invalid(error: &protox::Error) -> UserError {
    let message = format!("{error:?}").replace('\'', "`");
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = match error.file() {
        Some(file) if !message.contains(file) => format!("{file}: {message}"),
        _ => message,
    };
    let hint = if error.is_file_not_found() {
        "name the folder that imports start from: grpc: {paths: [protos]}, or --proto-path DIR"
    } else {
        "correct the .proto file"
    };
    UserError::usage(Code::BadProto, message, hint)
}
