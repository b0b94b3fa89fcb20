//! Requests.

use wavetank_grammar::{Entry, Node, NodeKind, Span, Spanned};
use wavetank_plan::PART_NAMES;
use wavetank_units::Code;

use super::http::starts_with;
use super::{Keys, Parser, TreeReader as _, is_identifier, normal_path};
use crate::grammar::METHODS;
use crate::model::{Check, Extraction, NamedCheck, OnFailure, Part, Request, RequestHead, Template};

const FAILURES: [(&str, OnFailure); 3] = [
    ("continue", OnFailure::Continue),
    ("end_session", OnFailure::EndSession),
    ("end_run", OnFailure::EndRun),
];

impl Parser<'_> {
    /// Reads a step with a method as its verb, or `request`.
    pub(super) fn request(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        let head = self.head(verb);
        let method = match &head {
            Some(RequestHead::Http { method, .. }) => method.value.clone(),
            _ => String::new(),
        };
        let query =
            keys.take("query").and_then(|node| self.named_values(node, "a query")).unwrap_or_default();
        let headers = keys.take("headers").map(|node| self.headers(node)).unwrap_or_default();
        let body = self.body(keys, &method);
        let auth = keys.take("auth").and_then(|node| self.auth(node));
        let follow = keys.take("follow").and_then(|node| self.redirects(node));
        let resources = keys.take("resources").and_then(|node| self.bool(node)).unwrap_or_default();
        let request = self.common(head, keys);
        Some(Request { query, headers, body, auth, follow, resources, ..request? })
    }

    /// Reads a step with `raw` as its verb.
    pub(super) fn raw(&mut self, verb: &Entry, keys: &mut Keys<'_>) -> Option<Request> {
        let place = verb.value.place;
        let mut written = self.template(&verb.value, "what is sent");
        if written.as_ref().is_some_and(|text| text.parts.is_empty()) {
            let hint = "raw: \"GET / HTTP/1.1\\r\\n…\"";
            written = self.fail(Code::RawEmpty, place, "nothing would be sent", hint);
        }
        self.common(written.map(RequestHead::Raw), keys)
    }

    /// Reads the keys that all requests have.
    pub(super) fn common(&mut self, head: Option<RequestHead>, keys: &mut Keys<'_>) -> Option<Request> {
        let name = keys.take("name").and_then(|node| self.step_name(node));
        let to = keys.take("to").and_then(|node| self.name(node, "a target"));
        let timeout = keys.take("timeout").and_then(|node| self.duration_positive(node));
        let extract = keys.take("extract").map(|node| self.extractions(node)).unwrap_or_default();
        let checks = keys.take("check").map(|node| self.checks(node)).unwrap_or_default();
        let counts = keys.take("count").map(|node| self.named_checks(node, "a count")).unwrap_or_default();
        let on_failure = keys.take("on_failure").and_then(|node| self.on_failure(node));
        Some(Request { name, to, timeout, extract, checks, counts, on_failure, ..Request::plain(head?) })
    }

    pub(super) fn on_failure(&mut self, node: &Node) -> Option<OnFailure> {
        self.one_of(node, "reaction to a failure", &FAILURES)
    }

    fn head(&mut self, verb: &Entry) -> Option<RequestHead> {
        let place = verb.value.place;
        let whole = self.template(&verb.value, "a path")?;
        if METHODS.contains(&verb.key.as_str()) {
            let method = Spanned::new(verb.key.to_ascii_uppercase(), verb.place);
            return self.path(whole, place).map(|url| RequestHead::Http { method, url });
        }
        let Some((method, url)) = split_method(&whole) else {
            let hint = "a method and a path: request: PROPFIND /dav/";
            return self.fail(Code::BadMethod, place, "this is not a method and a path", hint);
        };
        self.path(url, place).map(|url| RequestHead::Http { method: Spanned::new(method, place), url })
    }

    pub(super) fn path(&mut self, url: Template, place: Span) -> Option<Template> {
        if !starts_with(&url, &["/", "http://", "https://"]) {
            let text = url.display_text();
            let hint = match text.split_once(' ') {
                Some((method, path)) if METHODS.contains(&method.to_ascii_lowercase().as_str()) => {
                    format!("{}: {path}", method.to_ascii_lowercase())
                }
                _ => format!("/{text}? or http://HOST/…"),
            };
            return self.fail(Code::BadPath, place, format!("`{text}` is not a path or a URL"), hint);
        }
        if url.parts.iter().any(|part| matches!(part, Part::Text(text) if text.contains('#'))) {
            let message = format!("`{}` has a fragment, which is never sent", url.display_text());
            return self.fail(
                Code::BadPath,
                place,
                message,
                "leave out # and the text after it; write a literal # as %23",
            );
        }
        let broken = |part: &Part| matches!(part, Part::Text(text) if text.contains(|c: char| c.is_whitespace() || c.is_control()));
        if url.parts.iter().any(broken) {
            let message = format!("`{}` contains white space", url.display_text());
            return self.fail(
                Code::BadPath,
                place,
                message,
                "write a blank as %20, or put the parameters under query:",
            );
        }
        Some(normal_path(url))
    }

    /// Parses the name of a step, which must differ from names of response parts in conditions.
    pub(super) fn step_name(&mut self, node: &Node) -> Option<Spanned<String>> {
        let name = self.text(node, "a name")?;
        if PART_NAMES.contains(&name.value.as_str()) {
            let message = format!("`{}` is a part of every request's time", name.value);
            let hint = format!("use another name: p99({}) would mean all requests", name.value);
            return self.fail(Code::NameReserved, name.place, message, hint);
        }
        if name.value.trim().is_empty() || name.value.contains(['(', ')', '\n']) {
            let message = format!("`{}` cannot be used in p99(NAME)", name.value);
            return self.fail(Code::BadName, name.place, message, "use letters, digits, blanks, / and -");
        }
        Some(name)
    }

    fn extractions(&mut self, node: &Node) -> Vec<Extraction> {
        if let Some(path) = node.scalar().map(|scalar| &scalar.text).filter(|text| text.starts_with('$')) {
            let message = format!("extract has named values, not `{path}` alone");
            self.fail::<()>(Code::NotAMap, node.place, message, format!("extract: {{id: json {path}}}"));
            return Vec::new();
        }
        let entries = self.entries(node, "extract");
        let all = entries.iter().map(|entry| {
            let name = self.variable_name(entry);
            let (from, all) = self.from(&entry.value)?;
            Some(Extraction { name: name?, from, all })
        });
        all.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// Reads a name under `extract`, `set` or `as`.
    pub(super) fn variable_name(&mut self, entry: &Entry) -> Option<Spanned<String>> {
        self.identifier(&Spanned::new(entry.key.clone(), entry.place))
    }

    pub(super) fn identifier(&mut self, name: &Spanned<String>) -> Option<Spanned<String>> {
        let word = name.value.as_str();
        let reserved = matches!(word, "user" | "session" | "count" | "env" | "secret");
        if reserved
            || !is_identifier(word)
            || word.contains('.')
            || word.starts_with(|c: char| c.is_ascii_digit())
        {
            let message = format!("`{word}` is not a variable name");
            return self.fail(
                Code::BadName,
                name.place,
                message,
                "letters, digits and _, not user or session: sku, token",
            );
        }
        Some(name.clone())
    }

    fn checks(&mut self, node: &Node) -> Vec<NamedCheck> {
        let mut all = Vec::new();
        for item in node.as_list() {
            match &item.kind {
                NodeKind::Map(_) => {
                    for (name, check) in self.named_checks(item, "a check") {
                        all.push(NamedCheck { name: Some(name), check });
                    }
                }
                _ => all.extend(self.check(item).map(|check| NamedCheck { name: None, check })),
            }
        }
        all
    }

    /// `status: 200` is no name with a condition, but a condition without its operator.
    fn not_a_name(&mut self, entry: &Entry) -> Option<()> {
        let scalar =
            entry.value.scalar().filter(|_| matches!(entry.key.as_str(), "status" | "size" | "time"));
        let bare = scalar.filter(|scalar| scalar.text.starts_with(|c: char| c.is_ascii_digit()));
        let Some(bare) = bare else { return Some(()) };
        let op = if entry.key == "status" { '=' } else { '<' };
        let hint = format!("{} {op} {}", entry.key, bare.text);
        let message = format!("`{}: {}` has no comparison operator", entry.key, bare.text);
        self.fail(Code::ConditionOp, entry.place, message, hint)
    }

    fn named_checks(&mut self, node: &Node, what: &str) -> Vec<(Spanned<String>, Check)> {
        let entries = self.entries(node, what);
        let all = entries.iter().map(|entry| {
            if entry.key.contains(' ') {
                let text = match entry.value.scalar() {
                    Some(scalar) => format!("{}: {}", entry.key, scalar.text),
                    None => entry.key.clone(),
                };
                let hint = format!("put a condition with a colon in quotes: '{text}'");
                return self.fail(
                    Code::ColonUnquoted,
                    entry.place,
                    format!("`{text}` was read as a name"),
                    hint,
                );
            }
            self.not_a_name(entry)?;
            let name = self.user_defined_name(entry, what);
            let check = self.check(&entry.value);
            Some((name?, check?))
        });
        all.collect::<Vec<_>>().into_iter().flatten().collect()
    }
}

/// Splits `PROPFIND /dav/` into the method and the rest.
fn split_method(whole: &Template) -> Option<(String, Template)> {
    let Some(Part::Text(first)) = whole.parts.first() else { return None };
    let (method, path) = first.split_once(' ')?;
    let token = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    if !token {
        return None;
    }
    let mut parts = whole.parts.clone();
    match path.trim_start() {
        "" => {
            parts.remove(0);
        }
        path => parts[0] = Part::Text(path.to_owned()),
    }
    Some((method.to_owned(), Template { parts, place: whole.place }))
}
