//! Findings with their evidence and what to do, and notes.

use maud::{Markup, html};
use wavetank_record::Finding;

use super::Section;
use super::badges::{blamed, explain_link};
use super::journeys::failed_checks;
use super::page_context::{PageContext, is_sentence, isolate_untrusted};
use crate::explain_command::more_about_findings;
use crate::threshold_state::was_killed;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    let reported = record.rehearsal.as_ref();
    let notes: Vec<_> = record.notes.iter().filter(|note| reported != Some(note)).collect();
    let mut findings: Vec<_> = record.findings.iter().collect();
    // Decisive findings come first, then those that blame the same side as the verdict.
    findings.sort_by_key(|finding| (!finding.decisive, finding.blame != record.verdict.blame));
    let mut body = html! {
        @if record.findings.is_empty() {
            p { @if was_killed(record) { (words.leads.cut_off) } @else { (words.leads.no_findings) } }
        }
        @for finding in findings { (one(sheet, finding)) }
        (explain_link(sheet, more_about_findings(record)))
        @if !notes.is_empty() {
            h3 { (words.front.notes) }
            ul { @for note in notes { li.sentence[is_sentence(note)] { (sheet.stored(note)) } } }
        }
    };
    if has_stored(&body) {
        body = html! { p.aside { (words.leads.as_stored) } (body) };
    }
    Section::new("findings", words.titles.findings, words.leads.findings, body)
}

/// Whether a sentence is shown as it was stored, in English. A single word is a name or a code,
/// which is the same in every language.
fn has_stored(body: &Markup) -> bool {
    let stored =
        body.0.split("<span lang=\"en\">").skip(1).map(|rest| rest.split("</span>").next().unwrap_or(rest));
    let is_word = |word: &str| word.len() > 2 && word.bytes().all(|letter| letter.is_ascii_alphabetic());
    stored.map(str::split_whitespace).any(|words| words.filter(|word| is_word(word)).nth(1).is_some())
}

fn one(sheet: &PageContext, finding: &Finding) -> Markup {
    let words = &sheet.words.marks;
    html! {
        article.finding.decisive[finding.decisive] {
            h3.sentence[is_sentence(&finding.message)] { (sheet.stored(&finding.message)) }
            p.aside {
                span.blame { (blamed(sheet, finding.blame)) } " · " code { (isolate_untrusted(&finding.code)) }
                @if finding.decisive { " · " strong { (words.decisive) } }
            }
            @let checks = failed_checks(sheet, finding);
            @if !checks.0.is_empty() { p { (checks) } }
            dl {
                // Evidence consists of numbers with the names of what they count.
                @for (term, said, is_own) in [(words.evidence, &finding.evidence, false), (words.fix, &finding.hint, true)] {
                    @if !said.is_empty() { div { dt { (term) } dd.sentence[is_own && is_sentence(said)] { (sheet.stored(said)) } } }
                }
                @if !finding.fix.is_empty() {
                    div {
                        dt { (words.fix_settings) }
                        dd { @for fix in &finding.fix { code { (isolate_untrusted(&fix.text)) } br; } }
                    }
                }
            }
        }
    }
}
