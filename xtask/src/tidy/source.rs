//! [`Source`]: one Rust file, split into what the rules look at.
//!
//! Rules work on tokens and never on text, because a name inside a string or a comment is not code.
//! The token tree is enough for every rule, so no grammar is needed and code inside macros is seen
//! as well.

use std::path::Path;
use std::str::FromStr;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

/// One Rust file.
pub(crate) struct Source {
    /// Path from the repository's root, with `/`.
    pub(crate) path: String,
    /// Lines of the file, blank ones and comments included.
    pub(crate) lines: usize,
    /// Every path and identifier of the code, use trees spelt out.
    pub(crate) paths: Vec<PathUse>,
    /// Every attribute.
    pub(crate) attributes: Vec<Attribute>,
    /// Every function with a body.
    pub(crate) functions: Vec<Function>,
}

/// A path such as `std::time::Instant::now`, or a lone identifier.
pub(crate) struct PathUse {
    pub(crate) text: String,
    pub(crate) line: usize,
    /// Inside `#[cfg(test)]` or a test file.
    pub(crate) test: bool,
    /// Inside a type that derives `Serialize` or `Deserialize`.
    pub(crate) serialized: bool,
    pub(crate) next: Next,
}

/// The kind of code around a path.
#[derive(Clone, Copy, Default)]
struct Surroundings {
    test: bool,
    serialized: bool,
}

/// The token that follows a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// `()`
    EmptyParens,
    /// `(…)`
    Parens,
    /// `!`, but not `!=`
    Bang,
    Other,
}

/// An attribute, as the identifiers in it in order.
pub(crate) struct Attribute {
    pub(crate) names: Vec<String>,
    pub(crate) line: usize,
}

/// A function with a body.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// Lines from `fn` to the closing brace.
    pub(crate) length: usize,
}

impl Source {
    /// Takes `text` apart. Fails where the text is no Rust.
    pub(crate) fn parse(path: &str, text: &str) -> Result<Self> {
        let stream =
            TokenStream::from_str(text).map_err(|error| anyhow!("{path} cannot be read as Rust: {error}"))?;
        let mut source = Self {
            path: path.to_owned(),
            lines: text.lines().count(),
            paths: Vec::new(),
            attributes: Vec::new(),
            functions: Vec::new(),
        };
        let around = Surroundings { test: is_test_path(path), serialized: false };
        source.scan(&stream.into_iter().collect::<Vec<_>>(), around);
        Ok(source)
    }

    fn scan(&mut self, tokens: &[TokenTree], inherited: Surroundings) {
        let mut at = 0;
        let mut whole_block = inherited.test;
        // An attribute such as `#[cfg(test)]` applies to the next item, up to its closing brace or
        // semicolon.
        let mut item = Surroundings::default();
        while let Some(token) = tokens.get(at) {
            let around = Surroundings {
                test: whole_block || item.test,
                serialized: inherited.serialized || item.serialized,
            };
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let inner = is_punct(tokens.get(at + 1), '!');
                    if let Some(TokenTree::Group(group)) = tokens.get(at + 1 + usize::from(inner))
                        && group.delimiter() == Delimiter::Bracket
                    {
                        let next = self.attribute(group);
                        whole_block |= inner && next.test;
                        item.test |= next.test;
                        item.serialized |= next.serialized;
                        at += 2 + usize::from(inner);
                        continue;
                    }
                    at += 1;
                }
                TokenTree::Punct(punct) => {
                    if punct.as_char() == ';' {
                        item = Surroundings::default();
                    }
                    at += 1;
                }
                TokenTree::Ident(ident) => {
                    if *ident == "fn" {
                        self.function(tokens, at);
                    }
                    at = self.path(tokens, at, "", around);
                }
                TokenTree::Group(group) => {
                    self.scan(&group.stream().into_iter().collect::<Vec<_>>(), around);
                    if group.delimiter() == Delimiter::Brace {
                        item = Surroundings::default();
                    }
                    at += 1;
                }
                TokenTree::Literal(_) => at += 1,
            }
        }
    }

    /// Keeps the attribute. Returns what it makes of the following item.
    fn attribute(&mut self, group: &Group) -> Surroundings {
        let mut names = Vec::new();
        identifiers(group.stream(), &mut names);
        let first = names.first().map(String::as_str);
        let for_tests = first == Some("test")
            || (first == Some("cfg")
                && names.iter().any(|name| name == "test")
                && !names.iter().any(|name| name == "not"));
        let has = |name: &str| names.iter().any(|one| one == name);
        let serialized = first == Some("derive") && (has("Serialize") || has("Deserialize"));
        self.attributes.push(Attribute { names, line: group.span_open().start().line });
        Surroundings { test: for_tests, serialized }
    }

    fn function(&mut self, tokens: &[TokenTree], at: usize) {
        let Some(TokenTree::Ident(name)) = tokens.get(at + 1) else { return };
        for token in &tokens[at + 2..] {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ';' => return,
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    let line = tokens[at].span().start().line;
                    let length = group.span_close().end().line + 1 - line;
                    self.functions.push(Function { name: name.to_string(), line, length });
                    return;
                }
                _ => {}
            }
        }
    }

    /// Keeps the path that starts at `at`, after `prefix` (with its `::`) in a use tree. Returns
    /// the index after it.
    fn path(&mut self, tokens: &[TokenTree], mut at: usize, prefix: &str, around: Surroundings) -> usize {
        let line = tokens[at].span().start().line;
        let mut text = prefix.to_owned();
        while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
            text.push_str(ident.to_string().trim_start_matches("r#"));
            at += 1;
            if !is_path_separator(tokens, at) {
                break;
            }
            match tokens.get(at + 2) {
                Some(TokenTree::Ident(_)) => text.push_str("::"),
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.use_tree(group, &format!("{text}::"), around);
                    return at + 3;
                }
                Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
                    text.push_str("::*");
                    at += 3;
                    break;
                }
                _ => break,
            }
            at += 2;
        }
        let Surroundings { test, serialized } = around;
        self.paths.push(PathUse { text, line, test, serialized, next: next_of(tokens, at) });
        at
    }

    fn use_tree(&mut self, group: &Group, prefix: &str, around: Surroundings) {
        let Surroundings { test, serialized } = around;
        let tokens: Vec<_> = group.stream().into_iter().collect();
        for entry in tokens.split(|token| is_punct(Some(token), ',')) {
            if let Some(TokenTree::Ident(_)) = entry.first() {
                self.path(entry, 0, prefix, around);
            } else if let Some(star) = entry.first() {
                let line = star.span().start().line;
                let text = format!("{prefix}*");
                self.paths.push(PathUse { text, line, test, serialized, next: Next::Other });
            }
        }
    }
}

/// Returns whether a whole file is test code: `crate/tests/*.rs`, `tests.rs` next to a module,
/// benches.
pub(crate) fn is_test_path(path: &str) -> bool {
    path.contains("/tests/") || path.contains("/benches/") || path.ends_with("/tests.rs")
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':' && p.spacing() == Spacing::Joint)
        && is_punct(tokens.get(at + 1), ':')
}

fn identifiers(stream: TokenStream, into: &mut Vec<String>) {
    for token in stream {
        match token {
            TokenTree::Ident(ident) => into.push(ident.to_string()),
            TokenTree::Group(group) => identifiers(group.stream(), into),
            _ => {}
        }
    }
}

/// Looks behind a path: a call, a macro, or neither. Generic arguments (`::<T>`) are stepped over.
fn next_of(tokens: &[TokenTree], at: usize) -> Next {
    match tokens.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            if group.stream().is_empty() { Next::EmptyParens } else { Next::Parens }
        }
        Some(TokenTree::Punct(bang)) if bang.as_char() == '!' && bang.spacing() == Spacing::Alone => {
            Next::Bang
        }
        Some(_) if is_path_separator(tokens, at) && is_punct(tokens.get(at + 2), '<') => {
            let mut depth = 0_usize;
            for (index, token) in tokens.iter().enumerate().skip(at + 2) {
                if is_punct(Some(token), '<') {
                    depth += 1;
                } else if is_punct(Some(token), '>') {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return next_of(tokens, index + 1);
                    }
                }
            }
            Next::Other
        }
        _ => Next::Other,
    }
}

/// Whether `path` names a Rust file.
pub(super) fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, bool, Next)]) {
        let source = Source::parse("core/x/src/y.rs", text).expect("is Rust");
        let paths: Vec<_> =
            source.paths.iter().map(|word| (word.text.as_str(), word.test, word.next)).collect();
        for expected in expected {
            assert!(paths.contains(expected), "{expected:?} not in {paths:?}");
        }
    }

    #[test]
    fn use_trees_are_spelt_out() {
        let text = "use std::{net::{TcpStream, Ipv4Addr as V4}, fs, time::*};";
        check(
            text,
            &[
                ("std::net::TcpStream", false, Next::Other),
                ("std::net::Ipv4Addr", false, Next::Other),
                ("std::fs", false, Next::Other),
                ("std::time::*", false, Next::Other),
            ],
        );
    }

    #[test]
    fn calls_and_macros_are_distinguished_also_inside_macros() {
        let text = "fn f() { println!(\"{}\", a::b(1)); channel::<Vec<u8>>(); vec![c::d()]; if x != y {} }";
        check(
            text,
            &[
                ("println", false, Next::Bang),
                ("a::b", false, Next::Parens),
                ("channel", false, Next::EmptyParens),
                ("c::d", false, Next::EmptyParens),
                ("x", false, Next::Other),
            ],
        );
    }

    #[test]
    fn test_code_is_marked_and_only_it() {
        let text =
            "#[cfg(test)] mod tests { use a::b; } fn g() { c::d(); } #[cfg(not(test))] fn h() { e::f() }";
        check(
            text,
            &[
                ("a::b", true, Next::Other),
                ("c::d", false, Next::EmptyParens),
                ("e::f", false, Next::EmptyParens),
            ],
        );
    }

    #[test]
    fn types_that_are_serialized_are_marked_and_only_they() {
        let text = "#[derive(Clone, Serialize)] struct X { a: A } #[derive(Deserialize)] struct Y(B); \
                    #[derive(Clone)] struct Z { c: C } impl X { fn f() { D } }";
        let source = Source::parse("a/b.rs", text).expect("is Rust");
        let marked: Vec<_> =
            source.paths.iter().filter(|word| word.serialized).map(|word| word.text.as_str()).collect();
        assert_eq!(marked, ["struct", "X", "a", "A", "struct", "Y", "B"]);
    }

    #[test]
    fn functions_are_measured_from_fn_to_brace() {
        let source =
            Source::parse("a/b.rs", "fn one() {}\n\nfn three(\n) {\n}\ntrait T { fn none(&self); }\n")
                .expect("is Rust");
        let lengths: Vec<_> = source.functions.iter().map(|f| (f.name.as_str(), f.line, f.length)).collect();
        assert_eq!(lengths, [("one", 1, 1), ("three", 3, 3)]);
    }

    #[test]
    fn strings_and_comments_are_no_code() {
        let source =
            Source::parse("a/b.rs", "// todo!()\nconst X: &str = \"thread::sleep\"; /// std::fs\nfn f() {}")
                .expect("is Rust");
        assert!(source.paths.iter().all(|word| !word.text.contains("sleep") && !word.text.contains("fs")));
    }
}
