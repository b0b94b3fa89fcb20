//! The static table (RFC 7541 appendix A).

/// The entries with the indices 1 to 61: name and value.
#[rustfmt::skip]
pub(crate) static STATIC_TABLE: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// Returns the index of the entry with that name and value, or else of the first entry with that
/// name.
pub(crate) fn find(name: &[u8], value: &[u8]) -> StaticMatch {
    let mut found = StaticMatch::None;
    for (at, (its_name, its_value)) in STATIC_TABLE.iter().enumerate() {
        if its_name.as_bytes() != name {
            continue;
        }
        if its_value.as_bytes() == value {
            return StaticMatch::Whole(at + 1);
        }
        if matches!(found, StaticMatch::None) {
            found = StaticMatch::Name(at + 1);
        }
    }
    found
}

/// The entry of the static table that fits a field best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StaticMatch {
    /// No entry has its name.
    None,
    /// This entry has its name.
    Name(usize),
    /// This entry has its name and value.
    Whole(usize),
}
