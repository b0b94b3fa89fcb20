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

    /// The name of the coding.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Br => "br",
            Self::Zstd => "zstd",
        }
    }

    /// Whether `body` may begin a body in this coding. Only gzip and zstd have a fixed start.
    pub(super) fn may_begin(self, body: &[u8]) -> bool {
        let starts: &[&[u8]] = match self {
            Self::Gzip => &[b"\x1f\x8b"],
            // A frame, or a skippable one, of which the first byte varies.
            Self::Zstd => &[b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"],
            Self::Identity | Self::Deflate | Self::Br => return true,
        };
        let skippable = |at: usize, byte: u8| if at == 0 && byte >> 4 == 5 { 0x50 } else { byte };
        let fits = |start: &&[u8]| {
            let pairs = body.iter().zip(*start).enumerate();
            pairs.into_iter().all(|(at, (byte, wanted))| skippable(at, *byte) == *wanted)
        };
        starts.iter().any(fits)
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
    fn a_start_shows_the_coding() {
        let check = |coding: Coding, body: &[u8], expected: bool| {
            assert_eq!(coding.may_begin(body), expected, "{coding:?} {body:?}");
        };
        check(Coding::Gzip, b"\x1f\x8b\x08", true);
        check(Coding::Gzip, b"\x1f", true);
        check(Coding::Gzip, b"{}", false);
        check(Coding::Zstd, b"\x28\xb5\x2f\xfd\0", true);
        check(Coding::Zstd, b"\x5a\x2a\x4d\x18\0", true);
        check(Coding::Zstd, b"<html>", false);
        check(Coding::Br, b"<html>", true);
    }

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
