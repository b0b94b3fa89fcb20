//! Splits a Rust file into its comments and string literals, which the token stream leaves out.

/// A comment or a string literal, with the line it starts on (from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

/// Where a passage was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `// …` to the end of the line, doc comments included, or `/* … */`.
    Comment,
    /// A string literal with its quotes, raw or not.
    Text,
}

/// Returns every comment and string literal of `source`, in order.
pub(crate) fn passages(source: &str) -> Vec<Passage<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < source.len() {
        let rest = &source[at..];
        let (kind, length) = next(rest);
        let piece = &rest[..length];
        if let Some(kind) = kind {
            found.push(Passage { kind, text: piece, line });
        }
        line += piece.matches('\n').count();
        at += length;
        // The prefix `b` or `r` of a literal must not be split from an identifier.
        if kind.is_none() && piece.ends_with(is_name_char) {
            let name = source[at..].find(|c| !is_name_char(c)).unwrap_or(source.len() - at);
            at += name;
        }
    }
    found
}

/// The kind and length of what `rest` starts with; code has no kind.
fn next(rest: &str) -> (Option<Kind>, usize) {
    if rest.starts_with("//") {
        return (Some(Kind::Comment), rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Some(Kind::Comment), block_comment(rest));
    }
    if rest.starts_with('"') {
        return (Some(Kind::Text), quoted(rest));
    }
    if let Some(length) = raw_string(rest) {
        return (Some(Kind::Text), length);
    }
    if rest.starts_with('\'') {
        return (None, char_or_lifetime(rest));
    }
    (None, rest.chars().next().map_or(1, char::len_utf8))
}

/// Length of a block comment, nested ones included.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Length of a string literal that starts with a quote.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Length of a raw string literal, with its prefix `r`, `br` or `cr`.
fn raw_string(rest: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        let behind = rest.strip_prefix(prefix).unwrap_or_default();
        behind.trim_start_matches('#').starts_with('"')
    })?;
    let behind = &rest[prefix.len()..];
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    let end = format!("\"{}", "#".repeat(hashes));
    let body = prefix.len() + hashes + 1;
    let length = rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len());
    Some(length)
}

/// Length of a character literal, or of the quote alone where it starts a lifetime.
fn char_or_lifetime(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => {
            chars.next();
            rest[2..].char_indices().skip(1).find(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 3)
        }
        Some((at, c)) if rest[at + c.len_utf8()..].starts_with('\'') => at + c.len_utf8() + 1,
        _ => 1,
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[(Kind, &str, usize)]) {
        let found: Vec<_> = passages(source).iter().map(|one| (one.kind, one.text, one.line)).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn comments_and_strings_are_found_with_their_lines() {
        check("let a = 1; // one\n/// two\n", &[(Kind::Comment, "// one", 1), (Kind::Comment, "/// two", 2)]);
        check(
            "f(\"a // b\");\n/* c\n/* d */ */ \"e\"",
            &[
                (Kind::Text, "\"a // b\"", 1),
                (Kind::Comment, "/* c\n/* d */ */", 2),
                (Kind::Text, "\"e\"", 3),
            ],
        );
    }

    #[test]
    fn escapes_raw_strings_and_quotes_do_not_end_a_literal_early() {
        check(r#"a("x\"y", 'z')"#, &[(Kind::Text, r#""x\"y""#, 1)]);
        check("r#\"a \" // b\"# // c", &[(Kind::Text, "r#\"a \" // b\"#", 1), (Kind::Comment, "// c", 1)]);
        check("['\"', '\\'', '\\u{1}'] // d", &[(Kind::Comment, "// d", 1)]);
        check("fn f<'a>(var: &'a str) {} // e", &[(Kind::Comment, "// e", 1)]);
        check("var\"x\"", &[(Kind::Text, "\"x\"", 1)]);
    }
}
