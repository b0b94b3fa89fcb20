//! What the words of a page mean.

use std::borrow::Cow;

use maud::{Markup, html};

use super::Section;
use super::words::Words;

/// The words of a page that has `parts`: only those that stand in one of them.
pub(super) fn glossary<'m>(words: &Words, parts: impl Iterator<Item = &'m Markup>) -> Option<Section> {
    let told: String = parts.map(|part| text_of(&part.0) + " ").collect();
    let terms: Vec<String> = words.glossary.iter().map(|(word, _)| term(word)).collect();
    let entries = words.glossary.iter().zip(&terms);
    let used: Vec<_> =
        entries.filter(|(_, own)| is_used(own, &terms, &told)).map(|(entry, _)| entry).collect();
    let body = html! {
        @if !used.is_empty() {
            dl.glossary { @for (word, means) in used { div { dt { (word) } dd { (means) } } } }
        }
    };
    Section::new("words", words.titles.glossary, words.leads.glossary, body)
}

/// What stands between the tags of `markup`, in small letters.
fn text_of(markup: &str) -> String {
    let pieces = markup.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces.collect::<Vec<_>>().join(" ").replace('\u{a0}', " ").to_lowercase()
}

/// What is looked for: of a word with its English name behind it, the word before that.
fn term(word: &str) -> String {
    word.split('（').next().unwrap_or(word).to_lowercase()
}

/// Whether `word` stands in `text`, alone or in the plural, and not only in longer ones of `terms`: Chinese has no blanks between
/// words.
fn is_used(word: &str, terms: &[String], text: &str) -> bool {
    let longer = terms.iter().filter(|other| other.len() > word.len() && other.contains(word));
    let text = longer.fold(Cow::Borrowed(text), |text, other| Cow::Owned(text.replace(other.as_str(), "\n")));
    let is_letter = |letter: char| letter.is_ascii_alphabetic();
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let after = after.strip_prefix('s').unwrap_or(after);
        !word.is_ascii() || !(before.ends_with(is_letter) || after.starts_with(is_letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_within_a_longer_one_is_not_used() {
        let terms = ["open", "open loop", "late", "plateau", "会话", "会话复用"].map(str::to_owned);
        let check = |word: &str, text: &str, used: bool| {
            assert_eq!(is_used(word, &terms, text), used, "{word} in {text}");
        };
        check("会话", "tls 会话复用 12", false);
        check("会话", "tls 会话复用 12 完成会话 3", true);
        check("会话复用", "tls 会话复用 12", true);
        check("open", "an open loop", false);
        check("open", "an open loop with 3 open", true);
        check("late", "two plateaus", false);
        check("plateau", "two plateaus", true);
        check("open", "opened", false);
    }
}
