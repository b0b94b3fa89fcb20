//! [`SecretScrubber`]: what must not be shown, and takes it out of texts.

use wavetank_journey::auth::base64_text;
use wavetank_journey::body::{form_text, json_text, path_text};
use wavetank_plan::redact::{REDACTED, is_secret_header};

/// See the module's description.
#[derive(Debug, Default)]
pub(crate) struct SecretScrubber {
    /// The secrets as they may appear in a text, longest first.
    words: Vec<String>,
    /// Names of headers, cookies and variables, in lower case.
    names: Vec<String>,
}

impl SecretScrubber {
    /// Values under these names are secrets.
    pub(crate) fn from_names(names: &[String]) -> Self {
        let names = names.iter().map(|name| name.trim().to_ascii_lowercase());
        Self { words: Vec::new(), names: names.filter(|name| !name.is_empty()).collect() }
    }

    /// From now on `value` is one, in every way in which a request writes it.
    pub(crate) fn add(&mut self, value: &str) {
        let mut forms = vec![value.as_bytes().to_vec()];
        for write in [json_text, form_text, path_text, base64_text] {
            let mut out = Vec::new();
            write(&mut out, value.as_bytes());
            forms.push(out);
        }
        for form in forms.into_iter().filter_map(|form| String::from_utf8(form).ok()) {
            if !form.is_empty() && !self.words.contains(&form) {
                self.words.push(form);
            }
        }
        self.words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    }

    /// Whether the values of a variable, cookie or header of that name are secrets.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.eq_ignore_ascii_case(name.trim()))
    }

    /// Take all of them out of `text`.
    pub(crate) fn redact(&self, text: &mut String) {
        for word in &self.words {
            if text.contains(word.as_str()) {
                *text = text.replace(word.as_str(), REDACTED);
            }
        }
        for name in &self.names {
            hide_under(name, text);
        }
    }

    /// Returns a header line with secrets hidden; `of_step` are lower-case names that the step
    /// hides. Of a Set-Cookie, name and attributes remain.
    pub(crate) fn header_line(&self, line: &str, of_step: &[String]) -> String {
        let Some((name, value)) = line.split_once(':') else { return line.to_owned() };
        let lower = name.trim().to_ascii_lowercase();
        if lower == "set-cookie" {
            let (cookie, rest) = value.split_once(';').unwrap_or((value, ""));
            let cookie_name = cookie.split('=').next().unwrap_or_default();
            let joint = if rest.is_empty() { "" } else { ";" };
            return format!("{name}:{cookie_name}={REDACTED}{joint}{rest}");
        }
        if is_secret_header(&lower) || of_step.contains(&lower) || self.is_name(&lower) {
            return format!("{name}: {REDACTED}");
        }
        line.to_owned()
    }
}

/// Removes from `text` the values under `name` in a form (`name=…`) and in JSON (`"name": …`).
fn hide_under(name: &str, text: &mut String) {
    let lower = text.to_ascii_lowercase();
    let (mut shown, mut from) = (String::new(), 0);
    for (at, _) in lower.match_indices(name) {
        let (before, behind) = (lower[..at].chars().next_back(), at + name.len());
        if at < from {
            continue;
        }
        let value = match lower[behind..].strip_prefix('=') {
            Some(_) if before.is_none_or(|c| matches!(c, '&' | '?' | ';' | ' ' | '\n')) => {
                let end = |c: char| matches!(c, '&' | ';') || c.is_whitespace();
                span(&lower, behind + 1, end)
            }
            None if before == Some('"') => in_json(&lower, behind),
            _ => None,
        };
        if let Some((start, end)) = value {
            shown.push_str(&text[from..start]);
            shown.push_str(REDACTED);
            from = end;
        }
    }
    if from > 0 {
        shown.push_str(&text[from..]);
        *text = shown;
    }
}

/// Returns the range of the value after a JSON key with its closing quote at `at`; quotes stay.
/// Lists and maps are handled by the names inside them.
fn in_json(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = text[at..].strip_prefix('"')?.trim_start().strip_prefix(':')?.trim_start();
    let start = text.len() - rest.len();
    match rest.chars().next()? {
        '[' | '{' => None,
        '"' => {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let quote = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                quote
            });
            Some((start + 1, end.map_or(text.len(), |end| start + 1 + end)))
        }
        _ => span(text, start, |c| matches!(c, ',' | '}' | ']') || c.is_whitespace()),
    }
}

/// From `start` to where `end` says, unless that is nothing.
fn span(text: &str, start: usize, end: impl Fn(char) -> bool) -> Option<(usize, usize)> {
    let length = text[start..].find(end).unwrap_or(text.len() - start);
    (length > 0).then_some((start, start + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_however_they_are_written() {
        let mut secrets = SecretScrubber::from_names(&["Pin".to_owned()]);
        secrets.add("p\"w d");
        secrets.add("p");
        for (text, expected) in [
            ("a p\"w d b", "a *** b"),
            ("{\"x\":\"p\\\"w d\"}", "{\"x\":\"***\"}"),
            ("x=p%22w+d", "x=***"),
            ("/p%22w%20d", "/***"),
            ("cCJ3IGQ=", "***"),
            ("nothing", "nothing"),
        ] {
            let mut hidden = text.to_owned();
            secrets.redact(&mut hidden);
            assert_eq!(hidden, expected, "{text}");
        }
    }

    #[test]
    fn values_of_secret_names_are_hidden() {
        let secrets = SecretScrubber::from_names(&["Password".to_owned()]);
        let check = |text: &str, expected: &str| {
            let mut hidden = text.to_owned();
            secrets.redact(&mut hidden);
            assert_eq!(hidden, expected, "{text}");
        };
        check("user=a&password=b+c&x=y", "user=a&password=***&x=y");
        check("GET /?password=b HTTP/1.1", "GET /?password=*** HTTP/1.1");
        check("{\"password\" : \"a\\\"b\", \"c\": 1}", "{\"password\" : \"***\", \"c\": 1}");
        check("{\"PASSWORD\":17}", "{\"PASSWORD\":***}");
        check("{\"password\": [{\"password\": \"x\"}]}", "{\"password\": [{\"password\": \"***\"}]}");
        check("{\"password\": \"cut", "{\"password\": \"***");
        check("password=", "password=");
        check("the password is secret, nopassword=x", "the password is secret, nopassword=x");
        check("\u{1e9e}password=\u{1e9e}&password=\u{1e9e}", "\u{1e9e}password=\u{1e9e}&password=***");
    }

    #[test]
    fn headers_are_hidden_by_name() {
        let secrets = SecretScrubber::from_names(&["X-Pin".to_owned()]);
        let check = |line: &str, expected: &str| {
            assert_eq!(secrets.header_line(line, &["x-own".to_owned()]), expected);
        };
        check("Host: a", "Host: a");
        check("Authorization: Basic x", "Authorization: ***");
        check("x-pin: 7", "x-pin: ***");
        check("X-Own: 7", "X-Own: ***");
        check("Set-Cookie: id=7; Path=/", "Set-Cookie: id=***; Path=/");
        check("Set-Cookie: id=7", "Set-Cookie: id=***");
        check("no colon", "no colon");
    }
}
