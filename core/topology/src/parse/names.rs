//! Host patterns: `load[1-3]`, `app[01-20]`, `web[1,3,7-9]`.

use wavetank_grammar::Span;
use wavetank_units::{Code, NumberRange};

use super::text::is_host_name;
use super::{Reader, TreeReader as _};

/// Maximum number of hosts of a lab. Each host is a process with its own namespaces.
pub(super) const HOSTS_MAX: usize = 256;
/// Maximum number of digits of a host's number.
const DIGITS_MAX: usize = 4;

impl Reader<'_> {
    /// Returns the names to which `pattern` expands, in its order; never empty.
    pub(crate) fn host_names(&mut self, pattern: &str, place: Span) -> Option<Vec<String>> {
        let names = match expanded(pattern) {
            Ok(names) => names,
            Err(hint) => {
                let message = format!("`{pattern}` is not a host name or a pattern");
                return self.fail(Code::LabPattern, place, message, hint);
            }
        };
        let Some(left) = self.names_left.checked_sub(names.len()) else {
            let hint = "use fewer or shorter patterns";
            return self.fail(Code::LabTooMany, place, "the file's patterns expand to too many hosts", hint);
        };
        self.names_left = left;
        match names.iter().find(|name| !is_host_name(name)) {
            Some(name) => self.bad_host_name(name, place, "a host"),
            None => Some(names),
        }
    }
}

/// Returns the names to which `pattern` expands. The error is a hint about the correct form.
pub(crate) fn expanded(pattern: &str) -> Result<Vec<String>, String> {
    let shape = || "use one pair of brackets with numbers: app[1-4], app[01-20], app[1,3,7-9]".to_owned();
    let Some((head, rest)) = pattern.split_once('[') else {
        return if pattern.contains(']') { Err(shape()) } else { Ok(vec![pattern.to_owned()]) };
    };
    let (numbers, tail) = rest.split_once(']').ok_or_else(shape)?;
    if tail.contains(['[', ']']) {
        return Err(shape());
    }
    let mut names = Vec::new();
    for part in numbers.split(',') {
        let part = part.trim();
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if first.len().max(last.len()) > DIGITS_MAX {
            return Err(shape());
        }
        let range = NumberRange::parse(first, last).ok_or_else(shape)?;
        if range.is_backwards() {
            return Err(format!("write the smaller number first: {head}[{last}-{first}]{tail}"));
        }
        if names.len() as u64 + range.span() >= HOSTS_MAX as u64 {
            return Err(format!("a lab has at most {HOSTS_MAX} hosts"));
        }
        names.extend(range.numbers(1).map(|number| format!("{head}{number}{tail}")));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::expanded;

    fn check(pattern: &str, names: &[&str]) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(expanded(pattern), Ok(names), "{pattern}");
    }

    #[test]
    fn patterns_are_written_out() {
        check("lb1", &["lb1"]);
        check("load[1-3]", &["load1", "load2", "load3"]);
        check("app[08-10]", &["app08", "app09", "app10"]);
        check("app[1,3,7-8]-b", &["app1-b", "app3-b", "app7-b", "app8-b"]);
    }

    #[test]
    fn what_is_none_is_refused_with_advice() {
        for (pattern, hint) in [
            ("app[", "brackets"),
            ("app]", "brackets"),
            ("app[]", "brackets"),
            ("app[a-c]", "brackets"),
            ("app[1-2][1-2]", "brackets"),
            ("app[99999]", "brackets"),
            ("app[4-1]", "app[1-4]"),
            ("app[1-257]", "256"),
            ("app[1-200,201-300]", "256"),
        ] {
            let found = expanded(pattern).expect_err(pattern);
            assert!(found.contains(hint), "{pattern}: {found}");
        }
    }
}
