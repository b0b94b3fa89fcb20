//! [`forecast_text`]: the text that `wavetank plan` prints.

use wavetank_record::{ForecastDoc, Number, OutlookDoc, PhaseForecastDoc, TimelineDoc};
use wavetank_units::quantity::{format_grouped, show_rate, show_request_rate, show_size};

use super::chart::{LABEL, axis_line, chart};
use super::format::{amount, clock, counted, list};
use super::holding::holding;
use super::phase_axis::ruler;
use crate::calibration::calibrated_load_lines;
use crate::text_layout::{TextLayout, width};

/// Fewer columns than these make no chart.
const COLUMNS_MIN: usize = 40;
/// Most phases that are shown one by one.
const PHASES_SHOWN: usize = 40;

/// Most steps that are shown one by one.
const STEPS_SHOWN: usize = 20;
/// Columns that the name of a step takes.
const STEP_NAME_MAX: usize = 30;
/// Columns that the name of a phase takes.
const NAME_MAX: usize = 24;

/// The forecast as text of at most `columns` columns (40 at the least), ending in a newline.
pub fn forecast_text(doc: &ForecastDoc, columns: usize) -> String {
    let columns = columns.max(COLUMNS_MIN);
    let mut page = TextLayout::with_width(columns);
    page.head(&doc.name, &doc.targets.join(", "), &[]);
    page.line("");
    page.sentence("plan", &doc.summary.join(" "));
    charts(&mut page, doc, columns);
    page.line("");
    let names = doc.phases.iter().take(PHASES_SHOWN).map(|phase| width(&phase.name)).max().unwrap_or(0);
    for (at, phase) in doc.phases.iter().take(PHASES_SHOWN).enumerate() {
        let label = if at == 0 { "phases" } else { "" };
        page.column_entry(label, &phase.name, names.min(NAME_MAX), &phase_parts(phase));
    }
    if let Some(more) = doc.phases.len().checked_sub(PHASES_SHOWN + 1) {
        page.sentence("", &format!("and {} more phases: --format json has them all", more + 1));
    }
    steps(&mut page, doc);
    page.line("");
    needs(&mut page, doc);
    if let Some(doc) = &doc.holding {
        holding(&mut page, doc);
    }
    for (label, sentence) in doc.calibration.iter().flat_map(calibrated_load_lines) {
        page.sentence(label, &sentence);
    }
    conditions(&mut page, doc);
    doc.notes.iter().for_each(|note| page.sentence("note", note));
    page.line("");
    let said = |given: bool| -> Vec<String> {
        let own = doc.settings.iter().filter(|setting| setting.given == given);
        own.map(|setting| format!("{} {}", setting.name, setting.value)).collect()
    };
    page.parts("given", &said(true));
    page.parts("defaults", &said(false));
    let constants: Vec<String> =
        doc.constants.iter().map(|(name, value)| format!("{name} {value}")).collect();
    page.parts("constants", &constants);
    page.into_text()
}

fn charts(page: &mut TextLayout, doc: &ForecastDoc, columns: usize) {
    let TimelineDoc { sessions_per_s, users, held, from_s, every_s, .. } = &doc.timeline;
    let level = |counts: &[u64]| counts.iter().map(|count| *count as f64).collect::<Vec<_>>();
    let whole = |value: f64| format_grouped(value.round() as u64);
    let rates: Vec<f64> = sessions_per_s.iter().map(|rate| rate.0).collect();
    let (users, held) = (level(users), level(held));
    let mut points = 0;
    let mut show = |title: &str, values: &[f64], shown: &dyn Fn(f64) -> String| {
        if values.is_empty() {
            return;
        }
        points = values.len();
        page.line("");
        for line in chart(title, values, columns, shown) {
            page.line(&line);
        }
    };
    show("sessions that arrive", &rates, &show_rate);
    show("users", &users, &whole);
    show("connections held", &held, &whole);
    if points > 0 {
        let last =
            doc.phases.iter().filter_map(|phase| phase.end_s).map(|end| end.0).fold(from_s.0, f64::max);
        let until = Number(last.min(from_s.0 + every_s.0 * points as f64));
        for line in ruler(&doc.phases, *from_s, until, columns - LABEL - 2) {
            page.line(&axis_line("", &line, columns));
        }
    }
}

/// Shows what each step sends, if there is more than one step.
fn steps(page: &mut TextLayout, doc: &ForecastDoc) {
    let all: Vec<_> =
        doc.scenarios.iter().flat_map(|one| one.steps.iter().map(move |step| (one, step))).collect();
    if all.is_empty() {
        return;
    }
    page.line("");
    let name = |scenario: &str, step: &str| {
        if scenario.is_empty() { step.to_owned() } else { format!("{scenario} {step}") }
    };
    let names: Vec<String> =
        all.iter().take(STEPS_SHOWN).map(|(one, step)| name(&one.name, &step.name)).collect();
    let columns = names.iter().map(|name| width(name)).max().unwrap_or(0).min(STEP_NAME_MAX);
    for (at, ((one, step), name)) in all.iter().zip(&names).enumerate() {
        let requests = counted(&step.requests, "request", "requests");
        let bytes = match step.request_bytes {
            Some(bytes) => format!("{} each", show_size(bytes)),
            None => "sizes differ".to_owned(),
        };
        let connection = match one.connection.as_str() {
            "user" => "on the user's connection",
            "session" => "on the session's connection",
            "request" => "each on its own connection",
            _ => "on shared connections",
        };
        let label = if at == 0 { "steps" } else { "" };
        page.column_entry(label, name, columns, &[requests, bytes, connection.to_owned()]);
    }
    if let Some(more) = all.len().checked_sub(STEPS_SHOWN + 1) {
        page.sentence("", &format!("and {} more steps: --format json has them all", more + 1));
    }
}

/// Needed, available and missing resources.
fn needs(page: &mut TextLayout, doc: &ForecastDoc) {
    let columns = doc.needs.iter().map(|need| width(need.what)).max().unwrap_or(0);
    for (at, need) in doc.needs.iter().enumerate() {
        let shown = |value: u64| if need.unit == "bytes" { show_size(value) } else { format_grouped(value) };
        let available = need.available.map_or_else(|| "any number".to_owned(), shown);
        let short = need.available.is_some_and(|available| available < need.needed);
        // The maximum that sessions may need is not a lack: above it arrivals are dropped.
        let lacks = match need.what {
            _ if !short => "",
            "threads" => "",
            "memory" if !doc.lacking.is_empty() => "TOO LITTLE: ",
            _ if !doc.lacking.is_empty() => "TOO FEW: ",
            _ => "PERHAPS TOO FEW: ",
        };
        let parts =
            [format!("{lacks}up to {}, this host has {available}", shown(need.needed)), need.why.clone()];
        page.column_entry(if at == 0 { "needs" } else { "" }, &need.what.replace('_', " "), columns, &parts);
    }
    for lack in &doc.lacking {
        page.sentence("missing", &lack.message);
        page.sentence("", &format!("hint: {}", lack.hint));
    }
}

/// Known objections to thresholds; those without any are on one line.
fn conditions(page: &mut TextLayout, doc: &ForecastDoc) {
    let mut reported: Vec<&OutlookDoc> = Vec::new();
    for condition in doc.conditions.iter().filter(|one| one.outlook != "open") {
        let alike = |other: &OutlookDoc| {
            (&other.kind, &other.outlook, &other.why) == (&condition.kind, &condition.outlook, &condition.why)
        };
        if reported.iter().any(|other| alike(other)) {
            continue;
        }
        reported.push(condition);
        let word = match condition.outlook.as_str() {
            "unreachable" => "cannot be reached",
            "undecided" => "will stay undecided",
            _ => "may stay undecided",
        };
        let all: Vec<String> =
            doc.conditions.iter().filter(|one| alike(one)).map(|one| format!("`{}`", one.expr)).collect();
        page.sentence(&condition.kind, &format!("{} {word}: {}", list(&all), condition.why));
        if !condition.hint.is_empty() {
            page.sentence("", &format!("hint: {}", condition.hint));
        }
    }
    for kind in ["threshold", "stop", "implicit"] {
        let open = doc.conditions.iter().filter(|one| one.kind == kind && one.outlook == "open");
        page.parts(kind, &open.map(|one| one.expr.clone()).collect::<Vec<_>>());
    }
}

/// `0s to 10m00s`, load, sessions, requests, connections.
fn phase_parts(phase: &PhaseForecastDoc) -> Vec<String> {
    let end = phase.end_s.map_or_else(|| "its last session".to_owned(), clock);
    let mut parts = vec![format!("{} to {end}", clock(phase.start_s)), phase.load.clone()];
    if phase.warmup {
        parts.push("warm-up, not judged".to_owned());
    }
    if phase.kind == "pause" {
        return parts;
    }
    parts.push(counted(&phase.sessions, "session", "sessions"));
    parts.extend(phase.cap.as_ref().filter(|cap| cap.reached != "no").map(|cap| {
        let perhaps = if cap.reached == "perhaps" { "perhaps " } else { "" };
        format!("{perhaps}ended by {} sessions", format_grouped(cap.sessions))
    }));
    if phase.requests != phase.sessions && (phase.requests_per_s_max.is_some() || phase.requests.is_exact()) {
        parts.push(counted(&phase.requests, "request", "requests"));
    }
    parts.push(match (phase.requests_per_s_max, phase.sessions_per_s_max) {
        (Some(rate), Some(_)) => format!("up to {}", show_request_rate(rate.0)),
        (Some(rate), None) if rate.0 > 0.0 => {
            format!("at most {} if answers took no time", show_request_rate(rate.0))
        }
        (Some(_), None) => "no requests".to_owned(),
        (None, _) => "as many requests as answers allow".to_owned(),
    });
    parts.extend(connections(phase));
    if phase.sessions_per_s_max.is_some() {
        parts.push(format!("max_open {} ({})", format_grouped(phase.max_open), phase.max_open_why));
    }
    parts
}

fn connections(phase: &PhaseForecastDoc) -> Vec<String> {
    let mut parts = Vec::new();
    if phase.opened_ahead > 0 {
        parts.push(format!(
            "{} connections are opened during the {} before it",
            format_grouped(phase.opened_ahead),
            clock(phase.opened_ahead_s)
        ));
    } else if let Some(rate) = phase.connections_per_s_max.filter(|rate| rate.0 > 0.0) {
        parts.push(format!("up to {} new connections", show_rate(rate.0)));
    }
    if phase.connections.most != Some(0)
        && !(phase.connections.is_exact() && phase.connections.least == phase.opened_ahead)
    {
        parts.push(format!("{} connections opened", amount(&phase.connections)));
    }
    parts
}
