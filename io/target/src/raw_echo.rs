//! [`RawEcho`]: a TCP connection that sends everything back.

use crate::truth::Counts;

/// A client that reads nothing gets at most this much.
const OUT_BYTES_MAX: usize = 64 << 20;

/// See the module's description.
#[derive(Debug, Default)]
pub(crate) struct RawEcho {
    pub(crate) out: Vec<u8>,
}

impl RawEcho {
    /// Sends received bytes back. Returns `false` if the client reads too little. Lines are counted
    /// as messages.
    pub(crate) fn read(&mut self, bytes: &[u8], counts: &Counts) -> bool {
        let lines = memchr::memchr_iter(b'\n', bytes).count() as u64;
        counts.messages_received.add(lines);
        counts.messages_sent.add(lines);
        self.out.extend_from_slice(bytes);
        self.out.len() <= OUT_BYTES_MAX
    }
}
