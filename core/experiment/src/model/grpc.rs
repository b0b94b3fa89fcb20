//! [`Grpc`]: where the services of gRPC targets are described.

use wavetank_grammar::Spanned;

use crate::placeless::without_span;

/// `grpc:`. Files are named, not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grpc {
    /// The `.proto` files.
    pub proto: Vec<Spanned<String>>,
    /// Folders that imports start from.
    pub paths: Vec<String>,
    /// A file with a set of descriptors.
    pub descriptors: Option<Spanned<String>>,
    /// Whether the server is asked for the descriptions. The caller then puts the answer into
    /// `descriptors`.
    pub reflection: bool,
    /// Whether messages are compressed.
    pub gzip: bool,
    /// Whether servers do not learn the timeouts of calls.
    pub hides_deadline: bool,
}

impl Grpc {
    /// Takes the descriptions that the server gave, which are read like a file of this name.
    pub fn take_descriptors(&mut self, name: &str) {
        self.descriptors = Some(without_span(name.to_owned()));
    }
}
