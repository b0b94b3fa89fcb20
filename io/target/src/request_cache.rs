//! [`RequestCache`]: the last complete request of this thread, and its parsed form.
//!
//! Most clients send the same bytes repeatedly, and comparing them takes a tenth of the time for
//! parsing. The bytes of a request, up to its end, determine the parsed form if no part of the
//! request was read before.

use std::ops::Range;

use wavetank_wire::h1::RequestEnd;

use crate::method::Method;

/// Longer requests are parsed each time.
const BYTES_MAX: usize = 1_024;

/// See the module's description.
#[derive(Debug, Default)]
pub(crate) struct RequestCache {
    /// The bytes of the request.
    bytes: Vec<u8>,
    /// Their parsed form; `None` only if there are no bytes.
    read: Option<KnownRequest>,
}

/// The parsed form of a request without a body and without `Expect: 100-continue`.
#[derive(Clone, Debug)]
pub(crate) struct KnownRequest {
    /// Position of the target in the request.
    pub(crate) target: Range<usize>,
    pub(crate) verb: Method,
    pub(crate) end: RequestEnd,
    /// Its length in bytes.
    pub(crate) len: usize,
}

impl RequestCache {
    /// Returns the cached request, if `bytes` start with it.
    #[inline]
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<KnownRequest> {
        let read = self.read.as_ref()?;
        bytes.starts_with(&self.bytes).then(|| read.clone())
    }

    /// Stores a request. `bytes` are all of its bytes.
    #[inline]
    pub(crate) fn remember(&mut self, bytes: &[u8], target: Range<usize>, verb: Method, end: RequestEnd) {
        if bytes.len() <= BYTES_MAX {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
            self.read = Some(KnownRequest { target, verb, end, len: bytes.len() });
        }
    }
}
