//! Every code that a user can see is explained, and nothing else is.

use std::collections::BTreeSet;

use wavetank_diagnose::{FindingCode, ReasonCode};
use wavetank_measure::{DropReason, ErrorClass};
use wavetank_netbench::NetFindingCode;
use wavetank_record::{Blame, EventKind, Status};
use wavetank_report::{
    CodeGroup, Explanation, codes_page, explain, explain_doc, explain_list, explain_text, explanations,
};
use wavetank_tuning::Verdict;
use wavetank_units::{Code, ExitCode};

/// Groups of errors.
const OF_ERRORS: [CodeGroup; 6] = [
    CodeGroup::Typed,
    CodeGroup::Refused,
    CodeGroup::Stored,
    CodeGroup::Written,
    CodeGroup::Meant,
    CodeGroup::Data,
];

/// The repository's root.
fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn of(group: CodeGroup) -> BTreeSet<&'static str> {
    explanations().into_iter().filter(|one| one.group == group).map(|one| one.code).collect()
}

#[test]
fn every_code_is_explained_and_nothing_else() {
    let errors: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(errors, OF_ERRORS.into_iter().flat_map(of).collect(), "core/report/src/explain/words");
    let of_runs = FindingCode::ALL.iter().map(|code| code.as_str());
    let of_networks = NetFindingCode::ALL.iter().map(|code| code.as_str());
    let of_settings = Verdict::ALL.iter().map(|verdict| verdict.code());
    assert_eq!(of(CodeGroup::Findings), of_runs.chain(of_networks).chain(of_settings).collect());
    assert_eq!(of(CodeGroup::Reasons), ReasonCode::ALL.iter().map(|code| code.as_str()).collect());
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
    let errors = explanations().into_iter().filter(|one| OF_ERRORS.contains(&one.group)).count();
    assert_eq!(errors, Code::ALL.len());
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
        assert_eq!((error.code.as_str(), error.exit), ("code_unknown", ExitCode::Usage));
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
