//! CSS selectors over pages.

use wavetank_journey::extract::Miss;
use wavetank_journey::value::Kind;

use super::{answer, check_answer, check_miss, check_text};

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
    check_miss(PAGE, "css .none", Miss::NotFound);
    check_miss(PAGE, "css li@href", Miss::NotFound);
    check_miss("", "css a", Miss::NotFound);
}

#[test]
fn pages_are_read_in_their_encoding() {
    let page = answer(b"Content-Type: text/html; Charset=\"ISO-8859-1\"\r\n", b"<p>J\xf6rg</p>");
    check_answer(&page, "css p", &[(Kind::Text, "Jörg")]);
    check_answer(&page, "xml //p", &[(Kind::Text, "Jörg")]);
}

#[test]
fn a_page_beyond_the_limit_is_not_parsed() {
    let long = "x".repeat((8 << 20) + 1);
    check_miss(&long, "css a", Miss::TooLarge);
    check_miss(&long, "xml //a", Miss::TooLarge);
    check_text(&long[..3], "regex /x+/", &["xxx"]);
}

#[test]
fn a_page_as_deep_as_it_can_be_is_survived() {
    let deep = |depth| format!("<html>{}x", "<div><p>".repeat(depth));
    check_text(&deep(500), "css html > body > div", &["x"]);
    check_text(&deep(500), "xml /html/body/div", &["x"]);
    check_miss(&deep(600), "css div", Miss::TooMuchWork);
    check_miss(&deep(600_000), "xml //div", Miss::TooMuchWork);
    let wide = format!("<html>{}", "<ul><li>a<li>b<br></ul><script>if (a<b) c()</script>".repeat(400));
    check_text(&wide, "css ul:first-child li", &["a", "b"]);
}
