//! [`Extractor`]: one `FROM`, compiled.

use std::io::Write;

use wavetank_units::{Code, UserError, did_you_mean};

use super::answer::ResponseView;
use super::css::Css;
use super::error::ExtractError;
use super::json::JsonQuery;
use super::parse_cache::ParseCache;
use super::pattern::Pattern;
use crate::value::{JsonType, Values};
use crate::xpath::XPath;

/// Maximum number of matches of one extraction.
const MATCHES_MAX: usize = 100_000;

/// The grammar's `FROM`: `status` · `time` · `size` · `body` · `header NAME` · `cookie NAME` ·
/// `json PATH` · `xml XPATH` · `css SELECTOR@ATTR` · `regex /RE/`. Each load thread has its own
/// clone, since patterns keep scratch memory.
#[derive(Clone, Debug)]
pub struct Extractor {
    from: Source,
    text: Box<str>,
}

#[derive(Clone, Debug)]
enum Source {
    Status,
    Time,
    Size,
    Body,
    Header(Box<str>),
    Cookie(Box<str>),
    Json(JsonQuery),
    Xml(Box<XPath>),
    Css(Box<Css>),
    Regex(Box<Pattern>),
}

/// Every keyword that can start a `FROM`, and whether an argument follows it.
const WORDS: [(&str, bool); 10] = [
    ("status", false),
    ("time", false),
    ("size", false),
    ("body", false),
    ("header", true),
    ("cookie", true),
    ("json", true),
    ("xml", true),
    ("css", true),
    ("regex", true),
];

impl Extractor {
    /// Compiles a `FROM`.
    pub fn parse(text: &str) -> Result<Self, UserError> {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let Some((_, wants_more)) = WORDS.iter().find(|(known, _)| *known == word) else {
            return Err(unknown(word));
        };
        if rest.is_empty() == *wants_more {
            let (message, hint) = if *wants_more {
                (format!("`{word}` needs an argument"), example(word))
            } else {
                (format!("unexpected text after `{word}`"), "remove that text")
            };
            return Err(UserError::usage(Code::Extract, message, hint));
        }
        let from = match word {
            "status" => Source::Status,
            "time" => Source::Time,
            "size" => Source::Size,
            "body" => Source::Body,
            "header" => Source::Header(token(word, rest)?),
            "cookie" => Source::Cookie(token(word, rest)?),
            "json" => Source::Json(JsonQuery::parse(rest)?),
            "xml" => Source::Xml(Box::new(XPath::parse(rest)?)),
            "css" => Source::Css(Box::new(Css::parse(rest)?)),
            _ => Source::Regex(Box::new(Pattern::parse(rest)?)),
        };
        Ok(Self { from, text: text.into() })
    }

    /// Returns its source text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it reads the body, which must then be kept and decoded.
    pub fn needs_body(&self) -> bool {
        !matches!(
            self.from,
            Source::Status | Source::Time | Source::Size | Source::Header(_) | Source::Cookie(_)
        )
    }

    /// Adds the first match to `finds`.
    pub fn first(
        &self,
        answer: &ResponseView<'_>,
        reading: &mut ParseCache,
        finds: &mut Values,
    ) -> Result<(), ExtractError> {
        self.find(answer, 1, reading, finds).map(drop)
    }

    /// Adds all matches to `finds`, at most `count_max` and never more than 100,000, and returns
    /// their number. No match is a miss.
    pub fn find(
        &self,
        answer: &ResponseView<'_>,
        count_max: usize,
        reading: &mut ParseCache,
        finds: &mut Values,
    ) -> Result<usize, ExtractError> {
        let count_max = count_max.min(MATCHES_MAX);
        let fits = |added: bool| if added { Ok(1) } else { Err(ExtractError::TooLarge) };
        let write = |finds: &mut Values, text: std::fmt::Arguments<'_>| {
            fits(finds.push_with(JsonType::Number, |out| out.write_fmt(text).is_ok()))
        };
        let count = match &self.from {
            Source::Status => write(finds, format_args!("{}", answer.status))?,
            Source::Size => write(finds, format_args!("{}", answer.size))?,
            Source::Time => {
                let nanos = answer.time.0.max(0);
                write(finds, format_args!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000))?
            }
            Source::Body => fits(finds.push(JsonType::Text, reading.text(answer)))?,
            Source::Header(name) => {
                let mut count = 0;
                for value in answer.headers(name).take(count_max) {
                    count += fits(finds.push(JsonType::Text, value))?;
                }
                count
            }
            Source::Cookie(name) => match answer.cookie(name) {
                Some(value) => fits(finds.push(JsonType::Text, value))?,
                None => 0,
            },
            Source::Json(query) => query.find(answer, count_max, reading, finds)?,
            Source::Xml(xpath) => xpath.find(reading.tree(answer)?, count_max, finds)?,
            Source::Css(css) => css.find(reading.page(answer)?, count_max, finds)?,
            Source::Regex(pattern) => {
                let (text, mut count, mut from) = (reading.text(answer), 0, 0);
                while count < count_max
                    && let Some((value, next)) = pattern.find(text, from)
                {
                    count += fits(finds.push(JsonType::Text, value))?;
                    from = next;
                }
                count
            }
        };
        if count == 0 { Err(ExtractError::NotFound) } else { Ok(count) }
    }
}

fn unknown(word: &str) -> UserError {
    let hint = match did_you_mean(word, WORDS.iter().map(|(known, _)| *known)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "use `status`, `time`, `size`, `body`, `header NAME`, `cookie NAME`, `json PATH`, `xml XPATH`, \
                 `css SELECTOR@ATTR` or `regex /RE/`"
                .to_owned()
        }
    };
    UserError::usage(Code::Extract, format!("cannot extract from `{word}`: it is not a known source"), hint)
}

fn example(word: &str) -> &'static str {
    match word {
        "header" => "for example `header location`",
        "cookie" => "for example `cookie session`",
        "json" => "for example `json $.items[0].sku`",
        "xml" => "for example `xml //item/@sku`",
        "css" => "for example `css a.next@href`",
        _ => "for example `regex /sku=(\\w+)/`",
    }
}

/// Checks a name of a header or cookie (RFC 9110 §5.6.2).
fn token(word: &str, name: &str) -> Result<Box<str>, UserError> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.bytes().all(is_letter) {
        return Ok(name.into());
    }
    let message = format!("`{name}` is not a valid {word} name");
    Err(UserError::usage(Code::Extract, message, example(word)))
}
