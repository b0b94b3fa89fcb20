//! The first page: target and load, verdict, three numbers, bottleneck, and how to repeat the run.
//! One sheet of paper.

use maud::{Markup, PreEscaped, html};
use wavetank_record::{Blame, Finding, RunRecord, Status};
use wavetank_units::quantity::{format_grouped, show_request_rate, show_share};

use super::badges::{limit_owner, verdict_explanation, verdict_sign, verdict_text};
use super::connections::{open_connection_lines, plateaus};
use super::headroom::rooms;
use super::impacts::impact_summary;
use super::journeys::failed_checks;
use super::page_context::{
    PageContext, command_line, harmless, is_sentence, isolate_untrusted, with_nonbreaking_units,
};
use super::scopes::phases;
use super::test_setup::tested;
use super::time_charts::rate_lines;
use crate::chart::LineChart;
use crate::done_after_load::{done_after_load, done_in_time};
use crate::format;
use crate::lag_part::lag_part;
use crate::limits::headroom;
use crate::section::is_holding;
use crate::threshold_state::least;

/// Most notes on the first page. Their section has all of them.
const NOTES_MAX: usize = 4;
/// Most findings that support the verdict. One finding against it is shown.
const FINDINGS_MAX: usize = 2;
/// Most limits of the generator shown.
const ROOMS_MAX: usize = 2;
/// Failures are shown next to the response time from this share of its requests on.
const FAILED_MIN: f64 = 0.001;
/// Height of the picture's plot, in pixels, so that the first page fits one sheet.
const PICTURE_HEIGHT: u32 = 140;
/// Phases are shown on the first page if there are at most this many.
const PHASES_MAX: usize = 6;

/// The banner: the name of the run.
pub(crate) fn header(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), sheet.words);
    html! {
        header {
            p.kind { (words.page.report) }
            h1 { (isolate_untrusted(&format::cut(&record.name))) }
            p.when {
                @if !record.started_at.is_empty() {
                    time datetime=(harmless(&record.started_at)) { (isolate_untrusted(&record.started_at)) } " · "
                }
                (format::seconds(record.duration_s))
                " · " (words.facts.run_id) " " (isolate_untrusted(&record.id))
            }
        }
    }
}

/// The first page below the banner.
pub(crate) fn summary(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), &sheet.words.front);
    html! {
        section #summary aria-labelledby="summary-title" tabindex="-1" {
            @if let Some(rehearsal) = &record.rehearsal {
                p.rehearsal { strong { (words.rehearsal) } (sheet.words.page.colon) (sheet.stored(rehearsal)) }
            }
            (verdict(sheet))
            (numbers(sheet))
            div.pair {
                div {
                    h3 { (words.tested) }
                    (tested(sheet))
                }
                div {
                    h3 { (words.limit_owner) }
                    (limit(sheet))
                    // Without any load, there is no next limit.
                    @if is_loaded(record) {
                        h3 { (words.next_limit) }
                        (next_limit(sheet))
                    }
                }
            }
            (picture(sheet))
            (stretches(sheet))
            (notes(sheet))
            h3 { (words.repeat) }
            (repeat(sheet))
        }
    }
}

fn verdict(sheet: &PageContext) -> Markup {
    let record = sheet.record();
    let status = record.verdict.status;
    html! {
        div class={ "verdict " (status.name()) } {
            (verdict_sign(status))
            div {
                h2 #summary-title { (verdict_text(sheet)) }
                p.headline.sentence[is_sentence(&record.verdict.headline)] { (headline(sheet)) }
                @if let Some(means) = verdict_explanation(sheet).filter(|_| status != Status::Pass) { p.means { (means) } }
                @if record.verdict.reasons.len() > 1 {
                    p.reasons {
                        (sheet.words.verdict.reasons) (sheet.words.page.colon)
                        @for (number, reason) in record.verdict.reasons.iter().enumerate() {
                            @if number > 0 { " · " }
                            (sheet.reason(reason))
                        }
                    }
                }
            }
        }
    }
}

/// Returns the text next to the verdict: the record's own sentence, if it has one.
fn headline(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), &sheet.words.verdict);
    if record.verdict.status != Status::Pass || !record.verdict.headline.is_empty() {
        return sheet.stored(&format::headline(record));
    }
    let asked = || record.thresholds.iter().filter(|threshold| !threshold.implicit);
    let (all, held) = (asked().count(), asked().filter(|threshold| threshold.ok == Some(true)).count());
    let said = match (all, held) {
        (0, _) => words.nothing_asked.to_owned(),
        (all, held) if held < all => (words.some_held)(&held.to_string(), &all.to_string()),
        (all, _) => (words.all_held)(&all.to_string()),
    };
    html! { (said) }
}

/// Rate, time and failures; held connections come before them.
fn numbers(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), &sheet.words.front);
    let requests = record.requests;
    let mut cards = Vec::new();
    if is_holding(record) {
        cards.push(held_card(sheet));
    }
    if requests.offered > 0 || !is_holding(record) {
        cards.push(rate_card(sheet));
        let spread = record.response_us.spread.as_ref().filter(|_| requests.done > 0);
        let p99 = spread.map(|spread| {
            if !spread.is_unknown("p99") {
                return sheet.percentile(spread, "p99");
            }
            // It is at least as high as a lower percentile that is known.
            least(spread)
                .map_or_else(|| words.unknown.to_owned(), |least| format!("≥ {}", format::time(least)))
        });
        let below = spread.map(|spread| {
            let lag = |field| lag_part(record, field).map(|lag| (words.lag_of_it)(&format::time(lag)));
            let half = || {
                let half = (words.half_within)(&sheet.percentile(spread, "p50"));
                lag("p50").map_or(half.clone(), |lag| format!("{half} ({lag})"))
            };
            let own =
                if spread.is_unknown("p99") { sheet.words.times.unknown_short.to_owned() } else { half() };
            [lag("p99"), Some(own), failed_apart(sheet)].into_iter().flatten().collect::<Vec<_>>().join(" · ")
        });
        cards.push((words.response_p99, p99, below.unwrap_or_else(|| words.nothing_done.to_owned())));
        cards.push(failed_card(sheet));
    }
    html! {
        dl.numbers { @for (term, number, below) in cards {
            div {
                dt { (term) }
                dd.number { (number.as_deref().unwrap_or("–")) }
                dd.below { (with_nonbreaking_units(&below)) }
            }
        } }
    }
}

/// Number and p99 of failed requests that the response time does not include; `None` if they are
/// few. The response time has only failures by timeout, and a p99 without slow failures looks
/// better than what users experienced.
fn failed_apart(sheet: &PageContext) -> Option<String> {
    let record = sheet.record();
    let failed = record.failed_us.spread.as_ref()?;
    let reported = record.failed_us.count as f64 >= record.response_us.count as f64 * FAILED_MIN;
    let p99 = sheet.percentile(failed, "p99");
    reported.then(|| (sheet.words.front.failed_apart)(&format_grouped(record.failed_us.count), &p99))
}

/// Failures, and requests that were never sent or never answered.
fn failed_card(sheet: &PageContext) -> Card {
    let (requests, words) = (sheet.record().requests, &sheet.words.front);
    let all = requests.offered;
    if all == 0 {
        return (words.failed_share, None, words.nothing_sent.to_owned());
    }
    let share = show_share(requests.failed as f64 / all as f64);
    let counts = &sheet.words.counts;
    let others = [(counts.dropped, requests.dropped), (counts.open, requests.open)];
    let others = others.into_iter().filter(|(_, n)| *n > 0);
    let failed = (words.failed_of)(&format_grouped(requests.failed), &format_grouped(all));
    let parts = std::iter::once(failed)
        .chain(others.map(|(name, n)| format!("{name} {}", format::count_with_share(n, all))));
    let below = parts.collect::<Vec<_>>().join(" · ");
    (words.failed_share, Some(share), below)
}

type Card = (&'static str, Option<String>, String);

/// Requests done per second during the load, and separately the number answered only after it.
fn rate_card(sheet: &PageContext) -> Card {
    let (record, words) = (sheet.record(), &sheet.words.front);
    let done = record.requests.done;
    let rate = record.rate.done_per_s.0;
    let in_time = done_in_time(record);
    let (number, below) = match record.load.model.as_str() {
        _ if record.requests.offered == 0 => (None, words.nothing_sent.to_owned()),
        _ if done > 0 && rate == 0.0 => (Some(format_grouped(done)), words.done_after_load.to_owned()),
        "open" => (
            Some(show_request_rate(rate)),
            (words.of_offered)(&show_request_rate(record.rate.offered_per_s.0)),
        ),
        _ => (
            Some(show_request_rate(rate)),
            (words.done_in)(&format_grouped(in_time), &format::seconds(record.duration_s)),
        ),
    };
    match done_after_load(record).filter(|_| rate > 0.0) {
        Some(later) => {
            (words.done_rate, number, format!("{below} · {}", (words.done_later)(&format_grouped(later))))
        }
        None => (words.done_rate, number, below),
    }
}

/// With several plateaus, the one that missed its planned number by most.
fn held_card(sheet: &PageContext) -> Card {
    let (record, words) = (sheet.record(), &sheet.words.front);
    let missing = |held: &&wavetank_record::HoldDoc| held.planned.saturating_sub(held.lowest);
    if let Some(held) = record.held.iter().max_by_key(missing) {
        let planned = format_grouped(held.planned);
        let below = match missing(&held) {
            0 => (words.held_all)(&planned),
            _ => (words.held_of)(&planned, &format::seconds(held.lowest_at_s)),
        };
        return (words.held, Some(format_grouped(held.lowest)), below);
    }
    let below = (words.peak_of)(&format_grouped(record.connections.planned));
    (words.held, Some(format_grouped(record.connections.peak)), below)
}

/// Whether the load sent any request, or opened any connection.
fn is_loaded(record: &RunRecord) -> bool {
    record.requests.offered > 0 || record.connections.opened > 0
}

fn limit(sheet: &PageContext) -> Markup {
    let record = sheet.record();
    let verdict = &record.verdict;
    let mut findings: Vec<_> = record.findings.iter().filter(|finding| matters(record, finding)).collect();
    findings.sort_by_key(|finding| !finding.decisive);
    // A finding against the stated bottleneck must not be read as its reason.
    let is_aside = |finding: &&&Finding| finding.blame != verdict.blame && !finding.decisive;
    let own: Vec<_> = findings.iter().filter(|finding| !is_aside(finding)).take(FINDINGS_MAX).collect();
    let aside = findings.iter().find(is_aside);
    let left = findings.len() - own.len() - usize::from(aside.is_some());
    // A threshold may fail without any related finding, and the findings need not be the cause.
    let by_condition = findings.iter().all(|finding| !finding.decisive) && verdict.status == Status::Fail;
    html! {
        // Without any load, no limit was reached.
        p.owner.sentence[!is_loaded(record)] { strong {
            (if is_loaded(record) { limit_owner(sheet, record.verdict.blame) } else { sheet.words.front.nothing_sent })
        } }
        @if by_condition { p { (headline(sheet)) } }
        @for finding in own.into_iter().chain(aside) {
            p.sentence[is_sentence(&finding.message) && !is_aside(&finding)] {
                @if is_aside(&finding) { strong { (sheet.words.front.however) } (sheet.words.page.colon) }
                (sheet.stored(&finding.message))
                @if !finding.hint.is_empty() { " " em { "→ " (sheet.stored(&finding.hint)) } } }
            @let checks = failed_checks(sheet, finding);
            @if !checks.0.is_empty() { p { (checks) } }
        }
        @if left > 0 { p { ((sheet.words.front.more_found)(&left.to_string())) } }
        (impact_summary(sheet))
    }
}

/// Whether `finding` is shown with the bottleneck: the findings that decided it do. For a run that
/// did not pass, so do findings that contradict the blame, because readers of this page alone must
/// see the generator's share.
fn matters(record: &RunRecord, finding: &Finding) -> bool {
    let verdict = &record.verdict;
    let is_blamed = finding.blame == verdict.blame && verdict.blame != Blame::None;
    let reported = finding.blame == verdict.blame || finding.blame == Blame::Generator;
    finding.decisive || is_blamed || (verdict.status != Status::Pass && reported)
}

fn next_limit(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), &sheet.words.front);
    let rooms = rooms(sheet);
    html! {
        @if let Some(parts) = headroom(record) {
            p { (sheet.stored(&parts[0])) (sheet.words.page.colon) (sheet.stored(&parts[1])) }
        }
        @if rooms.is_empty() { p { (words.room_none) } } @else {
            ul { @for room in rooms.iter().take(ROOMS_MAX) { li { (with_nonbreaking_units(&room.said)) } } }
            // The limit of a target that reached it is known.
            @if record.hosts.is_empty() && record.verdict.blame != Blame::Target { p.aside { (words.room_target) } }
        }
        @for next in &record.next { p { (words.try_next) (sheet.words.page.colon) (sheet.stored(next)) } }
    }
}

/// Plateaus, or the phases if there are only a few.
fn stretches(sheet: &PageContext) -> Markup {
    let record: &RunRecord = sheet.record();
    let few = (2..=PHASES_MAX).contains(&record.phases.len());
    html! {
        @if !record.held.is_empty() {
            h3 { (sheet.words.front.plateau) }
            (plateaus(sheet, false))
        } @else if few && record.requests.offered > 0 {
            h3 { (sheet.words.front.phases) }
            (phases(sheet, &(sheet.words.page.in_short)(sheet.words.front.phases)))
        }
    }
}

/// The run in one picture: connections if they were held, otherwise rates. The section of the chart
/// has its numbers.
fn picture(sheet: &PageContext) -> Markup {
    let Some(course) = sheet.source.course.filter(|course| course.columns.len() > 1) else { return html! {} };
    let svg = match is_holding(sheet.record()) {
        true => open_connection_lines(sheet, course, "summary-held").draw(),
        false if course.counters.offered > 0 => {
            let lines = rate_lines(sheet, course, "summary-rate");
            LineChart { frame: lines.frame.high(PICTURE_HEIGHT), ..lines }.draw()
        }
        false => return html! {},
    };
    html! { (PreEscaped(svg)) }
}

fn notes(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), &sheet.words.front);
    let reported = record.rehearsal.as_ref();
    let notes: Vec<_> = record.notes.iter().filter(|note| reported != Some(note)).collect();
    // Findings that did not decide the bottleneck are shown even if the run passed.
    let passed = record.verdict.status == Status::Pass;
    let found = record.findings.iter().filter(|finding| passed && !matters(record, finding));
    let found: Vec<_> = found.collect();
    html! {
        @if !notes.is_empty() || !found.is_empty() {
            h3 { (words.notes) }
            ul {
                @for found in found.iter().take(FINDINGS_MAX) {
                    li.sentence[is_sentence(&found.message)] { (sheet.stored(&found.message)) }
                    @let checks = failed_checks(sheet, found);
                    @if !checks.0.is_empty() { li { (checks) } }
                }
                @if found.len() > FINDINGS_MAX {
                    li { ((words.more_found)(&(found.len() - FINDINGS_MAX).to_string())) }
                }
                @for note in notes.iter().take(NOTES_MAX) { li.sentence[is_sentence(note)] { (sheet.stored(note)) } }
                @if notes.len() > NOTES_MAX {
                    li { ((words.more_below)(&(notes.len() - NOTES_MAX).to_string())) }
                }
            }
        }
    }
}

fn repeat(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), &sheet.words.facts);
    html! {
        // The command of a killed run may be lost with its environment.
        @if !record.command.is_empty() {
            pre.command tabindex="0" role="region" aria-label=(words.command) { (command_line(&record.command)) }
        }
        p.aside {
            (words.seed) " " code { (record.seed) }
            @if !record.plan_hash.is_empty() { " · " (words.plan_hash) " " code.hash { (isolate_untrusted(&record.plan_hash)) } }
            @if !record.version.is_empty() { " · " (words.version) " " (isolate_untrusted(&record.version)) }
        }
    }
}
