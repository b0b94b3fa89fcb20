//! [`ParseCache`]: the parsed forms of one response.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};
use scraper::Html;
use serde_json::Value;

use super::answer::ResponseView;
use crate::html_cost::{PAGE_BYTES_MAX, is_too_costly_to_parse};
use crate::step::PageCache;
use crate::xpath::Tree;

/// A JSON document longer than this is not parsed into a tree.
const JSON_BYTES_MAX: usize = 32 << 20;

/// Maximum capacity that is kept for the next encoded body.
const IDLE_BYTES_MAX: usize = 1 << 20;

/// The reason why nothing was extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractError {
    /// The response does not contain the value.
    NotFound,
    /// The body is not JSON.
    NotJson,
    /// The body is not XML or HTML.
    NotXml,
    /// The body or the value is longer than the limit.
    TooLarge,
    /// The search would take more work than is allowed.
    TooMuchWork,
}

impl ExtractError {
    /// Returns the reason as part of a sentence: "`sku`: the body is not JSON".
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not found in the response",
            Self::NotJson => "the body is not JSON",
            Self::NotXml => "the body is not XML or HTML",
            Self::TooLarge => "longer than the limit",
            Self::TooMuchWork => "the search needs more work than is allowed",
        }
    }
}

/// The parsed forms of one response, shared by its extractions. Each load thread has one; call
/// [`ParseCache::clear`] before each response.
#[derive(Debug, Default)]
pub struct ParseCache {
    json: Option<Result<Value, ExtractError>>,
    page: Option<Result<Html, ExtractError>>,
    tree: Option<Result<Tree, ExtractError>>,
    /// Memory for the decoded body.
    plain: Vec<u8>,
    /// The embedded resources of the last pages.
    pub(crate) pages: PageCache,
}

impl ParseCache {
    /// Discards the parsed forms.
    pub fn clear(&mut self) {
        (self.json, self.page, self.tree) = (None, None, None);
    }

    /// Returns memory for a decoded body. It must be returned afterwards.
    pub(crate) fn take_buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.plain)
    }

    /// Stores the memory for the next decoded body.
    pub(crate) fn return_buffer(&mut self, mut plain: Vec<u8>) {
        plain.clear();
        plain.shrink_to(IDLE_BYTES_MAX);
        self.plain = plain;
    }

    pub(super) fn json(&mut self, answer: &ResponseView<'_>) -> Result<&Value, ExtractError> {
        let parse = || {
            if answer.body.len() > JSON_BYTES_MAX {
                return Err(ExtractError::TooLarge);
            }
            serde_json::from_slice(answer.body).map_err(|_| ExtractError::NotJson)
        };
        self.json.get_or_insert_with(parse).as_ref().map_err(|miss| *miss)
    }

    pub(super) fn page(&mut self, answer: &ResponseView<'_>) -> Result<&Html, ExtractError> {
        let parse = || {
            let text = text_of(answer)?;
            if is_too_costly_to_parse(text.as_bytes()) {
                Err(ExtractError::TooMuchWork)
            } else {
                Ok(Html::parse_document(&text))
            }
        };
        self.page.get_or_insert_with(parse).as_ref().map_err(|miss| *miss)
    }

    pub(super) fn tree(&mut self, answer: &ResponseView<'_>) -> Result<&Tree, ExtractError> {
        if self.tree.is_none() {
            self.tree = Some(if is_html(answer) {
                self.page(answer).and_then(|page| Tree::from_html(page).ok_or(ExtractError::TooLarge))
            } else {
                text_of(answer).and_then(|text| Tree::parse_xml(&text).ok_or(ExtractError::NotXml))
            });
        }
        self.tree.as_ref().expect("just made").as_ref().map_err(|miss| *miss)
    }
}

/// Returns the body as text, in the encoding that the head names, else as UTF-8.
fn text_of<'a>(answer: &ResponseView<'a>) -> Result<Cow<'a, str>, ExtractError> {
    if answer.body.len() > PAGE_BYTES_MAX {
        return Err(ExtractError::TooLarge);
    }
    let named = answer.headers("content-type").next().and_then(charset).and_then(Encoding::for_label);
    Ok(named.unwrap_or(UTF_8).decode(answer.body).0)
}

/// Returns the `charset` of a media type.
fn charset(media_type: &[u8]) -> Option<&[u8]> {
    let mut parameters = media_type.split(|byte| *byte == b';').skip(1).map(<[u8]>::trim_ascii);
    let value = parameters.find_map(|one| {
        let at = one.iter().position(|byte| *byte == b'=')?;
        one[..at].trim_ascii().eq_ignore_ascii_case(b"charset").then(|| one[at + 1..].trim_ascii())
    })?;
    Some(value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value))
}

/// Whether the body is parsed like a page in a browser: the head declares HTML, or the body starts
/// like HTML.
fn is_html(answer: &ResponseView<'_>) -> bool {
    let media_type = answer.headers("content-type").next().unwrap_or_default();
    let names =
        |wanted: &[u8]| media_type.get(..wanted.len()).is_some_and(|it| it.eq_ignore_ascii_case(wanted));
    if names(b"text/html") {
        return true;
    }
    let start = answer.body.trim_ascii_start();
    let begins = |wanted: &[u8]| start.get(..wanted.len()).is_some_and(|it| it.eq_ignore_ascii_case(wanted));
    !names(b"application/xhtml+xml") && (begins(b"<!doctype html") || begins(b"<html"))
}
