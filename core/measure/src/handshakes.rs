//! [`Handshakes`]: TLS handshakes, by what they agreed on.

/// The negotiated parameters of one handshake.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HandshakeParams {
    /// Version, e.g. `TLSv1.3`.
    pub version: String,
    /// Cipher suite, e.g. `TLS_AES_128_GCM_SHA256`.
    pub cipher: String,
    /// Key exchange group, e.g. `X25519`; empty if there was no key exchange.
    pub group: String,
    /// Application protocol, e.g. `http/1.1`; empty if none was chosen.
    pub alpn: String,
    /// The session of an earlier connection was resumed.
    pub resumed: bool,
}

/// Completed handshakes. The plan's offers bound the possible parameter combinations, so a short
/// list is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handshakes {
    /// Complete ones, by what they agreed on; sorted once merged.
    pub complete: Vec<(HandshakeParams, u64)>,
    /// Begun on a connection that was open, and never completed.
    pub failed: u64,
}

impl Handshakes {
    /// Count `n` complete handshakes.
    pub fn add(&mut self, agreed: &HandshakeParams, n: u64) {
        match self.complete.iter_mut().find(|(known, _)| known == agreed) {
            Some((_, count)) => *count += n,
            None => self.complete.push((agreed.clone(), n)),
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (agreed, n) in &other.complete {
            self.add(agreed, *n);
        }
        self.complete.sort_unstable();
        self.failed += other.failed;
    }

    /// Complete ones.
    pub fn count(&self) -> u64 {
        self.complete.iter().map(|(_, n)| n).sum()
    }

    /// Handshakes that resumed a session.
    pub fn resumed(&self) -> u64 {
        self.complete.iter().filter(|(agreed, _)| agreed.resumed).map(|(_, n)| n).sum()
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.complete.is_empty() && self.failed == 0
    }
}
