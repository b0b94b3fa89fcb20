//! [`GrpcPlan`]: a step that is a gRPC call.

use serde::{Deserialize, Serialize};

use super::bytes;

/// The call of a step. The body of its request is JSON, of which the message is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrpcPlan {
    /// Index into [`SharedPlan::descriptors`](crate::SharedPlan::descriptors).
    pub descriptors: u16,
    /// Service with its package, and method: `shop.Orders/Place`.
    pub method: String,
    /// Whether messages are sent compressed.
    pub gzip: bool,
}

/// The services and messages of `.proto` files, as an encoded `FileDescriptorSet`. Agents need no
/// files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescriptorSet(#[serde(with = "bytes")] pub Vec<u8>);
