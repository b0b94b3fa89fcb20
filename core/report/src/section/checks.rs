//! Checks of responses, by their names.

use std::collections::{HashMap, HashSet};

use wavetank_record::RunRecord;
use wavetank_units::quantity::format_grouped;

use super::model::Section;
use super::page_text::PageText::{Absent, Own, Shared};
use super::table::{Column, Table};
use super::value::{Sign, Value};
use crate::format::{count_with_share, cut};

/// Most checks that a terminal lists by name if all responses passed them.
const HELD_MAX: usize = 10;

/// One check by its name, over all steps that have it.
pub(crate) struct NamedCheck {
    pub(crate) name: String,
    pub(crate) steps: Vec<String>,
    pub(crate) held: u64,
    pub(crate) failed: u64,
}

impl NamedCheck {
    /// Responses that were checked.
    const fn answers(&self) -> u64 {
        self.held + self.failed
    }

    /// Bad if a response failed it, in doubt if it never ran.
    const fn sign(&self) -> Sign {
        match (self.failed, self.held) {
            (1.., _) => Sign::Bad,
            (0, 0) => Sign::Doubt,
            (0, _) => Sign::Good,
        }
    }
}

type Col = Column<NamedCheck>;

const COLUMNS: [Col; 6] = [
    Col::text("check", Shared(|w| w.columns.name), |check| Value::Name(check.name.clone())),
    Col::text("", Shared(|w| w.columns.result), |check| match check.sign() {
        Sign::Bad => Value::Marked(Sign::Bad, "fail", Own(["failed", "未通过"])),
        Sign::Doubt => Value::Marked(Sign::Doubt, "not run", Own(["not run", "未执行"])),
        Sign::Good => Value::Marked(Sign::Good, "pass", Shared(|w| w.marks.held)),
    }),
    Col::text("step", Shared(|w| w.columns.step), |check| Value::Name(check.steps.join(", "))),
    Col::number("passed", Absent, |check| Value::Count(check.held)),
    Col::number("", Own(["Answers", "应答数"]), |check| Value::Count(check.answers())),
    Col::number("failed", Shared(|w| w.counts.failed), |check| match check.failed {
        0 => Value::Count(0),
        failed => Value::Number(count_with_share(failed, check.answers())),
    }),
];

/// The checks of a run.
pub(crate) fn checks(record: &RunRecord) -> Section {
    let ordered = checks_by_result(record);
    let section = Section::of_table("Checks", Table::new("checks", &COLUMNS, &ordered));
    Section { label: "checks", terminal_entries: entries(&ordered), ..section }
}

/// Checks on a terminal: failed ones, those that never ran, and some that passed.
fn entries(ordered: &[NamedCheck]) -> Vec<(&'static str, String)> {
    let held = ordered.iter().filter(|check| check.sign() == Sign::Good).count();
    let shown = ordered.len() - held.saturating_sub(HELD_MAX);
    let entry = |check: &NamedCheck| {
        let answers = format_grouped(check.answers());
        let failed = || count_with_share(check.failed, check.answers());
        let (word, said) = match check.sign() {
            Sign::Bad => ("fail", format!("{} of {answers} answers", failed())),
            Sign::Doubt => ("not run", "no answer arrived".to_owned()),
            Sign::Good => ("pass", format!("{answers} answers")),
        };
        let step = match &check.steps[..] {
            [] => String::new(),
            [step] => cut(step).into_owned(),
            steps => format!("{} steps", steps.len()),
        };
        (word, format!("{}: {said} · {step}", cut(&check.name)))
    };
    let more = ordered.len() - shown;
    let rest = (more > 0).then(|| ("pass", format!("and {more} more")));
    ordered[..shown].iter().map(entry).chain(rest).collect()
}

/// Returns the record's checks by name: failed ones, then those that never ran, then those that
/// passed.
fn checks_by_result(record: &RunRecord) -> Vec<NamedCheck> {
    let mut named = checks_by_name(record);
    named.sort_by_key(|check| match check.sign() {
        Sign::Bad => 0,
        Sign::Doubt => 1,
        Sign::Good => 2,
    });
    named
}

/// Returns the record's checks by name, in the order of the first appearance of each name.
pub(crate) fn checks_by_name(record: &RunRecord) -> Vec<NamedCheck> {
    let mut named: Vec<NamedCheck> = Vec::new();
    // A plan may have thousands of steps, each with its own checks.
    let (mut places, mut seen) = (HashMap::new(), HashSet::new());
    for check in &record.checks {
        let at = *places.entry(&check.name).or_insert_with(|| {
            named.push(NamedCheck { name: check.name.clone(), steps: Vec::new(), held: 0, failed: 0 });
            named.len() - 1
        });
        let known = &mut named[at];
        known.held += check.held;
        known.failed += check.failed;
        if seen.insert((at, &check.step)) {
            known.steps.push(check.step.clone());
        }
    }
    named
}
