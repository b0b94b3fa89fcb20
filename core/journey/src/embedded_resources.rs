//! Embedded resources: the resources that a browser would fetch to show a page.

use std::cell::RefCell;
use std::collections::BTreeSet;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};

use crate::html_cost::{PAGE_BYTES_MAX, is_too_costly_to_parse};
use crate::redirect::HttpUrl;

/// Maximum number of references collected from one page, including repeated ones.
const REFERENCES_MAX: usize = 10_000;

/// The resources that a page embeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Each address once, in the order of the page.
    pub places: Vec<HttpUrl>,
    /// Number of addresses beyond the given limit.
    pub left_out: usize,
    /// Number of references that are not http addresses: `data:`, `blob:` and unreadable ones.
    pub not_http: usize,
    /// The page is too long or too deeply nested, so it was not searched.
    pub unread: bool,
}

impl Resources {
    /// Lists what `page`, which came from `from`, embeds: images, scripts, style sheets, icons,
    /// preloads, frames, media and plug-ins. The list has at most `count_max` entries. A `base`
    /// element is honoured.
    ///
    /// An image counts once: its `src`, or the first address of `srcset` if there is no `src`. A
    /// film or sound counts with one `source`. Resources that style sheets and scripts fetch in
    /// turn are not found. Elements inside `noscript` and `template` are skipped.
    pub fn find_in(page: &[u8], from: &HttpUrl, count_max: usize) -> Self {
        if page.len() > PAGE_BYTES_MAX || is_too_costly_to_parse(page) {
            return Self { unread: true, ..Self::default() };
        }
        let input = BufferQueue::default();
        input.push_back(String::from_utf8_lossy(page).into_owned().into());
        let tokenizer = Tokenizer::new(Collector::default(), html5ever::tokenizer::TokenizerOpts::default());
        // It stops early only if a sink asks for it, which this one never does.
        let _ = tokenizer.feed(&input);
        tokenizer.end();
        let collected = tokenizer.sink.0.into_inner();
        let base = collected.base.and_then(|href| from.join(href.trim())).unwrap_or_else(|| from.clone());
        let mut new = Self::default();
        let mut seen = BTreeSet::new();
        for reference in collected.references {
            match base.join(reference.trim()) {
                None => new.not_http += 1,
                Some(place) if seen.contains(place.as_str()) => {}
                Some(_) if new.places.len() >= count_max => new.left_out += 1,
                Some(place) => {
                    seen.insert(place.as_str().to_owned());
                    new.places.push(place);
                }
            }
        }
        new
    }
}

#[derive(Debug, Default)]
struct Collected {
    base: Option<String>,
    references: Vec<String>,
    /// Number of enclosing `template` elements. Their contents are not shown.
    templates: usize,
    /// Whether the enclosing film or sound already has its source.
    has_source: bool,
}

#[derive(Debug, Default)]
struct Collector(RefCell<Collected>);

impl TokenSink for Collector {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        let mut collected = self.0.borrow_mut();
        if tag.kind == TagKind::EndTag {
            if &*tag.name == "template" {
                collected.templates = collected.templates.saturating_sub(1);
            }
            return TokenSinkResult::Continue;
        }
        if &*tag.name == "template" {
            collected.templates += 1;
        } else if collected.templates == 0 {
            collected.take(&tag);
        }
        // Some elements contain markup as plain text. The tokenizer expects its sink to know them.
        match &*tag.name {
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" | "noscript" => {
                TokenSinkResult::RawData(RawKind::Rawtext)
            }
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            "plaintext" => TokenSinkResult::Plaintext,
            _ => TokenSinkResult::Continue,
        }
    }
}

impl Collected {
    fn take(&mut self, tag: &Tag) {
        let attribute = |name: &str| {
            let found = tag.attrs.iter().find(|one| &*one.name.local == name);
            found.map(|one| &*one.value).filter(|value| !value.trim().is_empty())
        };
        let reference = match &*tag.name {
            "base" => {
                self.base = self.base.take().or_else(|| attribute("href").map(str::to_owned));
                None
            }
            "img" => attribute("src").or_else(|| attribute("srcset").and_then(first_candidate)),
            "link" => attribute("href").filter(|_| is_fetched(attribute("rel").unwrap_or_default())),
            "script" => attribute("src").filter(|_| is_executed(attribute("type"))),
            "iframe" | "frame" | "embed" => attribute("src"),
            "object" => attribute("data"),
            "input" => attribute("src")
                .filter(|_| attribute("type").is_some_and(|it| it.eq_ignore_ascii_case("image"))),
            "audio" | "video" => {
                self.has_source = attribute("src").is_some();
                self.references.extend(attribute("poster").map(str::to_owned));
                attribute("src")
            }
            "source" if !self.has_source => {
                let src = attribute("src");
                self.has_source = src.is_some();
                src
            }
            _ => None,
        };
        self.references.extend(reference.filter(|it| !it.starts_with('#')).map(str::to_owned));
        self.references.truncate(REFERENCES_MAX);
    }
}

/// Returns the first address in a `srcset` (HTML Standard, "srcset attributes"): the text up to
/// white space, without a comma at its end.
fn first_candidate(srcset: &str) -> Option<&str> {
    let start = srcset.trim_start_matches(|one: char| one.is_ascii_whitespace() || one == ',');
    let address = start.split_ascii_whitespace().next()?.trim_end_matches(',');
    (!address.is_empty()).then_some(address)
}

/// Whether a browser fetches a link with these relations immediately.
fn is_fetched(relations: &str) -> bool {
    let has = |wanted: &str| relations.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(wanted));
    let fetched = ["stylesheet", "icon", "apple-touch-icon", "preload", "modulepreload", "manifest"];
    !has("alternate") && fetched.iter().any(|relation| has(relation))
}

/// Whether a browser executes a script of this type. Others are data, which it does not fetch.
fn is_executed(kind: Option<&str>) -> bool {
    let kind = kind.unwrap_or_default().trim().to_ascii_lowercase();
    let kind = kind.split(';').next().unwrap_or_default().trim_end();
    matches!(kind, "" | "module") || kind.ends_with("javascript") || kind.ends_with("ecmascript")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(page: &str, count_max: usize) -> Resources {
        let from = HttpUrl::parse("http://a.org/shop/index.html?x").expect("is an address");
        Resources::find_in(page.as_bytes(), &from, count_max)
    }

    fn check(page: &str, expected: &[&str]) {
        let found = of(page, 100);
        let found: Vec<_> = found.places.iter().map(HttpUrl::as_str).collect();
        assert_eq!(found, expected, "{page}");
    }

    #[test]
    fn what_a_browser_fetches_is_found() {
        check("<img src=a.png><IMG SRC='/b.png' alt=x>", &["http://a.org/shop/a.png", "http://a.org/b.png"]);
        check("<script type=text/x-template src=no></script>", &[]);
        check("<script type=module src=/m.js></script>", &["http://a.org/m.js"]);
        check("<script src=//c.org/x.js></script><script>'<img src=no>'</script>", &["http://c.org/x.js"]);
        check(
            "<link rel='Shortcut ICON' href=/f.ico><link rel=stylesheet href=s.css?a=1&amp;b=2>",
            &["http://a.org/f.ico", "http://a.org/shop/s.css?a=1&b=2"],
        );
        check("<link rel=canonical href=/c><link rel='alternate stylesheet' href=/d><link href=/e>", &[]);
        check(
            "<iframe src=/i></iframe><embed src=/e><object data=/o></object><frame src=/f>",
            &["http://a.org/i", "http://a.org/e", "http://a.org/o", "http://a.org/f"],
        );
        check("<input type=IMAGE src=/i><input src=/no>", &["http://a.org/i"]);
        check(
            "<video poster=/p><source src=/1><source src=/2></video><audio src=/a><source src=/3></audio>",
            &["http://a.org/p", "http://a.org/1", "http://a.org/a"],
        );
        check(
            "<picture><source srcset=/no><img srcset=' /x.png 1x, /y.png 2x'></picture>",
            &["http://a.org/x.png"],
        );
        check(
            "<img src=/x srcset='/y 2x'><img srcset='/z, /w 2x'><img srcset=', '>",
            &["http://a.org/x", "http://a.org/z"],
        );
        check("<img src=/x#a><img src=' /x '><img src='/x#b'>", &["http://a.org/x"]);
    }

    #[test]
    fn what_is_not_shown_is_not_fetched() {
        check("<!-- <img src=/a> --><noscript><img src=/b></noscript><title><img src=/c></title>", &[]);
        check(
            "<template><img src=/a><template></template><img src=/b></template><img src=/c>",
            &["http://a.org/c"],
        );
        check("<style>a{b:'<img src=/a>'}</style><textarea><img src=/b></textarea><img src=''><img>", &[]);
    }

    #[test]
    fn the_first_base_is_heeded() {
        check("<base href=/b/><base href=/c/><img src=x>", &["http://a.org/b/x"]);
        check("<img src=x><base target=_top><base href='https://cdn.org/'>", &["https://cdn.org/x"]);
        check("<base href='data:x'><img src=x>", &["http://a.org/shop/x"]);
    }

    #[test]
    fn limits_are_kept_and_said() {
        let page: String =
            ["<img src=/a>", "<img src=/b>", "<img src=/a>", "<img src=/c>", "<img src=data:x>"].concat();
        let found = of(&page, 2);
        assert_eq!((found.places.len(), found.left_out, found.not_http, found.unread), (2, 1, 1, false));
        let many = (0..20_000).map(|number| format!("<img src=/{number}>")).collect::<Vec<_>>().concat();
        let found = of(&many, 5);
        assert_eq!((found.places.len(), found.left_out), (5, REFERENCES_MAX - 5));
        assert!(of(&"<div>".repeat(1000), 5).unread);
        assert!(of(&" ".repeat(PAGE_BYTES_MAX + 1), 5).unread);
    }

    proptest::proptest! {
        #[test]
        fn any_page_is_survived(bytes: Vec<u8>, text in "(<img |<base |<script|<template|</|>|src=|srcset=|href=|/|a|\"|'|,| |&amp;|<!--|-->){0,40}") {
            let from = HttpUrl::parse("http://a.org/").expect("is an address");
            for page in [bytes.as_slice(), text.as_bytes()] {
                proptest::prop_assert!(Resources::find_in(page, &from, 3).places.len() <= 3);
            }
        }
    }
}
