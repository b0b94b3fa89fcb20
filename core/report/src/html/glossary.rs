//! The glossary of a page.

use std::borrow::Cow;

use maud::{Markup, html};

use super::Section;
use super::strings::Strings;

/// Returns the glossary of a page with these `parts`: only terms that are used in one of them.
pub(super) fn glossary<'m>(words: &Strings, parts: impl Iterator<Item = &'m Markup>) -> Option<Section> {
    let reported = parts.map(|part| text_of(&part.0)).collect::<Vec<_>>().join("\n");
    let small = reported.replace('\n', " ").to_lowercase();
    let names: Vec<String> = words.glossary.iter().map(|(word, _)| term(word).to_owned()).collect();
    let terms: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let is_reported = |word: &str, name: &String, own: &String| {
        let only_name = words.only_names.contains(&name.as_str());
        let is_word = if only_name { is_name(name, &names, &reported) } else { is_used(own, &terms, &small) };
        is_word || is_part(word, &small)
    };
    let entries = words.glossary.iter().zip(names.iter().zip(&terms));
    let used: Vec<_> = entries
        .filter(|((word, _), (name, own))| is_reported(word, name, own))
        .map(|(entry, _)| entry)
        .collect();
    let body = html! {
        @if !used.is_empty() {
            dl.glossary { @for (word, means) in used { div { dt { (word) } dd { (means) } } } }
        }
    };
    Section::new("words", words.titles.glossary, words.leads.glossary, body)
}

/// Whether a threshold on times names `word` as the part of them, as in `p50(service)`. The form is
/// the same in every language.
fn is_part(word: &str, text: &str) -> bool {
    let name = word.split_once('（').and_then(|(_, name)| name.strip_suffix('）')).unwrap_or(word);
    text.contains(&format!("({})", name.to_lowercase()))
}

/// Returns the text between the tags of `markup`, a line for each piece.
fn text_of(markup: &str) -> String {
    let pieces = markup.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces.collect::<Vec<_>>().join("\n").replace('\u{a0}', " ")
}

/// Whether a line of `text`, or a part of it after a middle dot, starts with `name` in the singular
/// or plural. The name must end there, and must not be part of a longer one of `terms`.
fn is_name(name: &str, terms: &[String], text: &str) -> bool {
    let text = without_longer(name, terms, text);
    let mut pieces = text.lines().flat_map(|line| line.split(" · ")).map(str::trim);
    let ends = |rest: &str| rest.is_empty() || rest.starts_with([' ', ':', '：']);
    pieces.any(|piece| {
        let rest = piece.strip_prefix(name);
        rest.is_some_and(|rest| ends(rest) || rest.strip_prefix('s').is_some_and(ends))
    })
}

/// The term to search for: a Chinese term without the English name after it.
fn term(word: &str) -> &str {
    word.split('（').next().unwrap_or(word)
}

/// Whether `word` is in `text`, in the singular or plural, and not only as part of longer ones of
/// `terms`. Chinese has no blanks between its terms.
fn is_used(word: &str, terms: &[String], text: &str) -> bool {
    let text = without_longer(word, terms, text);
    let is_letter = |letter: char| letter.is_ascii_alphabetic();
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let after = after.strip_prefix('s').unwrap_or(after);
        !word.is_ascii() || !(before.ends_with(is_letter) || after.starts_with(is_letter))
    })
}

/// Returns `text` without the longer ones of `terms` that contain `word`.
fn without_longer<'t>(word: &str, terms: &[String], text: &'t str) -> Cow<'t, str> {
    let longer = terms.iter().filter(|other| other.len() > word.len() && other.contains(word));
    longer.fold(Cow::Borrowed(text), |text, other| Cow::Owned(text.replace(other.as_str(), "\n")))
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

    #[test]
    fn a_part_of_the_time_is_named_by_conditions() {
        let check =
            |word: &str, text: &str, is: bool| assert_eq!(is_part(word, text), is, "{word} in {text}");
        check("Service", "p50(service)", true);
        check("服务时间（service）", "p50(service) < 5ms", true);
        check("服务时间（service）", "a service", false);
    }

    /// A term without an explanation is never listed.
    #[test]
    fn words_that_are_only_names_have_an_entry() {
        for words in [&crate::html::strings::EN, &crate::html::strings::ZH] {
            let has = |name: &&str| words.glossary.iter().any(|(word, _)| term(word) == *name);
            assert!(words.only_names.iter().all(has), "{:?}", words.only_names);
        }
    }

    #[test]
    fn a_word_of_sentences_counts_only_as_a_name() {
        let terms = ["Open", "Open loop", "Wait", "计划", "等待"].map(str::to_owned);
        let check = |name: &str, markup: &str, is: bool| {
            assert_eq!(is_name(name, &terms, &text_of(markup)), is, "{name} in {markup}");
        };
        check("Open", "<td>Open</td>", true);
        check("Open", "<p>Failed 3 · Open 2 (1&nbsp;%)</p>", true);
        check("Open", "<dt>Open at the end</dt>", true);
        check("Open", "<title>0 s · Open: 7</title>", true);
        check("Open", "<dt>Files the process may open</dt>", false);
        check("Open", "<p>Open loop</p>", false);
        check("Open", "<p>Opened</p>", false);
        check("Wait", "<th>Wait</th>", true);
        check("Plateau", "<h3>Plateaus</h3>", true);
        check("Plateau", "<td>plateau</td>", false);
        check("Wait", "<title>88 % · Wait: 987 µs</title>", true);
        check("Wait", "<p>Not determined (closed loop): users wait</p>", false);
        check("计划", "<dt>计划（SHA-256）</dt>", false);
        check("计划", "<th>计划</th>", true);
        check("等待", "<dd>负载结束后等待 60.0 s</dd>", false);
    }
}
