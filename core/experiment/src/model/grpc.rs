//! [`Grpc`]: where the services of gRPC targets are described.

use wavetank_grammar::Spanned;

/// `grpc:`. Files are named, not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grpc {
    /// The `.proto` files.
    pub proto: Vec<Spanned<String>>,
    /// Folders that imports start from.
    pub paths: Vec<String>,
    /// A file with a set of descriptors.
    pub descriptors: Option<Spanned<String>>,
    /// Whether messages are compressed.
    pub gzip: bool,
}
