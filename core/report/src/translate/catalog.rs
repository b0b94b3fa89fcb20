//! [`translate`]: translates a stored sentence, or the parts of it that have a phrase.

use std::sync::LazyLock;

use super::phrase::{PatternPart, PlaceholderKind, SentencePattern};
use super::value::is_value;

/// Pairs of lines: English, Chinese. The first pattern that fits is used, so narrower patterns come
/// before wider ones.
const WORDS: [&str; 15] = [
    include_str!("words/verdict.txt"),
    include_str!("words/findings.txt"),
    include_str!("words/bottleneck.txt"),
    include_str!("words/bottleneck_hints.txt"),
    include_str!("words/hints.txt"),
    include_str!("words/hints_earlier.txt"),
    include_str!("words/conditions.txt"),
    include_str!("words/notes.txt"),
    include_str!("words/search.txt"),
    include_str!("words/comparison.txt"),
    include_str!("words/events.txt"),
    include_str!("words/load.txt"),
    include_str!("words/lab.txt"),
    include_str!("words/reasons.txt"),
    include_str!("words/failures.txt"),
];
/// Longer ones are no sentences of ours.
const SENTENCE_BYTES_MAX: usize = 4_096;
/// A sentence in a sentence in a sentence: no further.
const DEPTH_MAX: u32 = 5;
/// What sentences are joined by, and what parts of one; and by what in Chinese.
const SENTENCES: (&str, &str) = ("; ", "；");
const PARTS: (&str, &str) = (", ", "，");
/// Between names in Chinese.
const LISTED: &str = "、";

static BOOK: LazyLock<Vec<SentencePattern>> = LazyLock::new(|| {
    let phrases = WORDS.into_iter().flat_map(pairs);
    phrases.map(|(english, chinese)| SentencePattern::new(english, chinese)).collect()
});

/// A stretch of a sentence that has been looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// In the page's own language.
    Own(String),
    /// As it is stored, in English.
    Stored(String),
}

/// `sentence` in Chinese, and between it what there is no Chinese for.
pub(crate) fn translate(sentence: &str) -> Vec<Piece> {
    if sentence.is_empty() {
        return Vec::new();
    }
    if sentence.len() > SENTENCE_BYTES_MAX {
        return vec![Piece::Stored(sentence.to_owned())];
    }
    pieces_of(sentence, 0)
}

fn pieces_of(sentence: &str, depth: u32) -> Vec<Piece> {
    if is_value(sentence) {
        return vec![Piece::Own(sentence.to_owned())];
    }
    if depth > DEPTH_MAX {
        return vec![Piece::Stored(sentence.to_owned())];
    }
    // Evidence is a row of facts, each for itself.
    if sentence.contains(" · ") {
        let facts: Vec<_> = sentence.split(" · ").map(|fact| pieces_of(fact, depth + 1)).collect();
        return joined(facts, " · ");
    }
    let mut partly = None;
    for phrase in BOOK.iter() {
        let Some(found) = phrase.read(sentence) else { continue };
        let pieces = filled(phrase, &found, depth);
        if whole(&pieces) {
            return pieces;
        }
        partly.get_or_insert(pieces);
    }
    partly.or_else(|| apart(sentence, depth)).unwrap_or_else(|| vec![Piece::Stored(sentence.to_owned())])
}

/// The phrase's Chinese form with what was found in its holes.
fn filled(
    phrase: &SentencePattern,
    found: &[(&'static str, PlaceholderKind, &str)],
    depth: u32,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for part in phrase.chinese() {
        match part {
            PatternPart::Text(text) => add(&mut pieces, Piece::Own((*text).to_owned())),
            PatternPart::Hole(name, _) => match found.iter().find(|(own, ..)| own == name) {
                Some((_, PlaceholderKind::Phrase, value)) => {
                    add_all(&mut pieces, pieces_of(value, depth + 1));
                }
                Some((_, PlaceholderKind::List, value)) => {
                    add(&mut pieces, Piece::Own(value.replace(PARTS.0, LISTED)));
                }
                Some((.., value)) => add(&mut pieces, Piece::Own((*value).to_owned())),
                None => {}
            },
        }
    }
    pieces
}

/// Several sentences in one, or a sentence after a name, if there are phrases for all of them.
fn apart(sentence: &str, depth: u32) -> Option<Vec<Piece>> {
    // A name applies to all parts of its sentence, and must not be taken for a piece of the first
    // one.
    split(sentence, SENTENCES, depth)
        .or_else(|| named(sentence, depth))
        .or_else(|| split(sentence, PARTS, depth))
}

fn split(sentence: &str, (joint, chinese): (&str, &str), depth: u32) -> Option<Vec<Piece>> {
    if !sentence.contains(joint) {
        return None;
    }
    let parts: Vec<_> = sentence.split(joint).map(|part| pieces_of(part, depth + 1)).collect();
    parts.iter().all(|part| whole(part)).then(|| joined(parts, chinese))
}

fn named(sentence: &str, depth: u32) -> Option<Vec<Piece>> {
    let (name, rest) = sentence.split_once(": ").filter(|(name, _)| !name.contains(PARTS.0))?;
    let rest = pieces_of(rest, depth + 1);
    let mut pieces = vec![Piece::Own(format!("{name}："))];
    whole(&rest).then(|| {
        add_all(&mut pieces, rest);
        pieces
    })
}

fn whole(pieces: &[Piece]) -> bool {
    pieces.iter().all(|piece| matches!(piece, Piece::Own(_)))
}

fn joined(parts: Vec<Vec<Piece>>, joint: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (number, part) in parts.into_iter().enumerate() {
        if number > 0 {
            add(&mut pieces, Piece::Own(joint.to_owned()));
        }
        add_all(&mut pieces, part);
    }
    pieces
}

fn add_all(pieces: &mut Vec<Piece>, more: Vec<Piece>) {
    for piece in more {
        add(pieces, piece);
    }
}

/// Adds `piece`, to the last one where both are our own.
fn add(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (Some(Piece::Own(last)), Piece::Own(text)) => last.push_str(&text),
        (_, piece) => pieces.push(piece),
    }
}

/// English and Chinese lines of a file.
fn pairs(words: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut lines = words.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, expected: &str) {
        let shown = translate(sentence).into_iter().map(|piece| match piece {
            Piece::Own(text) => text,
            Piece::Stored(text) => format!("[{text}]"),
        });
        assert_eq!(shown.collect::<String>(), expected, "{sentence}");
    }

    #[test]
    fn sentences_are_reported_with_their_numbers() {
        check("", "");
        check("stopped by hand", "被手动停止");
        check("`p99 < 50ms` broke: 312 ms at 7 s", "`p99 < 50ms` 未满足：实测 312 ms，出现在 7 s");
        check("every request failed: connection refused", "所有请求均失败：连接被拒绝");
        check("310 of 9,800 (3.16 %) · no_files 12", "9,800 中的 310（3.16 %） · no_files 12");
        check(
            "the steps of runs 3be4 and 4ccc, ce22 differ: a difference may come from that",
            "运行 3be4 与 4ccc、ce22 的步骤不同：差异可能由此而来",
        );
        check("kernel: 6.1 for run a, 6.2 for run b, c", "内核：运行 a 为 6.1，运行 b、c 为 6.2");
        check("app1: fault kill serve reverted", "app1：故障 kill serve 已撤销");
        check(
            "`p99 < 5ms` broke: 9 ms, but it would pass without the generator's own lag",
            "`p99 < 5ms` 未满足：实测 9 ms；但若不计发压端自身的发送滞后，该条件成立",
        );
    }

    #[test]
    fn sentences_of_earlier_archives_are_reported_too() {
        check(
            "the generator was late: 1.2 % of the requests wanted in the worst 10.0 s were taken up more than 1.00 ms after \
             their instant",
            "发压端迟发：在最差的 10.0 s 内应发的请求中，有 1.2 % 比计划时刻晚 1.00 ms 以上才着手",
        );
        check(
            "a load thread stood still for 29.7 ms at once: the longest times may be its own",
            "有负载线程一次停顿达 29.7 ms：最长的那些耗时可能由它造成",
        );
        check(
            "it lies among 2,202 of 10,500 requests that were dropped and have no time",
            "它落在 10,500 个请求中被丢弃的 2,202 个之内，没有耗时",
        );
        check(
            "`p99 < 5ms` broke: it lies among 3 of 9 requests that were dropped and have no time",
            "`p99 < 5ms` 未满足：该值落在 9 个请求中被丢弃的 3 个之内，没有耗时",
        );
    }

    #[test]
    fn loads_are_reported_part_by_part() {
        check("50 connections, 10 s, closed loop", "50 个连接，10 s，闭环");
        check(
            "350/s at random (poisson), 30 s, open loop, after 3 s of warm-up",
            "350/s 随机到达（泊松），30 s，开环，之前预热 3 s",
        );
        check(
            "up: 0/s to 5 k/s evenly, 3 s, open loop; at rest: pause, 2 s",
            "up：0/s 至 5 k/s 均匀到达，3 s，开环；at rest：暂停，2 s",
        );
        check(
            "sessions at 0/s to 100/s at random (poisson), each of 5 requests, 5 s, open loop",
            "会话 0/s 至 100/s 随机到达（泊松），每次会话 5 个请求，5 s，开环",
        );
        check("0 to 1,000,000 connections held", "保持 0 至 1,000,000 个连接");
        check("0 to 1.00 M connections held", "保持 0 至 1.00 M 个连接");
        check(
            "open: 0 to 100 connections held, 25 s; keep: 100 connections held, 1 m 00 s",
            "open：保持 0 至 100 个连接，25 s；keep：保持 100 个连接，1 m 00 s",
        );
    }

    #[test]
    fn what_has_no_words_stays_as_it_is_stored() {
        check("a sentence without a phrase", "[a sentence without a phrase]");
        check("no answer to the probe: the dog ate it", "负载前的探测请求未得到应答：[the dog ate it]");
        check("lag 1 ms · odd", "发送滞后 1 ms · [odd]");
        check("we go from here to there", "[we go from here to there]");
        let long = "a, ".repeat(10_000);
        check(&long, &format!("[{long}]"));
    }

    /// The first pattern is used, so a later duplicate would never be.
    #[test]
    fn no_sentence_appears_twice() {
        let mut seen = std::collections::HashSet::new();
        for (english, _) in WORDS.into_iter().flat_map(pairs) {
            assert!(seen.insert(shape(english)), "twice: {english}");
        }
    }

    /// `english` without the names of its holes, which make no difference to what fits.
    fn shape(english: &str) -> String {
        let mut pieces = english.split('{');
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |reported, piece| {
            reported
                + "{"
                + piece.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_')
        })
    }

    #[test]
    fn both_forms_have_the_same_holes() {
        for words in WORDS {
            let lines = words.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            assert!(lines.count().is_multiple_of(2), "a line without its pair");
            for (english, chinese) in pairs(words) {
                let phrase = SentencePattern::new(english, chinese);
                assert!(phrase.unmatched().is_empty(), "{english}: {:?}", phrase.unmatched());
                assert!(!chinese.is_ascii() || english == chinese, "no Chinese: {chinese}");
                assert!(!english.contains("}{"), "adjacent placeholders: {english}");
            }
        }
    }
}
