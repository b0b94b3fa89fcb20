//! Fuzz targets as plain functions, for stable Rust and cargo-fuzz alike.
//!
//! Each reads bytes as they could come from a server or a data file, and panics if two results for
//! the same bytes contradict each other.

mod course;

use wavetank_units::Nanos;

use crate::auth::{Challenge, Digest};
use crate::content::{Coding, Decoder};
use crate::cookies::{Jar, Site};
use crate::data::{RowsConfig, RowsFormat};
use crate::embedded_resources::Resources;
use crate::extract::{Extractor, ParseCache, ResponseView};
use crate::redirect::HttpUrl;
use crate::value::Values;
pub use course::fuzz_session;

/// Extractions from a response. The first byte chooses one.
const FROMS: [&str; 16] = [
    "json $.a",
    "json $.a.b[2]",
    "json $['a'][0]",
    "json $..a",
    "json $[*].a",
    "json $[?@.a > 1]",
    "css a",
    "css a.b > c@d",
    "css :not(a) *:nth-child(2)",
    "xml //a",
    "xml //a[@b='c']/preceding::*",
    "xml sum(//a) + count(//@*)",
    "regex /a+(b|c)?/",
    "regex /(?-u:.)*$/s",
    "header a",
    "cookie a",
];

/// Checks extractions from a response's body and head: the first match equals the first of all
/// matches, and the number of matches never exceeds the given limit.
pub fn answer(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let from = FROMS[usize::from(choice) % FROMS.len()];
    let extractor = Extractor::parse(from).expect("every entry is valid");
    let answer =
        ResponseView { status: 200, time: Nanos::ZERO, size: 0, fields: bytes, body: bytes, jar: None };
    let (mut first, mut all) = (Values::default(), Values::default());
    let one = extractor.first(&answer, &mut ParseCache::default(), &mut first);
    let many = extractor.find(&answer, 7, &mut ParseCache::default(), &mut all);
    assert!(first.len() <= 1 && all.len() <= 7, "{from}: more matches than the limit");
    if many.is_ok() {
        assert_eq!(one, Ok(()), "{from}: all matches are found but not the first");
        assert_eq!(first.first(), all.first(), "{from}: the first matches differ");
    }
}

/// Checks a compressed body. The first byte chooses the coding and the chunk size, which must not
/// affect the result.
pub fn coding(data: &[u8]) {
    const BYTES_MAX: usize = 1 << 20;
    let Some((&choice, bytes)) = data.split_first() else { return };
    let coding = [Coding::Gzip, Coding::Deflate, Coding::Br, Coding::Zstd][usize::from(choice & 3)];
    let decode = |piece: usize| {
        let (mut decoder, mut out) = (Decoder::new(coding, BYTES_MAX), Vec::new());
        let fed = bytes.chunks(piece).try_for_each(|piece| decoder.feed(piece, &mut out));
        let ended = fed.and_then(|()| decoder.finish(&mut out));
        assert!(out.len() <= BYTES_MAX, "{coding:?}: the limit is exceeded");
        ended.map(|()| out)
    };
    let (whole, cut) = (decode(usize::MAX), decode(usize::from(choice >> 2) + 1));
    assert_eq!(whole.is_ok(), cut.is_ok(), "{coding:?}: the result depends on the chunk size");
    if let (Ok(whole), Ok(cut)) = (whole, cut) {
        assert!(whole == cut, "{coding:?}: the bytes depend on the chunk size");
    }
}

/// Checks `Set-Cookie` and `WWW-Authenticate` headers, one on each line: the fields that are sent
/// back contain no line end.
pub fn headers(data: &[u8]) {
    let mut jar = Jar::default();
    let site = Site { host: "b.a.org", path: "/x/y", secure: true };
    let mut out = Vec::new();
    for line in data.split(|byte| *byte == b'\n') {
        jar.store(line, &site, 1_600_000_000);
        if let Ok(challenge) = Challenge::parse(line) {
            Digest::new(challenge, "u\"\r", "p", [1, 2]).answer(&mut out, "GET", "/\"");
        }
    }
    let before = out.len();
    let any = jar.render(&site, 1_600_000_000, &mut out);
    assert_eq!(any, out.len() > before, "the result of render does not match its output");
    assert!(!out.contains(&b'\n') && !out.contains(&b'\r'), "a line end is sent");
    let names_max = jar.len();
    assert!(names_max <= 150, "the limit on cookies is exceeded");
}

/// Checks a data file. The first byte chooses form and encoding. A table has a cell for each row
/// and column.
pub fn rows(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let encodings = [None, Some("utf-8"), Some("utf-16"), Some("windows-1252")];
    let source = RowsConfig {
        format: if choice & 1 == 0 { RowsFormat::Csv } else { RowsFormat::JsonLines },
        encoding: encodings[usize::from(choice >> 1 & 3)],
        ..RowsConfig::named("fuzzed")
    };
    let Ok((table, _)) = source.read(bytes) else { return };
    let columns = table.columns().count();
    assert!(columns > 0 && table.rows() > 0, "an empty table");
    for row in 0..table.rows() {
        assert!((0..columns).all(|column| table.cell(row, column).is_some()), "a cell is missing");
    }
}

/// Checks a page: at most the given number of resources is found, and each only once.
pub fn page(data: &[u8]) {
    let from = HttpUrl::parse("http://a.org/b/c").expect("is an address");
    let found = Resources::find_in(data, &from, 9);
    assert!(found.places.len() <= 9, "more resources than the limit");
    for (at, place) in found.places.iter().enumerate() {
        assert!(!found.places[..at].contains(place), "{} is listed twice", place.as_str());
        assert!(HttpUrl::parse(place.as_str()).as_ref() == Ok(place), "{} is not an address", place.as_str());
    }
}
