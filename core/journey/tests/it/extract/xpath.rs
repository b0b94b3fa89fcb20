//! XPath 1.0: axes, predicates, functions, operators, limits.

use wavetank_journey::extract::ExtractError;
use wavetank_journey::value::JsonType;

use super::{answer, check, check_answer, check_miss, check_refused, check_text};

const XML: &str = r#"<?xml version="1.0"?><!DOCTYPE shop><!-- c1 -->
<shop xmlns="urn:x" xmlns:s="urn:s" name="S &amp; T"><?go  fast?>
  <item sku="A1" n="1"><price>10</price><tag>x</tag><tag>y</tag></item>
  <item sku="B2" n="2"><price> 2.50 </price><s:note lang="de">Gr&#252;n &lt;<![CDATA[<b>]]> &own;</s:note></item>
  <item sku="C3"/><!-- c2 -->
</shop>"#;

fn check_number(from: &str, expected: &str) {
    check(XML, &format!("xml {from}"), &[(JsonType::Number, expected)]);
}

fn check_bool(from: &str, expected: bool) {
    check(XML, &format!("xml {from}"), &[(JsonType::Bool, if expected { "true" } else { "false" })]);
}

fn check_xml(from: &str, expected: &[&str]) {
    check_text(XML, &format!("xml {from}"), expected);
}

#[test]
fn paths_lead_along_all_axes() {
    check_xml("/shop/@name", &["S & T"]);
    check_xml("/shop/item/@sku", &["A1", "B2", "C3"]);
    check_xml("//@sku", &["A1", "B2", "C3"]);
    check_xml("//price", &["10", "2.50"]);
    check_xml("//s:note", &["Grün <<b> &own;"]);
    check_xml("//s:*/@lang", &["de"]);
    check_xml("//tag[2]/preceding-sibling::*", &["10", "x"]);
    check_xml("//price[1]/following-sibling::tag", &["x", "y"]);
    check_xml("//item[2]/preceding::tag", &["x", "y"]);
    check_xml("//item[1]/following::price", &["2.50"]);
    check_xml("//tag/ancestor::item/@sku", &["A1"]);
    check_xml("//tag/../@sku", &["A1"]);
    check_xml("//price/parent::item/@n", &["1", "2"]);
    check_xml("//item/self::item[@sku='C3']/@sku", &["C3"]);
    check_xml("/descendant::item[3]/@sku", &["C3"]);
    check_xml("//comment()", &["c1", "c2"]);
    check_xml("//processing-instruction('go')", &["fast"]);
    check_xml("//item[1]/node()", &["10", "x", "y"]);
    check_xml("//item[1]/tag/text()", &["x", "y"]);
    check_xml("name(/*)", &["shop"]);
    for none in ["//Item", "//note", "/item", "//item/@none", "//@xmlns", "//processing-instruction('stop')"]
    {
        check_miss(XML, &format!("xml {none}"), ExtractError::NotFound);
    }
}

#[test]
fn predicates_choose() {
    check_xml("//item[@sku='B2']/price", &["2.50"]);
    check_xml("//item[price > 5]/@sku", &["A1"]);
    check_xml("//item[last()]/@sku", &["C3"]);
    check_xml("//item[position() < 3][last()]/@sku", &["B2"]);
    check_xml("//item[not(@n)]/@sku", &["C3"]);
    check_xml("//tag[1]", &["x"]);
    check_xml("(//item/@sku)[2]", &["B2"]);
    check_xml("//tag[2]/ancestor::*[1]/@sku", &["A1"]);
    check_xml("//tag[2]/preceding-sibling::*[1]", &["x"]);
    check_xml("//item[tag='y']/@sku", &["A1"]);
    check_xml("//item[tag!='y']/@sku", &["A1"]);
    check_xml("//item[price or tag][2]/@sku", &["B2"]);
    check_xml("//item[contains(@sku, '3') or starts-with(@sku, 'A')]/@sku", &["A1", "C3"]);
    check_miss(XML, "xml //item[4]", ExtractError::NotFound);
    check_miss(XML, "xml //item[1.5]", ExtractError::NotFound);
}

#[test]
fn functions_and_operators_compute() {
    check_number("count(//item)", "3");
    check_number("sum(//price)", "12.5");
    check_number("1 + 2 * 3 - 4 div 2", "5");
    check_number("-7 mod 3", "-1");
    check_number("- - 3", "3");
    check_number("round(-2.5)", "-2");
    check_number("floor(-2.5) + ceiling(2.1)", "0");
    check_number("string-length('Grün')", "4");
    check_number("number(//price[1])", "10");
    check_number("//item[1]/price * 2", "20");
    check_number("10 div 4", "2.5");
    check_number("count(//price | //tag | //price)", "4");
    check_xml("string(1 div 0)", &["Infinity"]);
    check_xml("string(number('1e3'))", &["NaN"]);
    check_xml("concat('a', 1, true())", &["a1true"]);
    check_xml("substring('12345', 2, 3)", &["234"]);
    check_xml("substring('12345', 1.5, 2.6)", &["234"]);
    check_xml("substring('12345', 0 div 0, 3)", &[""]);
    check_xml("substring('12345', -42, 1 div 0)", &["12345"]);
    check_xml("substring-before('1999/04', '/')", &["1999"]);
    check_xml("substring-after('1999/04', '/')", &["04"]);
    check_xml("normalize-space('  a \n b ')", &["a b"]);
    check_xml("translate('--aaa--', 'abc-', 'ABC')", &["AAA"]);
    check_xml("local-name(//s:note)", &["note"]);
    check_xml("name(//s:note/@lang)", &["lang"]);
    check_bool("//item/@n = 2", true);
    check_bool("not(//item/@n = 3)", true);
    check_bool("boolean(//none)", false);
    check_bool("//price = //item[1]/price", true);
    check_bool("1 = 1.0 and '1' = 1 and true() = 'x'", true);
    check_bool("0 div 0 = 0 div 0", false);
    check_bool("'a' < 'b'", false);
    check_bool("2 <= 2 and 3 > 2 and 2 != 3 and 3 >= 3", true);
}

#[test]
fn pages_are_trees_too() {
    let page = "<html><body><ul><li id=a>one<li>two</ul><p>x &amp; y";
    check_text(page, "xml //li[@id]", &["one"]);
    check_text(page, "xml /html/body/ul/li[2]", &["two"]);
    check_text(page, "xml //p/text()", &["x & y"]);
    let named = answer(b"content-type: text/html\r\n", b"<li>one<li>two");
    check_answer(&named, "xml //li", &[(JsonType::Text, "one"), (JsonType::Text, "two")]);
}

#[test]
fn what_is_no_document_is_said() {
    for body in ["", "text", "<a>", "<a></b>", "<a/><b/>", "{\"a\": 1}", "<a b=c/>", "<a/>text"] {
        check_miss(body, "xml //a", ExtractError::NotXml);
    }
}

#[test]
fn expressions_that_are_none_are_refused() {
    let refused = |from: &str, why| check_refused(&format!("xml {from}"), "extract_xml", why, "XPath 1.0");
    refused("//", "missing at the end");
    refused("//item[", "missing at the end");
    refused("//item]", "`]` is unexpected");
    refused("$x", "variables are not supported");
    refused("id('x')", "`id()` is not a known function");
    refused("count()", "does not take 0");
    refused("namespace::a", "is not a known axis");
    refused("'abc", "not closed");
    refused("a § b", "`§` is not allowed here");
    refused(&format!("{}1{}", "(".repeat(100), ")".repeat(100)), "too deep");
    refused(&"1+".repeat(100), "too many operators");
    refused(&"/a".repeat(600), "longer than");
}

#[test]
fn work_is_limited() {
    let wide = format!("<a>{}</a>", "<b>x</b>".repeat(30_000));
    check_miss(&wide, "xml //b[count(//b) = 1]", ExtractError::TooMuchWork);
    check_miss(&wide, "xml //b[preceding::b = 'y']", ExtractError::TooMuchWork);
    check_miss(&wide, "xml //b != //b", ExtractError::TooMuchWork);
    let attributes = (0..5_000).map(|number| format!(" a{number}='x'")).collect::<Vec<_>>().concat();
    let attributes = format!("<a{attributes}>{}</a>", "<b/>".repeat(30_000));
    check_miss(&attributes, "xml //b[../c]", ExtractError::TooMuchWork);
    let deep = format!("{}x{}", "<a>".repeat(20_000), "</a>".repeat(20_000));
    check_miss(&deep, "xml //a", ExtractError::NotXml);
    let doubled = (0..20).fold("//b".to_owned(), |inner, _| format!("concat({inner},'{inner:.3}')"));
    check_text(&wide, &format!("xml substring({doubled}, 1, 1)"), &["x"]);
}
