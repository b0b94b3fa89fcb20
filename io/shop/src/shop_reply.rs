//! [`ShopReply`]: what the shop makes of a request, and what it needs to know of it.

use crate::page::ShopResponse;

/// The request methods that the shop distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShopMethod {
    /// GET or HEAD.
    Get,
    /// POST.
    Post,
    /// Any other.
    Other,
}

/// What the shop reads of a request.
#[derive(Clone, Copy, Debug)]
pub struct ShopRequest<'a> {
    /// Its method.
    pub method: ShopMethod,
    /// The `Cookie` field; empty if there is none.
    pub cookie: &'a [u8],
    /// The body.
    pub body: &'a [u8],
}

/// The reply to a request.
#[derive(Debug)]
pub enum ShopReply {
    /// A response.
    Page(Box<ShopResponse>),
    /// 405, with the allowed methods.
    Allow(&'static str),
    /// The outcome of the database job with this ticket, once it returns.
    Awaited(u32),
}
