//! What is found in answers, and what cannot be compiled.

mod json;
mod pages;
mod xpath;

use proptest::prelude::*;
use wavetank_journey::cookies::{Jar, Site};
use wavetank_journey::extract::{ExtractError, Extractor, ParseCache, ResponseView};
use wavetank_journey::value::{JsonType, Values};
use wavetank_units::Nanos;

fn answer<'a>(fields: &'a [u8], body: &'a [u8]) -> ResponseView<'a> {
    let time = Nanos::from_micros(1_500_020);
    ResponseView { status: 201, time, size: 77, fields, body, jar: None }
}

fn compile(from: &str) -> Extractor {
    Extractor::parse(from).unwrap_or_else(|error| panic!("{from}: {error}"))
}

fn all_of(from: &str, answer: &ResponseView<'_>) -> Result<Vec<(JsonType, String)>, ExtractError> {
    let mut finds = Values::default();
    let count = compile(from).find(answer, usize::MAX, &mut ParseCache::default(), &mut finds)?;
    assert_eq!(count, finds.len(), "{from}");
    Ok(finds.iter().map(|found| (found.kind, String::from_utf8_lossy(found.text).into_owned())).collect())
}

/// All that `from` finds in `body`; the first of it must be what `first` alone finds.
fn check(body: &str, from: &str, expected: &[(JsonType, &str)]) {
    check_answer(&answer(b"\r\n", body.as_bytes()), from, expected);
}

fn check_answer(answer: &ResponseView<'_>, from: &str, expected: &[(JsonType, &str)]) {
    let found = all_of(from, answer).unwrap_or_else(|miss| panic!("{from}: {miss:?}"));
    let found: Vec<_> = found.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
    assert_eq!(found, expected, "{from}");
    let mut finds = Values::default();
    assert_eq!(compile(from).first(answer, &mut ParseCache::default(), &mut finds), Ok(()));
    let first = finds.first().expect("found one");
    assert_eq!((finds.len(), first.kind, first.text), (1, expected[0].0, expected[0].1.as_bytes()), "{from}");
}

fn check_text(body: &str, from: &str, expected: &[&str]) {
    let expected: Vec<_> = expected.iter().map(|text| (JsonType::Text, *text)).collect();
    check(body, from, &expected);
}

fn check_miss(body: &str, from: &str, expected: ExtractError) {
    assert_eq!(all_of(from, &answer(b"", body.as_bytes())), Err(expected), "{from}");
}

fn check_refused(from: &str, code: &str, message: &str, hint: &str) {
    let Err(error) = Extractor::parse(from) else { panic!("{from} is compiled") };
    assert_eq!(error.code, code, "{error}");
    assert!(error.message.contains(message) && error.hint.contains(hint), "{from}: {error}");
}

#[test]
fn heads_give_status_time_size_headers_and_cookies() {
    let fields =
        b"Location: /a\r\nSet-Cookie: sid=1; path=/\r\nset-cookie: sid=2\r\nX-List: a\r\nx-list: b\r\n\r\n";
    let mut jar = Jar::default();
    let site = Site { host: "a.org", path: "/", secure: false };
    jar.store(b"sid=old", &site, 0);
    jar.store(b"kept=k", &site, 0);
    let answer = ResponseView { jar: Some((&jar, site, 0)), ..answer(fields, b"body") };
    let check = |from, expected: &[(JsonType, &str)]| check_answer(&answer, from, expected);
    check("status", &[(JsonType::Number, "201")]);
    check(" size ", &[(JsonType::Number, "77")]);
    check("time", &[(JsonType::Number, "1.500020000")]);
    check("body", &[(JsonType::Text, "body")]);
    check("header location", &[(JsonType::Text, "/a")]);
    check("header  X-LIST", &[(JsonType::Text, "a"), (JsonType::Text, "b")]);
    check("cookie sid", &[(JsonType::Text, "2")]);
    check("cookie kept", &[(JsonType::Text, "k")]);
    assert_eq!(all_of("cookie none", &answer), Err(ExtractError::NotFound));
    assert_eq!(all_of("header none", &answer), Err(ExtractError::NotFound));
    let needs: Vec<_> = ["status", "header a", "cookie a", "body", "json $", "css a", "xml //a", "regex /a/"]
        .map(|from| compile(from).needs_body())
        .to_vec();
    assert_eq!(needs, [false, false, false, true, true, true, true, true]);
}

#[test]
fn regular_expressions_give_their_first_group() {
    let body = "sku=A1; sku=b2;\nSKU=c3";
    check_text(body, r"regex /sku=(\w+)/", &["A1", "b2"]);
    check_text(body, r"regex /sku=(\w+)/i", &["A1", "b2", "c3"]);
    check_text(body, r"regex /sku=\w+/", &["sku=A1", "sku=b2"]);
    check_text(body, r"regex /(?:x|(b2))/", &["b2"]);
    check_text(body, r"regex /^SKU=(.*)$/m", &["c3"]);
    check_text("a/b", "regex /a/b/", &["a/b"]);
    check_text("ab", "regex /x*/", &["", "", ""]);
    check_miss(body, "regex /^SKU/", ExtractError::NotFound);
    let raw = answer(b"", b"\xff\xfe=1");
    assert_eq!(all_of(r"regex /(?-u:\xfe)=(\d)/", &raw), Ok(vec![(JsonType::Text, "1".to_owned())]));
}

#[test]
fn what_cannot_be_compiled_is_said() {
    check_refused("jsn $.a", "extract", "`jsn`", "did you mean `json`?");
    check_refused("", "extract", "cannot extract from", "`status`");
    check_refused("json", "extract", "needs an argument", "$.items");
    check_refused("status 200", "extract", "after `status`", "remove");
    check_refused("header a b", "extract", "`a b` is not a valid header name", "location");
    check_refused("regex sku=(.*)", "extract_regex", "between slashes", "regex /");
    check_refused("regex /a(/", "extract_regex", "unclosed group", "no look-around");
    check_refused("regex /a/x", "extract_regex", "`x` is not a flag", "`i`");
    check_refused(r"regex /(\w{1000}){1000}/", "extract_regex", "is not a regular expression", "syntax");
    check_refused("css a[", "extract_css", "`a[` is not a CSS selector", "@href");
    check_refused(
        &format!("css {}a{}", ":not(".repeat(40), ")".repeat(40)),
        "extract_css",
        "too deep",
        "css",
    );
}

#[test]
fn one_reading_serves_all_extractions_of_an_answer_and_no_other() {
    let (mut reading, mut finds) = (ParseCache::default(), Values::default());
    let from = compile("json $..a");
    from.first(&answer(b"", b"{\"a\":1}"), &mut reading, &mut finds).expect("is there");
    reading.clear();
    from.first(&answer(b"", b"{\"a\":2}"), &mut reading, &mut finds).expect("is there");
    let texts: Vec<_> = finds.iter().map(|found| found.text.to_vec()).collect();
    assert_eq!(texts, [b"1", b"2"]);
}

#[test]
fn extractors_are_shared_and_readings_are_moved_between_threads() {
    const fn is_shared<T: Send + Sync>() {}
    const fn is_moved<T: Send>() {}
    is_shared::<Extractor>();
    is_moved::<ParseCache>();
}

proptest! {
    #[test]
    fn any_answer_and_any_text_are_survived(
        fields: Vec<u8>, body: Vec<u8>, text: String,
        json in "[{}:,\"a1\\[\\]\\\\u .e-]{0,40}", html in "(<|>|/|a|b |=|\"|'|!--|\\?|&|&lt;|]]|<a>|</a>| ){0,30}",
        from in "(json|css|xml|regex|header|cookie) [$.a*/@\\[\\]()'\"1:|?=<>! -]{0,20}",
    ) {
        let froms = ["json $..a", "json $.a[0]", "json $['a']", "css a@b", "css *", "xml //a", "xml //*[@b]", "regex /a+(.)/", "cookie a", "header a"];
        for bytes in [body.as_slice(), text.as_bytes(), json.as_bytes(), html.as_bytes()] {
            let mut reading = ParseCache::default();
            for from in froms.iter().copied().chain([from.as_str()]) {
                if let Ok(extractor) = Extractor::parse(from) {
                    let mut finds = Values::default();
                    let _ = extractor.find(&answer(&fields, bytes), 10, &mut reading, &mut finds);
                    prop_assert!(finds.len() <= 10);
                }
            }
        }
        let _ = Extractor::parse(&text);
        let _ = Extractor::parse(&format!("xml {text}"));
        let _ = Extractor::parse(&format!("json ${text}"));
        let _ = Extractor::parse(&format!("css {text}"));
    }
}
