//! A journey as data: compiled once before the run, read by all sessions. Nothing here knows a
//! session.

mod check;
mod credentials;
mod grpc_codec;
mod message;
mod program;
mod request_template;
mod retain;
mod step;
mod target_matcher;

pub use check::CompiledCheck;
pub(crate) use check::{CompiledTest, Subject};
pub(crate) use credentials::Credentials;
pub use grpc_codec::GrpcCodec;
pub(crate) use message::CompiledMessage;
pub(crate) use program::Op;
pub use program::{DEPTH_MAX, Program};
pub(crate) use request_template::Fixed;
pub use request_template::RequestTemplate;
pub use retain::Retain;
pub use step::CompiledStep;
pub(crate) use step::{FollowUpConfig, is_idempotent};
