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

    /// Parses the value of a `Content-Encoding` header: the codings in the order in which they were
    /// applied, without `identity`. Returns `None` if one of them is unknown.
    pub fn from_header(value: &[u8]) -> Option<Vec<Self>> {
        let named = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        let applied = named.filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case(b"identity"));
        applied.map(Self::from_name).collect()
    }

    fn from_name(name: &[u8]) -> Option<Self> {
        let known: [(&[u8], Self); 5] = [
            (b"gzip", Self::Gzip),
            (b"x-gzip", Self::Gzip),
            (b"deflate", Self::Deflate),
            (b"br", Self::Br),
            (b"zstd", Self::Zstd),
        ];
        known.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, coding)| *coding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_name_their_coding() {
        let check = |value: &str, expected: Option<&[Coding]>| {
            assert_eq!(Coding::from_header(value.as_bytes()).as_deref(), expected, "{value}");
        };
        check("", Some(&[]));
        check("identity", Some(&[]));
        check(" GZip ", Some(&[Coding::Gzip]));
        check("x-gzip, identity", Some(&[Coding::Gzip]));
        check("deflate", Some(&[Coding::Deflate]));
        check("br", Some(&[Coding::Br]));
        check("zstd", Some(&[Coding::Zstd]));
        check("gzip, identity,br", Some(&[Coding::Gzip, Coding::Br]));
        check("compress", None);
        check("gzip, compress", None);
        for word in Coding::ACCEPTED.split(", ") {
            assert!(Coding::from_header(word.as_bytes()).is_some(), "{word} is asked for and not understood");
        }
    }
}
