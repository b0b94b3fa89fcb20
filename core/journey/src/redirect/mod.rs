//! Redirects: the new address, the method, and the headers that may be sent there.

mod hop;
mod http_url;

pub use hop::{Hop, RedirectFault, may_forward_header};
pub use http_url::HttpUrl;
