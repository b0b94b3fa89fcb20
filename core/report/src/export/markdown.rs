//! [`markdown`]: a run as a summary for a pull request or a wiki.

use wavetank_record::{Finding, RunRecord};
use wavetank_units::quantity::format_grouped;
use wavetank_units::status_text;

use super::markdown_text::{block, code, left_out, name, sentence, table};
use crate::cut_short::cut_short_text;
use crate::explain_command::{more_about_errors, more_about_findings};
use crate::format;
use crate::lag_part::{has_lag_part, lag_part};
use crate::limits;
use crate::section::{
    Section, checks, counts, fleet, held, hooks, hosts, impacts, markdown as in_markdown, phases, rendezvous,
    requests, scenarios, servers, sessions, steps, thresholds, times,
};

/// Most rows of one table; the number of rows left out is shown.
const ROWS_MAX: usize = 50;

/// The run as GitHub-flavoured Markdown: verdict and reasons, numbers, thresholds, findings, steps,
/// and how to repeat it. Text from outside is escaped, so that it cannot become markup, a link, an
/// image or a mention.
pub fn markdown(record: &RunRecord) -> String {
    let mut page = Parts(String::new());
    page.part("", &head(record));
    page.section(&requests(record));
    page.section(&sessions(record));
    page.section(&times(record));
    page.section(&held(record));
    for section in
        [thresholds(record), checks(record), counts(record), rendezvous(record)].iter().chain(&hooks(record))
    {
        page.section(section);
    }
    page.section(&impacts(record));
    page.part(
        "Headroom",
        &limits::headroom(record).map(|parts| sentence(&parts.join(": ")) + "\n").unwrap_or_default(),
    );
    page.part("Findings", &findings(record));
    record.fleet.iter().for_each(|agents| page.section(&fleet(agents)));
    for section in [hosts(record, false), servers(record), phases(record), scenarios(record), steps(record)] {
        page.section(&section);
    }
    page.part("Errors and statuses", &kinds(record));
    page.part("Notes", &list(&record.notes));
    page.part("How to repeat it", &repeat(record));
    page.0
}

struct Parts(String);

impl Parts {
    fn section(&mut self, section: &Section) {
        self.part(section.heading, &in_markdown(section));
    }

    /// Adds a part under its heading; nothing if the part is empty.
    fn part(&mut self, heading: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        if !heading.is_empty() {
            add(&mut self.0, &format!("\n### {heading}\n\n"));
        }
        self.0.push_str(text);
    }
}

/// Verdict, bottleneck, reasons, and which run it is.
fn head(record: &RunRecord) -> String {
    let verdict = &record.verdict;
    let word = format::verdict_name(record);
    let headline = sentence(&format::headline(record));
    let colon = if headline.is_empty() { "" } else { ": " };
    let mut text = format!("## {word}{colon}{headline}\n\n");
    if let Some(rehearsal) = &record.rehearsal {
        add(&mut text, &format!("**Rehearsal:** {}\n\n", sentence(rehearsal)));
    }
    let limit = match verdict.blame.name() {
        "none" if has_lag_part(record) => "the bottleneck is not determined".to_owned(),
        "none" => "no limit was reached".to_owned(),
        "unknown" => "the bottleneck is unknown".to_owned(),
        blame => format!("bottleneck: **{blame}**"),
    };
    add(&mut text, &format!("{}; {limit}.\n", name(&record.name)));
    for (field, name) in [("p50", "p50"), ("p99", "p99")] {
        let Some(lag) = lag_part(record, field) else { continue };
        add(
            &mut text,
            &format!("{} of the response time's {name} is the load generator's.\n", format::time(lag)),
        );
    }
    for reason in verdict.reasons.iter().take(ROWS_MAX) {
        add(&mut text, &format!("\n- reason: {}", code(reason)));
    }
    if !verdict.reasons.is_empty() {
        text.push('\n');
    }
    let about = [
        ("Target", code(&record.target)),
        ("Load", sentence(&record.load.text)),
        ("Measured", format::seconds(record.duration_s)),
        ("Ended", sentence(&cut_short_text(record).unwrap_or_default())),
        ("Started", code(&record.started_at)),
        ("Run", code(&record.id)),
    ];
    let rows = about.into_iter().filter(|(_, said)| !said.is_empty());
    let rows: Vec<_> = rows.map(|(what, said)| vec![what.to_owned(), said]).collect();
    format!("{text}\n{}", table(&["", ""], 0, &rows))
}

fn findings(record: &RunRecord) -> String {
    let one = |finding: &Finding| {
        let decisive = if finding.decisive { ", decisive" } else { "" };
        let mut line = format!("- **{}**{decisive} ({}): ", finding.blame.name(), code(&finding.code));
        line.push_str(&sentence(&finding.message));
        if !finding.evidence.is_empty() {
            add(&mut line, &format!("; {}", sentence(&finding.evidence)));
        }
        if !finding.hint.is_empty() {
            add(&mut line, &format!("\n  Hint: {}", sentence(&finding.hint)));
        }
        for fix in &finding.fix {
            add(&mut line, &format!("\n  Fix: {}", code(&fix.text)));
        }
        line + "\n"
    };
    let reported: String = record.findings.iter().map(one).collect();
    reported + &more(more_about_findings(record))
}

/// Names the command that explains the text above, if there is one.
fn more(command: Option<String>) -> String {
    command.map(|command| format!("\nMore about these: {}\n", code(&command))).unwrap_or_default()
}

/// Errors, drops and answers by kind.
fn kinds(record: &RunRecord) -> String {
    let rows = |what: &str, name: &str, n: u64| vec![what.to_owned(), code(name), format_grouped(n)];
    let errors = record.errors.iter().filter(|(_, n)| **n > 0).map(|(name, &n)| rows("failed", name, n));
    let dropped =
        record.dropped_by.iter().filter(|(_, n)| **n > 0).map(|(name, &n)| rows("dropped", name, n));
    let sessions = record.sessions_dropped_by.iter().filter(|(_, n)| **n > 0);
    let sessions = sessions.map(|(name, &n)| rows("session dropped", name, n));
    let answers = record.status.iter().map(|(status, &n)| rows("answered", &status_text(*status), n));
    let rows: Vec<_> = errors.chain(dropped).chain(sessions).chain(answers).collect();
    let shown = rows.len().min(ROWS_MAX);
    cut(table(&["", "kind", "count"], 1, &rows[..shown]), rows.len()) + &more(more_about_errors(record))
}

/// Returns `table` with the number of rows left out of `all`, if any.
fn cut(table: String, all: usize) -> String {
    left_out(table, all.saturating_sub(ROWS_MAX))
}

fn list(sentences: &[impl AsRef<str>]) -> String {
    let lines: Vec<_> = sentences.iter().map(|one| format!("- {}\n", sentence(one.as_ref()))).collect();
    lines.concat()
}

fn repeat(record: &RunRecord) -> String {
    if record.command.is_empty() {
        return String::new();
    }
    let mut parts = vec![format!("seed {}", record.seed)];
    let hash = code(record.plan_hash.get(..12).unwrap_or(&record.plan_hash));
    let known = [("plan", hash), ("wavetank", code(&record.version))];
    let known = known.into_iter().filter(|(_, said)| !said.is_empty());
    parts.extend(known.map(|(what, said)| format!("{what} {said}")));
    format!("{}\nWith {}.\n", block(&record.command), parts.join(", "))
}

fn add(text: &mut String, more: &str) {
    text.push_str(more);
}
