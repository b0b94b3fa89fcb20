//! gRPC settings: `grpc`.

use wavetank_grammar::key;

use super::{Kind, Section};

/// `grpc:`.
pub(crate) static GRPC: Section = Section {
    name: "grpc",
    title: "gRPC",
    about: "What describes the services of grpc:// targets: one of proto, descriptors and reflection.",
    keys: &[
        key("proto", Kind::OneOrList(&Kind::File), "The .proto files with the services."),
        key(
            "paths",
            Kind::OneOrList(&Kind::Text),
            "Folders that imports start from; default: the folder of each .proto file and that of the \
             experiment.",
        ),
        key("descriptors", Kind::File, "A file that protoc --include_imports --descriptor_set_out wrote."),
        key(
            "reflection",
            Kind::Bool,
            "Ask the server for its services before anything else is sent; default false.",
        ),
        key("gzip", Kind::Bool, "Compress messages, and accept compressed ones; default false."),
        key("deadline", Kind::Bool, "Send the timeout of a grpc.call as grpc-timeout; default true."),
    ],
    verbs: &[],
};
