//! CSS selectors over pages.

use wavetank_journey::extract::ExtractError;
use wavetank_journey::value::JsonType;

use super::{all_of, answer, check_answer, check_miss, check_text};

const PAGE: &str = r#"<!DOCTYPE html><title>Shop</title><body><form action=/login><input name=csrf value="t&amp;k">
<ul class=list><li class="item a" data-sku=A1>One <b>bold</b><li class=item data-sku=B2>Two</ul>
<a href="/next?a=1&amp;b=2">next</a><p title="me@home">mail</p>"#;

#[test]
fn selectors_find_text_and_attributes() {
    check_text(PAGE, "css input[name=csrf]@value", &["t&k"]);
    check_text(PAGE, "css li.item@data-sku", &["A1", "B2"]);
    check_text(PAGE, "css ul > li:nth-child(2)", &["Two"]);
    check_text(PAGE, "css li", &["One bold", "Two"]);
    check_text(PAGE, "css a@HREF", &["/next?a=1&b=2"]);
    check_text(PAGE, "css p[title=\"me@home\"]", &["mail"]);
    check_text(PAGE, "css p[title=\"me@home\"] @ title", &["me@home"]);
    check_text(PAGE, "css title, b", &["Shop", "bold"]);
    check_miss(PAGE, "css .none", ExtractError::NotFound);
    check_miss(PAGE, "css li@href", ExtractError::NotFound);
    check_miss("", "css a", ExtractError::NotFound);
}

#[test]
fn pages_are_read_in_their_encoding() {
    let page = answer(b"Content-Type: text/html; Charset=\"ISO-8859-1\"\r\n", b"<p>J\xf6rg</p>");
    check_answer(&page, "css p", &[(JsonType::Text, "Jörg")]);
    check_answer(&page, "xml //p", &[(JsonType::Text, "Jörg")]);
}

#[test]
fn every_extraction_reads_the_declared_charset() {
    let latin = b"<p>gr\xf6\xdfer als</p>";
    let check = |media_type: &str, start: &[u8], body: &[u8], from: &str, expected: &str| {
        let (fields, body) = (format!("Content-Type: {media_type}\r\n"), [start, body].concat());
        check_answer(&answer(fields.as_bytes(), &body), from, &[(JsonType::Text, expected)]);
    };
    let regex = "regex /<p>(.*?) als/";
    check("text/html; charset=iso-8859-1", b"", latin, regex, "größer");
    check("text/plain; charset='latin1'", b"", latin, "body", "<p>größer als</p>");
    check("text/html", b"<!-- <meta charset=utf-8> --><meta charset=latin1>", latin, regex, "größer");
    check("text/html", b"<META/CHARSET='latin1'/>", latin, "css p", "größer als");
    let equivalent = b"<meta content='text/html; charset=latin1' http-equiv=Content-Type>";
    check("text/html", equivalent, latin, regex, "größer");
    check("application/xml", b"<?xml version='1.0' encoding='latin1'?>", latin, "xml //p", "größer als");
    check("application/xml", b"<?xml version='1.0' encoding='latin1'?>", latin, regex, "größer");
    check("text/html", b"<meta charset=utf-16>", "<p>ä als".as_bytes(), regex, "ä");
    check("text/html; charset=utf-8", b"<meta charset=latin1>", "<p>ä als".as_bytes(), regex, "ä");
    let wide: Vec<u8> = "\u{feff}<p>größer als".encode_utf16().flat_map(u16::to_be_bytes).collect();
    check("text/html; charset=latin1", b"", &wide, regex, "größer");
    check("text/plain", b"\xef\xbb\xbf", b"text", "body", "text");
    check("application/json; charset=latin1", b"", b"{\"a\": \"\xe4\"}", "json $.a", "ä");
    // Bytes without a declared charset are not changed.
    let binary = answer(b"Content-Type: image/png\r\n", b"\xff\xfe\xf6");
    assert_eq!(all_of("regex /(?-u:^\\xff\\xfe(.))/", &binary).expect("a match").len(), 1);
}

#[test]
fn a_page_beyond_the_limit_is_not_parsed() {
    let long = "x".repeat((8 << 20) + 1);
    check_miss(&long, "css a", ExtractError::TooLarge);
    check_miss(&long, "xml //a", ExtractError::TooLarge);
    check_text(&long[..3], "regex /x+/", &["xxx"]);
}

#[test]
fn a_page_as_deep_as_it_can_be_is_survived() {
    let deep = |depth| format!("<html>{}x", "<div><p>".repeat(depth));
    check_text(&deep(500), "css html > body > div", &["x"]);
    check_text(&deep(500), "xml /html/body/div", &["x"]);
    check_miss(&deep(600), "css div", ExtractError::TooMuchWork);
    check_miss(&deep(600_000), "xml //div", ExtractError::TooMuchWork);
    let wide = format!("<html>{}", "<ul><li>a<li>b<br></ul><script>if (a<b) c()</script>".repeat(400));
    check_text(&wide, "css ul:first-child li", &["a", "b"]);
}
