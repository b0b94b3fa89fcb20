//! [`Coding`]: the coding named in `Content-Encoding`.

/// A content coding (RFC 9110 §8.4.1, RFC 7932, RFC 8878).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// No coding.
    Identity,
    /// `gzip`, `x-gzip`.
    Gzip,
    /// `deflate`: zlib, or raw deflate as some servers send it.
    Deflate,
    /// `br`.
    Br,
    /// `zstd`.
    Zstd,
}

impl Coding {
    /// The value of `Accept-Encoding` for responses with a body that is inspected.
    pub const ACCEPTED: &'static str = "gzip, deflate, br, zstd";

    /// Parses the value of a `Content-Encoding` header. Returns `None` for an unknown coding, and
    /// for several codings, which no server in use sends.
    pub fn from_header(value: &[u8]) -> Option<Self> {
        let mut named = value
            .split(|byte| *byte == b',')
            .map(<[u8]>::trim_ascii)
            .filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case(b"identity"));
        let Some(word) = named.next() else { return Some(Self::Identity) };
        if named.next().is_some() {
            return None;
        }
        let known: [(&[u8], Self); 5] = [
            (b"gzip", Self::Gzip),
            (b"x-gzip", Self::Gzip),
            (b"deflate", Self::Deflate),
            (b"br", Self::Br),
            (b"zstd", Self::Zstd),
        ];
        known.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)).map(|(_, coding)| *coding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_name_their_coding() {
        let check =
            |value: &str, expected| assert_eq!(Coding::from_header(value.as_bytes()), expected, "{value}");
        check("", Some(Coding::Identity));
        check("identity", Some(Coding::Identity));
        check(" GZip ", Some(Coding::Gzip));
        check("x-gzip, identity", Some(Coding::Gzip));
        check("deflate", Some(Coding::Deflate));
        check("br", Some(Coding::Br));
        check("zstd", Some(Coding::Zstd));
        check("gzip, br", None);
        check("compress", None);
        for word in Coding::ACCEPTED.split(", ") {
            assert!(Coding::from_header(word.as_bytes()).is_some(), "{word} is asked for and not understood");
        }
    }
}
