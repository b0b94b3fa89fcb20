//! Every code that a user can see is explained, and nothing else is.
//!
//! Codes are string literals, so this test searches the sources. Each call that makes an error, a
//! remark, a finding or a reason of a verdict is followed by its code. Files with codes in
//! variables are listed here, and every string in them that looks like a code is taken for one.

use std::collections::{BTreeMap, BTreeSet};

use crate::support;

use support::sources::{of_the_program, root};
use wavetank_measure::{DropReason, ErrorClass};
use wavetank_record::{Blame, EventKind, Status};
use wavetank_report::{
    CodeGroup, Explanation, codes_page, explain, explain_doc, explain_list, explain_text, explanations,
};
use wavetank_units::ExitCode;

/// The code follows one of these.
const MAKERS: [&str; 17] = [
    "UserError::usage(",
    "UserError::refused(",
    "Diagnostic::error(",
    "Diagnostic::warning(",
    "Diagnostic::note(",
    "Diagnostic::without_span(",
    "DataNote::new(",
    ".fail(",
    ".fail::<()>(",
    ".report_rule(",
    " refused(",
    " unknown(",
    "(unknown(",
    "named(",
    "finding(",
    "around(",
    "code: ",
];

/// Files with codes in variables. In them, quoted strings with a `_` are codes.
const BY_VARIABLE: [&str; 7] = [
    "core/grammar/src/yaml/errors.rs",
    "core/units/src/quantity/link.rs",
    "core/units/src/quantity/size.rs",
    "core/plan/src/thresholds.rs",
    "core/diagnose/src/drift.rs",
    "core/tuning/src/verdict.rs",
    "io/target/src/server.rs",
];

/// Files that pass on the code of another file.
const PASSED_ON: [&str; 14] = [
    "core/experiment/src/input.rs",
    "io/runner/src/planned_lab.rs",
    "bin/wavetank/src/experiment/experiment_file.rs",
    "bin/wavetank/src/experiment/diagnostics_output.rs",
    "core/experiment/src/overrides/http.rs",
    "core/experiment/src/lower/error.rs",
    "core/experiment/src/parse/phase.rs",
    "core/experiment/src/validate/messages.rs",
    "core/diagnose/src/compose.rs",
    "core/grammar/src/diagnostic.rs",
    "core/grammar/src/tree_reader.rs",
    "core/report/src/explain/page.rs",
    "core/topology/src/resolve/draft.rs",
    "io/lab/src/response.rs",
];

/// Strings after a maker that are not codes: names of what is missing, as the message shows them.
const NO_CODES: [&str; 5] = ["cipher", "column", "count", "phase", "step"];

/// Groups with codes that are strings in the sources, and not names of an enumeration.
const SEARCHED: [CodeGroup; 8] = [
    CodeGroup::Reasons,
    CodeGroup::Findings,
    CodeGroup::Typed,
    CodeGroup::Refused,
    CodeGroup::Stored,
    CodeGroup::Written,
    CodeGroup::Meant,
    CodeGroup::Data,
];

/// Returns the quoted string at the start of `text`, if it can be a code.
fn word(text: &str) -> Option<&str> {
    let word = text.trim_start().strip_prefix('"')?.split('"').next()?;
    let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    (!word.is_empty() && word.chars().all(plain)).then_some(word)
}

/// Returns every code that the sources can show, and the places with a code that this test cannot
/// determine.
fn reported() -> (BTreeMap<String, String>, Vec<String>) {
    let (mut codes, mut strange) = (BTreeMap::new(), Vec::new());
    for (path, text) in of_the_program() {
        let names = ["UserError", "Diagnostic", "Finding", "DataNote", "Reader"];
        let of_files = ["core/experiment/", "core/grammar/"].iter().any(|room| path.starts_with(room));
        if !of_files && !names.iter().any(|name| text.contains(name)) {
            continue;
        }
        for maker in MAKERS {
            for after in text.split(maker).skip(1) {
                match word(after) {
                    Some(code) if !NO_CODES.contains(&code) => {
                        codes.insert(code.to_owned(), path.clone());
                    }
                    None if maker.contains("::") && !known_way(&path, &text, after, &mut codes) => {
                        strange
                            .push(format!("{path}: {maker}{}", after.chars().take(40).collect::<String>()));
                    }
                    _ => {}
                }
            }
        }
        if BY_VARIABLE.contains(&path.as_str()) {
            let quoted = text.match_indices('"').filter_map(|(at, _)| word(&text[at..]));
            codes
                .extend(quoted.filter(|word| word.contains('_')).map(|word| (word.to_owned(), path.clone())));
        }
        // Reasons of a verdict that no finding has.
        for after in text.split("cause(Status::").skip(1) {
            let of = after.split_once(", ").and_then(|(_, rest)| word(rest));
            codes.extend(of.map(|code| (code.to_owned(), path.clone())));
        }
        if path.starts_with("core/diagnose") {
            let reasons = text.split("reason: ").skip(1).filter_map(word);
            codes.extend(reasons.map(|code| (code.to_owned(), path.clone())));
        }
    }
    (codes, strange)
}

/// Whether a code that is not a string here comes from a constant of the file, or from a place this
/// test knows.
fn known_way(path: &str, text: &str, after: &str, codes: &mut BTreeMap<String, String>) -> bool {
    let name = after.trim_start().split([',', ')']).next().unwrap_or_default();
    if name.len() > 2 && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_') {
        let value = text.split(&format!("const {name}: &str = ")).nth(1).and_then(word);
        codes.extend(value.map(|code| (code.to_owned(), path.to_owned())));
        return value.is_some();
    }
    BY_VARIABLE.contains(&path) || PASSED_ON.contains(&path) || path.ends_with("plan/src/error.rs")
}

fn of(group: CodeGroup) -> BTreeSet<&'static str> {
    explanations().into_iter().filter(|one| one.group == group).map(|one| one.code).collect()
}

#[test]
fn every_code_is_explained_and_nothing_else() {
    let (told, strange) = reported();
    assert!(strange.is_empty(), "made in a way that this test does not know: {strange:#?}");
    assert!(told.len() > 200, "the search found only {}", told.len());
    let explained: BTreeSet<&str> = SEARCHED.into_iter().flat_map(of).collect();
    let missing: Vec<_> = told.iter().filter(|(code, _)| !explained.contains(code.as_str())).collect();
    assert!(missing.is_empty(), "not explained (core/report/src/explain/words): {missing:#?}");
    let gone: Vec<_> = explained.iter().filter(|code| !told.contains_key(**code)).collect();
    assert!(gone.is_empty(), "explained, but used nowhere: {gone:?}");
}

#[test]
fn names_of_enumerations_are_explained() {
    assert_eq!(of(CodeGroup::Classes), ErrorClass::ALL.map(ErrorClass::name).into());
    assert_eq!(of(CodeGroup::Drops), DropReason::ALL.map(DropReason::name).into());
    assert_eq!(of(CodeGroup::Events), EventKind::ALL.iter().map(|kind| kind.name()).collect());
    let exits = [
        ExitCode::Pass,
        ExitCode::Fail,
        ExitCode::Usage,
        ExitCode::Invalid,
        ExitCode::Incomplete,
        ExitCode::Refused,
        ExitCode::Signal,
    ];
    let exits: Vec<String> = exits.into_iter().map(|exit| (exit as u8).to_string()).collect();
    assert_eq!(of(CodeGroup::Exits), exits.iter().map(String::as_str).collect());
    for status in [Status::Pass, Status::Fail, Status::Invalid, Status::Incomplete] {
        assert_eq!(found(status.name())[0].group, CodeGroup::Exits, "{status:?}");
    }
    let blames =
        [Blame::None, Blame::Generator, Blame::Network, Blame::Balancer, Blame::Target, Blame::Unknown];
    for blame in blames {
        assert!(!found(blame.name()).is_empty());
    }
}

#[test]
fn explanations_are_whole() {
    let mut seen = BTreeSet::new();
    for one in explanations() {
        let Explanation { group, code, means, why, act, see, .. } = one;
        assert!(seen.insert((group.name(), code)), "{code} appears twice in {}", group.name());
        assert!(means.len() > 14, "{code}: {means:?}");
        assert!(means.ends_with('.'), "{code}: a sentence ends in a period: {means}");
        assert!(
            !why.ends_with('.') && !act.ends_with('.'),
            "{code}: causes and actions have no period at the end"
        );
        assert!(root().join(see).is_file(), "{code}: there is no {see}");
        assert!(
            see.starts_with("docs/lab") || !code.starts_with("lab_"),
            "{code}: {see} says nothing of labs"
        );
    }
    for group in CodeGroup::ALL {
        assert!(of(group).len() > 3, "{}", group.title());
    }
    // No code is an error in two groups, because readers would not know which one applies.
    let errors = explanations().into_iter().filter(|one| SEARCHED[2..].contains(&one.group)).count();
    assert_eq!(errors, SEARCHED[2..].iter().flat_map(|group| of(*group)).collect::<BTreeSet<_>>().len());
}

fn found(word: &str) -> Vec<Explanation> {
    explain(word).unwrap_or_else(|error| panic!("{word}: {error}"))
}

#[test]
fn codes_are_found_as_people_type_them() {
    for (typed, code, group) in [
        ("late", "late", CodeGroup::Findings),
        ("Late", "late", CodeGroup::Words),
        ("[unit_missing]", "unit_missing", CodeGroup::Typed),
        ("connect-refused", "connect_refused", CodeGroup::Classes),
        ("exit 3", "3", CodeGroup::Exits),
        ("INVALID", "3", CodeGroup::Exits),
        ("130", "130", CodeGroup::Exits),
        ("service time", "service", CodeGroup::Words),
        ("p99", "p99", CodeGroup::Words),
        ("p99.9", "p99", CodeGroup::Words),
        ("no_files", "no_files", CodeGroup::Drops),
        ("no_files", "no_files", CodeGroup::Refused),
    ] {
        let found = found(typed);
        assert!(found.iter().any(|one| one.code == code && one.group == group), "{typed}: {found:#?}");
    }
    for (typed, near) in [("latte", "late"), ("conect_refused", "connect_refused"), ("invlaid", "invalid")] {
        let error = explain(typed).expect_err(typed);
        assert_eq!((error.code, error.exit), ("code_unknown", ExitCode::Usage));
        assert!(error.hint.starts_with(&format!("did you mean {near}?")), "{typed}: {error}");
    }
    let strange = explain("zzzzzzzzzzzz").expect_err("is none");
    assert!(strange.hint.contains("wavetank explain"), "{strange}");
}

#[test]
fn text_is_short_and_the_list_is_complete() {
    let text = explain_text(&found("late"));
    assert!(text.starts_with("late: a finding\nmeans "), "{text}");
    assert!(text.contains("\ndo   ") && text.contains("\nsee        docs/calibrate.md\n"), "{text}");
    let list = explain_list();
    for one in explanations() {
        assert!(explain_text(&[one]).lines().all(|line| line.chars().count() <= 100), "{}", one.code);
        assert!(list.split_whitespace().any(|word| word.split('/').next() == Some(one.code)), "{}", one.code);
    }
    let doc = explain_doc(&found("no_files"));
    assert_eq!((doc.schema.as_str(), doc.codes.len()), ("wavetank.explain/1", 3));
    assert!(doc.to_json().contains("\"do\":"), "{}", doc.to_json());
}

#[test]
fn page_is_as_checked_in() {
    let path = root().join("docs/codes.md");
    if std::env::var_os("WAVETANK_GOLDEN").is_some_and(|value| value == "update") {
        std::fs::write(&path, codes_page()).expect("the page can be written");
    }
    let page = std::fs::read_to_string(&path).expect("docs/codes.md is there");
    assert_eq!(page, codes_page(), "docs/codes.md differs; to accept the change: WAVETANK_GOLDEN=update");
}
