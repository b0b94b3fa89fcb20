//! [`ParseCache`]: the parsed forms of one response.

use std::borrow::Cow;

use scraper::Html;
use serde_json::Value;

use super::answer::ResponseView;
use super::body_text::{BodyText, is_html};
use super::error::ExtractError;
use super::page_cache::PageCache;
use crate::html_cost::{PAGE_BYTES_MAX, is_too_costly_to_parse};
use crate::xpath::Tree;

/// A JSON document longer than this is not parsed into a tree.
const JSON_BYTES_MAX: usize = 32 << 20;

/// Maximum capacity that is kept for the next encoded body.
const IDLE_BYTES_MAX: usize = 1 << 20;

/// The parsed forms of one response, shared by its extractions. Each load thread has one; call
/// [`ParseCache::clear`] before each response.
#[derive(Debug, Default)]
pub struct ParseCache {
    text: Option<BodyText>,
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
        (self.text, self.json, self.page, self.tree) = (None, None, None, None);
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

    /// Returns the body as UTF-8, or as it is if its charset is unknown.
    pub(super) fn text<'t>(&'t mut self, answer: &ResponseView<'t>) -> &'t [u8] {
        self.text.get_or_insert_with(|| BodyText::new(answer)).of(answer.body)
    }

    pub(super) fn json(&mut self, answer: &ResponseView<'_>) -> Result<&Value, ExtractError> {
        if self.json.is_none() {
            let text = self.text(answer);
            let json = if text.len() > JSON_BYTES_MAX {
                Err(ExtractError::TooLarge)
            } else {
                serde_json::from_slice(text).map_err(|_| ExtractError::NotJson)
            };
            self.json = Some(json);
        }
        self.json.as_ref().expect("just made").as_ref().map_err(|miss| *miss)
    }

    pub(super) fn page(&mut self, answer: &ResponseView<'_>) -> Result<&Html, ExtractError> {
        if self.page.is_none() {
            let text = self.markup(answer);
            self.page = Some(text.and_then(|text| {
                let costly = is_too_costly_to_parse(text.as_bytes());
                if costly { Err(ExtractError::TooMuchWork) } else { Ok(Html::parse_document(&text)) }
            }));
        }
        self.page.as_ref().expect("just made").as_ref().map_err(|miss| *miss)
    }

    pub(super) fn tree(&mut self, answer: &ResponseView<'_>) -> Result<&Tree, ExtractError> {
        if self.tree.is_none() {
            self.tree = Some(if is_html(answer) {
                self.page(answer).and_then(|page| Tree::from_html(page).ok_or(ExtractError::TooLarge))
            } else {
                self.markup(answer).and_then(|text| Tree::parse_xml(&text).ok_or(ExtractError::NotXml))
            });
        }
        self.tree.as_ref().expect("just made").as_ref().map_err(|miss| *miss)
    }

    /// Returns the text of a page or an XML document.
    fn markup<'t>(&'t mut self, answer: &ResponseView<'t>) -> Result<Cow<'t, str>, ExtractError> {
        if answer.body.len() > PAGE_BYTES_MAX {
            return Err(ExtractError::TooLarge);
        }
        Ok(String::from_utf8_lossy(self.text(answer)))
    }
}
