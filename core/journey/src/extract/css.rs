//! [`Css`]: `css SELECTOR@ATTRIBUTE`.

use scraper::{Html, Selector};
use wavetank_units::{Code, UserError};

use super::error::ExtractError;
use crate::value::{JsonType, Values};

/// Maximum length of a selector, in bytes.
const SELECTOR_BYTES_MAX: usize = 1000;
/// Maximum nesting depth of parentheses and brackets.
const DEPTH_MAX: usize = 16;

/// A selector, and the attribute to extract from its matches; without one, the text.
#[derive(Clone, Debug)]
pub(super) struct Css {
    selector: Selector,
    attribute: Option<Box<str>>,
}

impl Css {
    pub(super) fn parse(text: &str) -> Result<Self, UserError> {
        let bad = |message: String| {
            UserError::usage(
                Code::ExtractCss,
                message,
                "use `css .price` for text, `css a.next@href` for an attribute",
            )
        };
        if text.len() > SELECTOR_BYTES_MAX || !super::json::is_shallow(text, DEPTH_MAX) {
            return Err(bad("a CSS selector is too long or too deeply nested".to_owned()));
        }
        let is_name = |name: &str| {
            let mut letters = name.chars();
            !name.is_empty()
                && letters.all(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | ':'))
        };
        let parse = |selector: &str| Selector::parse(selector.trim());
        if let Some((selector, attribute)) = text.rsplit_once('@')
            && is_name(attribute.trim())
            && let Ok(selector) = parse(selector)
        {
            let attribute = Some(attribute.trim().to_ascii_lowercase().into());
            return Ok(Self { selector, attribute });
        }
        match parse(text) {
            Ok(selector) => Ok(Self { selector, attribute: None }),
            Err(_) => Err(bad(format!("`{text}` is not a CSS selector"))),
        }
    }

    /// Adds the matches, up to `count_max` values.
    pub(super) fn find(
        &self,
        page: &Html,
        count_max: usize,
        finds: &mut Values,
    ) -> Result<usize, ExtractError> {
        let mut count = 0;
        for element in page.select(&self.selector) {
            if count == count_max {
                break;
            }
            let fits = if let Some(attribute) = &self.attribute {
                let Some(value) = element.attr(attribute) else { continue };
                finds.push(JsonType::Text, value.as_bytes())
            } else {
                let text: String = element.text().collect();
                finds.push(JsonType::Text, text.trim().as_bytes())
            };
            if !fits {
                return Err(ExtractError::TooLarge);
            }
            count += 1;
        }
        Ok(count)
    }
}
