//! [`Secrets`]: what must not be shown, and takes it out of texts.

use wavetank_journey::auth::base64_text;
use wavetank_journey::body::{form_text, json_text, path_text};
use wavetank_plan::redact::{REDACTED, is_secret_header};

/// See the module's description.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    /// As they may stand in a text, longest first.
    words: Vec<String>,
    /// Names of headers, cookies and variables, in lower case.
    names: Vec<String>,
}

impl Secrets {
    /// Values under these names are secrets.
    pub(crate) fn of_names(names: &[String]) -> Self {
        Self { words: Vec::new(), names: names.iter().map(|name| name.to_ascii_lowercase()).collect() }
    }

    /// From now on `value` is one, in every way in which a request writes it.
    pub(crate) fn learn(&mut self, value: &str) {
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
    pub(crate) fn hide(&self, text: &mut String) {
        for word in &self.words {
            if text.contains(word.as_str()) {
                *text = text.replace(word.as_str(), REDACTED);
            }
        }
    }

    /// A header's line as it may be shown; `of_step` are names in lower case that the step hides. Of a cookie that is
    /// set, name and attributes remain.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_however_they_are_written() {
        let mut secrets = Secrets::of_names(&["Pin".to_owned()]);
        secrets.learn("p\"w d");
        secrets.learn("p");
        for (text, expected) in [
            ("a p\"w d b", "a *** b"),
            ("{\"x\":\"p\\\"w d\"}", "{\"x\":\"***\"}"),
            ("x=p%22w+d", "x=***"),
            ("/p%22w%20d", "/***"),
            ("cCJ3IGQ=", "***"),
            ("nothing", "nothing"),
        ] {
            let mut hidden = text.to_owned();
            secrets.hide(&mut hidden);
            assert_eq!(hidden, expected, "{text}");
        }
    }

    #[test]
    fn headers_are_hidden_by_name() {
        let secrets = Secrets::of_names(&["X-Pin".to_owned()]);
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
