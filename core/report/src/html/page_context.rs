//! [`PageContext`]: the input of every section of the page: the stored run, and the texts in the
//! page's language.

use maud::{Markup, html};
use wavetank_measure::{HostSample, TargetSample, TimeSeries};
use wavetank_plan::Plan;
use wavetank_record::{EnvironmentDoc, RunRecord, Spread};
use wavetank_units::{Nanos, is_control_char};

use super::language::Language;
use super::strings::Strings;
use crate::command_line::quoted_words;
use crate::format;
use crate::text_layout::width;
use crate::translate::{Piece, translate};

/// The readable parts of a stored run. Only the record is required; a missing part only leaves its
/// section of the page out.
#[derive(Clone, Copy)]
pub struct HtmlSource<'a> {
    /// `run.json`, or the record composed in its place.
    pub record: &'a RunRecord,
    /// `plan.yaml`.
    pub plan: Option<&'a Plan>,
    /// `environment.json`.
    pub environment: Option<&'a EnvironmentDoc>,
    /// The run over time, from the sealed intervals.
    pub course: Option<&'a TimeSeries>,
    /// `hosts/local.jsonl`, in order.
    pub hosts: &'a [HostSample],
    /// The hosts of a lab in order, each with the content of `hosts/NAME.jsonl`.
    pub others: &'a [(String, Vec<HostSample>)],
    /// `truth.jsonl`, in order.
    pub target: &'a [TargetSample],
}

impl<'a> HtmlSource<'a> {
    /// Returns a source with only the record.
    pub const fn of_record(record: &'a RunRecord) -> Self {
        Self { record, plan: None, environment: None, course: None, hosts: &[], others: &[], target: &[] }
    }
}

/// One page under construction.
pub(crate) struct PageContext<'a> {
    pub(crate) source: HtmlSource<'a>,
    pub(crate) words: &'static Strings,
    language: Language,
}

impl<'a> PageContext<'a> {
    pub(crate) fn new(source: HtmlSource<'a>, language: Language) -> Self {
        Self { source, words: language.strings(), language }
    }

    pub(crate) const fn language(&self) -> Language {
        self.language
    }

    pub(crate) const fn record(&self) -> &'a RunRecord {
        self.source.record
    }

    /// Formats a sentence of the record. Sentences are stored in English; untranslated ones are
    /// marked as English for screen readers.
    pub(crate) fn stored(&self, sentence: &str) -> Markup {
        translated(self.language, sentence)
    }

    /// A reason of the verdict: a threshold as it was written, or a code with a term in the page's
    /// language before it.
    pub(crate) fn reason(&self, reason: &str) -> Markup {
        let code = harmless(reason);
        let pieces = if self.language == Language::Chinese { translate(&code) } else { Vec::new() };
        html! {
            @if let [Piece::Own(word)] = &pieces[..] { @if *word != code { (word) " " } }
            (whole_code(&code))
        }
    }

    /// A percentile of `spread` by its field name, marked as in the text report if it is a bound or
    /// uncertain.
    pub(crate) fn percentile(&self, spread: &Spread, name: &str) -> String {
        if spread.is_unknown(name) {
            return self.words.times.above_dropped.to_owned();
        }
        format::percentile(spread, name)
    }
}

/// A stored sentence on a page in `language`.
pub(crate) fn translated(language: Language, sentence: &str) -> Markup {
    let sentence = harmless(sentence);
    match language {
        Language::English => with_code(&sentence),
        Language::Chinese => html! {
            @for piece in translate(&sentence) { @match piece {
                Piece::Own(text) => { (with_code(&text)) }
                Piece::Stored(text) => { span lang="en" { (with_code(&text)) } }
            } }
        },
    }
}

/// Isolates a name, address or response from outside, so that right-to-left letters do not affect
/// the surrounding text.
pub(crate) fn isolate_untrusted(text: &str) -> Markup {
    html! { bdi { (harmless(text)) } }
}

/// Arguments and thresholds wider than this may break, because a page may be narrower than they
/// are.
const OPTION_COLUMNS_MAX: usize = 30;

/// `text` as code, kept on one line if it is short. Half of a threshold or of an option reads as
/// another one.
fn whole_code(text: &str) -> Markup {
    kept_whole(text, &html! { (text) })
}

/// The same for a threshold or a name from outside.
pub(crate) fn outside_code(text: &str) -> Markup {
    kept_whole(&harmless(text), &isolate_untrusted(text))
}

fn kept_whole(text: &str, shown: &Markup) -> Markup {
    let may_end = text.contains([' ', '-']) && width(text) <= OPTION_COLUMNS_MAX;
    html! { @if may_end { code.option { (shown) } } @else { code { (shown) } } }
}

/// A command line as code. Options are kept on one line, because a break after a hyphen would look
/// like two arguments.
pub(crate) fn command_line(line: &str) -> Markup {
    let line = harmless(line);
    let is_kept = |word: &str| word.starts_with(['-', '\'']) || word.contains(' ');
    let is_option = |word: &str| is_kept(word) && width(word) <= OPTION_COLUMNS_MAX;
    html! { code { bdi { @for (place, word) in quoted_words(&line).enumerate() {
        @if place > 0 { " " }
        @if is_option(word) { span.option { (word) } } @else { (word) }
    } } } }
}

/// Whether a stored sentence starts with a plain word, and not with code or a name. Pages start
/// such sentences with a capital.
pub(crate) fn is_sentence(stored: &str) -> bool {
    let word = stored.split_whitespace().next().unwrap_or_default();
    // A word before a colon may be a name, such as the name of a step.
    let word = word.strip_suffix(',').unwrap_or(word);
    !word.is_empty() && word.bytes().all(|letter| letter.is_ascii_lowercase())
}

/// Units that stay on the line of the number and blank before them.
const UNITS: [&str; 17] =
    ["%", "ns", "µs", "ms", "s", "m", "h", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "CPU", "CPUs"];

/// Returns `text` with each number kept on the line of its unit.
pub(crate) fn with_nonbreaking_units(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut before = None;
    for (at, letter) in text.char_indices() {
        let is_number = before.is_some_and(|before: char| before.is_ascii_digit());
        let unit = || {
            let rest = &text[at + 1..];
            rest.split(|letter: char| !letter.is_alphabetic() && letter != '%').next().unwrap_or_default()
        };
        let is_unit = letter == ' ' && is_number && UNITS.contains(&unit());
        kept.push(if is_unit { '\u{a0}' } else { letter });
        before = Some(letter);
    }
    kept
}

/// Formats the text between back-quotes, and options, as code.
pub(crate) fn with_code(sentence: &str) -> Markup {
    let parts: Vec<_> = sentence.split('`').collect();
    // Text after an unclosed back-quote is not code.
    if parts.len() % 2 == 0 {
        return html! { (with_nonbreaking_units(sentence)) };
    }
    html! { @for (number, part) in parts.iter().enumerate() {
        @if number % 2 == 1 { (whole_code(part)) } @else { (with_options(part)) }
    } }
}

/// Commands that end a sentence.
const COMMANDS: [&str; 2] = ["wavetank run ", "wavetank compare "];

/// Formats a command that ends a sentence, and options of the program, as code. Other text may
/// break after each hyphen.
fn with_options(text: &str) -> Markup {
    let command = COMMANDS.iter().filter_map(|command| text.find(command)).min();
    if let Some((before, line)) = command.map(|at| text.split_at(at)) {
        return html! { (with_nonbreaking_units(before)) (command_line(line)) };
    }
    let text = &*with_nonbreaking_units(text);
    let mut pieces = Vec::new();
    let mut reported = 0;
    for (at, _) in text.match_indices('-') {
        // Names may have hyphens, too; Chinese has no blanks.
        let begins = text[..at]
            .chars()
            .next_back()
            .is_none_or(|letter| letter.is_whitespace() || letter == '(' || !letter.is_ascii());
        // This is the last condition, because it reads on to the end of the word.
        let len = if at >= reported && begins { option_len(&text[at..]) } else { None };
        let Some(len) = len else { continue };
        pieces.push((&text[reported..at], &text[at..at + len]));
        reported = at + len;
    }
    let whole = |option: &str| width(option) <= OPTION_COLUMNS_MAX;
    html! { @for (before, option) in pieces { (before) code.option[whole(option)] { (option) } } (text[reported..]) }
}

/// Length in bytes of the option at the start of `text`: `--name`, or `-n` alone.
fn option_len(text: &str) -> Option<usize> {
    let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    let len = text.find(|letter| !is_name(letter)).unwrap_or(text.len());
    let name = &text[..len];
    let is_long = name.strip_prefix("--").is_some_and(|name| name.starts_with(|letter| letter != '-'));
    // A single letter, and not a word or number that only starts like an option.
    let is_short = len == 2 && !name.ends_with('-') && !text[len..].starts_with(char::is_alphanumeric);
    (is_long || is_short).then_some(len)
}

/// Returns `text` without control characters and characters that change the writing direction. Each
/// of them becomes `�`.
pub(crate) fn harmless(text: &str) -> String {
    let shown = |letter: char| match letter {
        '\n' | '\t' => ' ',
        letter if is_control_char(letter) => '\u{fffd}',
        letter => letter,
    };
    text.chars().map(shown).collect()
}

/// Formats an instant on the run clock, given in nanoseconds: `12.30 s`, `−1.85 s`, `2 m 05 s`. Up
/// to two minutes all values have the same number of decimals.
pub(crate) fn instant(ns: i64) -> String {
    let hundredths = (ns.unsigned_abs() + 5_000_000) / 10_000_000;
    let sign = if ns < 0 && hundredths > 0 { "−" } else { "" };
    let apart = Nanos(i64::try_from(ns.unsigned_abs()).unwrap_or(i64::MAX));
    let text = if hundredths < 12_000 {
        format!("{}.{:02} s", hundredths / 100, hundredths % 100)
    } else {
        apart.to_string()
    };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_made_visible() {
        let check = |text: &str, shown: &str| assert_eq!(harmless(text), shown, "{text:?}");
        check("GET /a?b=c", "GET /a?b=c");
        check("a\u{202e}gpj.exe", "a\u{fffd}gpj.exe");
        check("\u{1b}[31mred\u{7}", "\u{fffd}[31mred\u{fffd}");
        check("two\nlines\tand", "two lines and");
        check("مرحبا 你好 café", "مرحبا 你好 café");
        check("zero\u{200b}width\u{feff}", "zero\u{fffd}width\u{fffd}");
    }

    #[test]
    fn words_between_backticks_are_code() {
        let check = |text: &str, shown: &str| assert_eq!(with_code(text).into_string(), shown);
        check(
            "raise `--drain`, or `<b>`",
            "raise <code class=\"option\">--drain</code>, or <code>&lt;b&gt;</code>",
        );
        check("threads (--threads)", "threads (<code class=\"option\">--threads</code>)");
        check("--a, --b", "<code class=\"option\">--a</code>, <code class=\"option\">--b</code>");
        check("runs (-d) narrow", "runs (<code class=\"option\">-d</code>) narrow");
        check(
            "（-d）, ulimit -n",
            "（<code class=\"option\">-d</code>）, ulimit <code class=\"option\">-n</code>",
        );
        check("well-known, -5, a - b, -dX and a-b -", "well-known, -5, a - b, -dX and a-b -");
        check("foo--bar and exec h1 -- ip", "foo--bar and exec h1 -- ip");
        check("one ` alone", "one ` alone");
        let line = "wavetank run :80 <span class=\"option\">-d</span> 6s";
        check("at a rate: wavetank run :80 -d 6s", &format!("at a rate: <code><bdi>{line}</bdi></code>"));
        let line = "<code><bdi>wavetank compare A1 B1</bdi></code>";
        check("compare 3 with 3: wavetank compare A1 B1", &format!("compare 3 with 3: {line}"));
        let line = "<code><bdi>wavetank compare A B; wavetank run X</bdi></code>";
        check("wavetank compare A B; wavetank run X", line);
        check("95 % of 3 in 4.98 ms", "95\u{a0}% of 3 in 4.98\u{a0}ms");
        // Text that may be copied is unchanged.
        check("`failed < 1 %`", "<code class=\"option\">failed &lt; 1 %</code>");
        let long = "done_rate(catalogue-of-many-things) > 100/s";
        check(&format!("`{long}`"), &format!("<code>{}</code>", long.replace('>', "&gt;")));
        check("", "");
    }

    /// If each hyphen were searched to the end of the text, this would take minutes.
    #[test]
    fn a_row_of_hyphens_is_read_once() {
        let row = "-".repeat(200_000);
        assert_eq!(with_code(&row).into_string(), row);
    }

    #[test]
    fn what_is_wider_than_a_page_may_be_can_break() {
        let check = |text: &str, whole: bool| {
            let shown = outside_code(text).into_string();
            assert_eq!(shown.starts_with("<code class=\"option\">"), whole, "{shown}");
        };
        check(&format!("p {}", "a".repeat(28)), true);
        check(&format!("p {}", "a".repeat(29)), false);
        check(&format!("p {}", "字".repeat(14)), true);
        check(&format!("p {}", "字".repeat(15)), false);
        check(&format!("p {}", "\u{202e}".repeat(29)), false);
        let line = command_line(&format!("wavetank -{}", "字".repeat(20))).into_string();
        assert!(!line.contains("option"), "{line}");
    }

    #[test]
    fn numbers_stay_on_the_line_of_their_unit() {
        let check =
            |text: &str, shown: &str| assert_eq!(with_nonbreaking_units(text).replace('\u{a0}', "_"), shown);
        check("6.98 ms of 20.2 %: 2 CPUs, 3 runs", "6.98_ms of 20.2_%: 2_CPUs, 3 runs");
        check("2 m 05 s", "2_m 05_s");
        check("p99 is 12 µs", "p99 is 12_µs");
        check("12 seconds, then 3 sent", "12 seconds, then 3 sent");
        check("其中 3 ms，5 % 以上", "其中 3_ms，5_% 以上");
        check("a %, 7 ", "a %, 7 ");
        check("", "");
    }

    #[test]
    fn instants_of_a_column_have_as_many_decimals_each() {
        let check = |ns: i64, reported: &str| assert_eq!(instant(ns), reported, "{ns}");
        check(0, "0.00 s");
        check(-1_849_454_298, "−1.85 s");
        check(-4_000_000, "0.00 s");
        check(18_000_000_000, "18.00 s");
        check(48_032_000_000, "48.03 s");
        check(119_999_000_000, "2 m 00 s");
        check(i64::MIN, "−2562047 h 47 m");
    }

    #[test]
    fn only_plain_words_have_capitals() {
        let check = |stored: &str, is: bool| assert_eq!(is_sentence(stored), is, "{stored}");
        check("the generator was late", true);
        check("late, verdict unchanged", true);
        check("`p99 < 50ms` broke", false);
        check("p99 rose", false);
        check("login: status 500", false);
        check("max_open 800 was reached", false);
        check("", false);
    }

    #[test]
    fn names_are_escaped_and_isolated() {
        assert_eq!(isolate_untrusted("<b>&\"").into_string(), "<bdi>&lt;b&gt;&amp;&quot;</bdi>");
    }
}
