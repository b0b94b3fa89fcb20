//! The names of archives: `<UTC yyyymmddThhmmssZ>-<name>-<id>`.

use std::collections::BTreeSet;

/// Maximum number of characters of a run's name in the name of its folder.
const NAME_CHARS_MAX: usize = 48;

/// Returns six random hexadecimal digits. Ids only need to differ within one runs directory, and
/// creating a folder that exists already fails.
pub fn new_id() -> String {
    let mut bytes = [0; 3];
    // If a sandbox forbids even this, ids of processes are different enough.
    if getrandom::fill(&mut bytes).is_err() {
        bytes.copy_from_slice(&std::process::id().to_le_bytes()[..3]);
    }
    let [a, b, c] = bytes;
    format!("{a:02x}{b:02x}{c:02x}")
}

/// Returns the name of a host as a file name. The name is read back from there, so it is unchanged
/// if every system accepts it.
pub(crate) fn file_stem(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let kept =
        name.chars().all(plain) && (1..=NAME_CHARS_MAX).contains(&name.len()) && !name.starts_with('-');
    if kept { name.to_owned() } else { sanitized(name) }
}

/// Returns the name of a file for `agent` that no other agent has, without its ending. `taken` has
/// the names in use, in lower case: on some systems `A` is `a`.
pub(crate) fn free_stem(agent: &str, taken: &mut BTreeSet<String>) -> String {
    let stem = file_stem(agent);
    let others = (2..).map(|number| format!("{stem}-{number}"));
    let mut names = std::iter::once(stem.clone()).chain(others);
    names.find(|name| taken.insert(name.to_ascii_lowercase())).expect("numbers do not end")
}

/// Returns `name` as part of a folder's name. Letters, digits, `.` and `_` stay; each run of other
/// characters becomes one `-`.
pub(crate) fn sanitized(name: &str) -> String {
    let mut clean = String::new();
    for letter in name.chars() {
        match letter {
            letter if letter.is_ascii_alphanumeric() || letter == '_' => clean.push(letter),
            '.' if !clean.is_empty() && !clean.ends_with('.') => clean.push('.'),
            _ if clean.ends_with('-') || clean.is_empty() => {}
            _ => clean.push('-'),
        }
        if clean.len() >= NAME_CHARS_MAX {
            break;
        }
    }
    let clean = clean.trim_matches(['-', '.']);
    if clean.is_empty() { "run".to_owned() } else { clean.to_owned() }
}

/// Returns the time at the start of an archive's name: `20261121T190000Z` of
/// `20261121T190000Z-shop-7f3a21`.
pub(crate) fn timestamp(folder: &str) -> Option<&str> {
    let (stamp, rest) = folder.split_at_checked(16)?;
    let kind = |(at, letter): (usize, u8)| match at {
        8 => letter == b'T',
        15 => letter == b'Z',
        _ => letter.is_ascii_digit(),
    };
    (rest.len() > 1 && rest.starts_with('-') && stamp.bytes().enumerate().all(kind)).then_some(stamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, folder: &str) {
        assert_eq!(sanitized(name), folder, "{name:?}");
    }

    #[test]
    fn hosts_keep_their_names_where_they_can() {
        for name in ["lb1", "app-1", "app--1", "7"] {
            assert_eq!(file_stem(name), name);
        }
        for (name, stem) in [("../x", "x"), ("", "run"), ("-x", "x"), ("a/b", "a-b"), ("App 1", "App-1")] {
            assert_eq!(file_stem(name), stem, "{name:?}");
        }
    }

    #[test]
    fn no_two_agents_share_a_file() {
        let mut taken = BTreeSet::new();
        let names = ["load-1", "a/b", "a-b", "A-b", "../a-b", "a-b-2", "", "run", "ü"];
        let stems = names.map(|name| free_stem(name, &mut taken));
        assert_eq!(stems, ["load-1", "a-b", "a-b-2", "A-b-3", "a-b-4", "a-b-2-2", "run", "run-2", "run-3"]);
    }

    #[test]
    fn names_become_safe_parts_of_a_path() {
        check("lb-million", "lb-million");
        check("localhost:8080/api/users", "localhost-8080-api-users");
        check("../../etc/passwd", "etc-passwd");
        check("..", "run");
        check("", "run");
        check("ä ö\0/ü", "run");
        check("a…b", "a-b");
        check(&"x".repeat(500), &"x".repeat(NAME_CHARS_MAX));
        check("[::1]:80", "1-80");
    }
}
