//! [`RequestCache`]: the last request of this thread that came whole, and what was read from it.
//!
//! Most clients send the same bytes again and again, and comparing them costs a tenth of reading them. What the
//! bytes up to a request's end mean depends on nothing else, if nothing of that request came before.

use std::ops::Range;

use wavetank_wire::h1::RequestEnd;

use crate::connection::Method;

/// Longer requests are read each time.
const BYTES_MAX: usize = 1_024;

/// See the module's description.
#[derive(Debug, Default)]
pub(crate) struct RequestCache {
    /// Up to the request's end.
    bytes: Vec<u8>,
    /// What was read from them; always there if there are any.
    read: Option<KnownRequest>,
}

/// What was read from a request without a body, whose client waits for nothing.
#[derive(Clone, Debug)]
pub(crate) struct KnownRequest {
    /// Where its target is in its bytes.
    pub(crate) target: Range<usize>,
    pub(crate) verb: Method,
    pub(crate) end: RequestEnd,
    /// Its length in bytes.
    pub(crate) len: usize,
}

impl RequestCache {
    /// The request that `bytes` begin with, if it is the one that is known.
    #[inline]
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<KnownRequest> {
        let read = self.read.as_ref()?;
        bytes.starts_with(&self.bytes).then(|| read.clone())
    }

    /// Remember a request, of which `bytes` are all.
    #[inline]
    pub(crate) fn remember(&mut self, bytes: &[u8], target: Range<usize>, verb: Method, end: RequestEnd) {
        if bytes.len() <= BYTES_MAX {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
            self.read = Some(KnownRequest { target, verb, end, len: bytes.len() });
        }
    }
}
