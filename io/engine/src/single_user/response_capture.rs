//! [`ResponseCapture`]: the data of a response received so far.

use wavetank_measure::ErrorClass;
use wavetank_units::Nanos;

use crate::failure::Failure;

/// The maximum size of the start of a response that is kept, to show what was wrong with it.
const SEEN_BYTES_MAX: usize = 4_096;

/// The data received so far.
#[derive(Default)]
pub(super) struct ResponseCapture {
    /// The start of the received bytes.
    pub(super) seen: Vec<u8>,
    pub(super) first_byte: Option<Nanos>,
    pub(super) sent: bool,
}

impl ResponseCapture {
    /// Keeps the start of the received bytes.
    pub(super) fn observe(&mut self, bytes: &[u8]) {
        let room = SEEN_BYTES_MAX.saturating_sub(self.seen.len()).min(bytes.len());
        self.seen.extend_from_slice(&bytes[..room]);
    }

    /// Returns `failure` with its reason, if the response shows it: an event stream does not end.
    pub(super) fn of_failure(&self, failure: Failure) -> Failure {
        let mut lines = self.seen.split(|byte| *byte == b'\n').map(<[u8]>::to_ascii_lowercase);
        let is_stream = |line: Vec<u8>| {
            let value = line.strip_prefix(b"content-type:").map(<[u8]>::trim_ascii);
            value.is_some_and(|value| value.starts_with(b"text/event-stream"))
        };
        if failure.class == ErrorClass::RequestTimeout && lines.any(is_stream) {
            let what = "the response is an event stream (text/event-stream), which does not end";
            return Failure::detailed(ErrorClass::RequestTimeout, what);
        }
        failure
    }
}
