//! Rule on identifiers: terms of the project's former dialect.
//!
//! Uses that are left from earlier are counted over the whole tree, and the count may only fall:
//! `xtask/prose-counts.txt` records it as `identifier`.

use anyhow::Result;

use super::finding::Finding;
use super::prose::{COUNTS_FILE, parse_counts};
use super::source::Source;

/// Name of the count in the record.
const COUNT: &str = "identifier";

/// Terms that no identifier should have, in the order of its parts, each with what to write
/// instead.
const BANNED: [(&str, &str); 22] = [
    ("told", "reported, shown, listed, distinguished"),
    ("tell", "report, show, list"),
    ("tells", "reports, shows, lists"),
    ("telling", "reporting, showing"),
    ("stands", "is, appears, hangs"),
    ("beside", "next_to, in_parallel"),
    ("nobody", "no_client, no_user, none"),
    ("somebody", "a_client, another_user"),
    ("whoever", "a_client, the_user"),
    ("anybody", "any_client, any_user"),
    ("whose", "name the owner"),
    ("comes_to", "reaches, has"),
    ("came_of", "resulted_from"),
    ("reckon", "compute, estimate"),
    ("reckons", "computes, estimates"),
    ("reckoned", "computed, estimated"),
    ("so_many", "a_number_of"),
    ("under_way", "in_progress, open"),
    ("anew", "again"),
    ("as_meant", "as_intended"),
    ("deed", "action"),
    ("deeds", "actions"),
];

/// Returns a breach for each use of an identifier in `source` that has a banned term. Fields of
/// serialized types are keys of stored formats, which stay.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in source.paths.iter().filter(|path| !path.serialized) {
        for name in path.text.split("::") {
            let bounded = format!("_{}_", snake_case(name));
            for (term, instead) in BANNED {
                if bounded.contains(&format!("_{term}_")) {
                    let message = format!("`{name}`: write {instead} instead of {term}");
                    findings.push(Finding::at("name", &source.path, path.line, message));
                }
            }
        }
    }
    findings
}

/// Returns `name`, which may be a type or a constant, in the form of a function's name.
fn snake_case(name: &str) -> String {
    let is_constant = !name.contains(char::is_lowercase);
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !is_constant && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Compares the breaches of the whole tree with the record: returns all of them if they are more,
/// and a breach of the record if they are fewer.
pub(crate) fn check_remaining(findings: Vec<Finding>, recorded: &str) -> Result<Vec<Finding>> {
    let before = parse_counts(recorded)?.get(COUNT).copied().unwrap_or_default();
    let now = findings.len();
    if now < before {
        let message = format!("{now} identifiers have banned terms, {before} are recorded: lower the record");
        return Ok(vec![Finding::at("name-count", COUNTS_FILE, 0, message)]);
    }
    Ok(if now > before { findings } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(text: &str) -> Vec<Finding> {
        check(&Source::parse("a/b.rs", text).expect("is Rust"))
    }

    #[test]
    fn banned_terms_are_whole_parts_of_names() {
        let lines = |text: &str| breaches(text).iter().map(|finding| finding.line).collect::<Vec<_>>();
        assert_eq!(lines("fn a() {}\nfn it_is_told() {}\nfn it_tells() {}\n"), [2, 3]);
        assert_eq!(lines("fn takes_so_many_bytes() {\nlet it_told = 1;\nlet x = y.z_told; }\n"), [1, 2, 3]);
        assert_eq!(lines("struct NobodyListens;\nconst TOLD_MAX: u8 = 1;\nuse a::told_b;\n"), [1, 2, 3]);
        assert_eq!(lines("fn retold_untold_foretells() {}\nfn so_much() {}\nstruct Untold;\n"), [0; 0]);
        assert_eq!(lines("#[derive(Serialize)] struct Doc { is_told: u8 }\n"), [0; 0]);
    }

    #[test]
    fn the_count_may_only_fall() {
        let left = |recorded: &str| {
            let two = breaches("fn a_told() {}\nfn a_tell() {}\n");
            check_remaining(two, recorded).expect("is a record").len()
        };
        assert_eq!(left("2 identifier"), 0);
        assert_eq!(left("1 identifier"), 2);
        assert_eq!(left("3 identifier"), 1);
        assert_eq!(left(""), 2);
    }
}
