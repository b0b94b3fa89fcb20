//! Ranges of host names, as pdsh and Slurm write them: `load[01-16,20]`, `rack[1-2]node[01-10]`.

use wavetank_units::{Code, NumberRange, UserError, did_you_mean};

/// Maximum number of hosts of one list.
pub const HOSTS_MAX: usize = 100_000;

/// Longest host name (RFC 1035 §2.3.4).
const NAME_BYTES_MAX: usize = 253;

/// Returns the hosts of a list such as `lb1,load[01-20]`, in order, each once.
///
/// Numbers in brackets are ranges (`1-3`) or single (`7`), separated by commas. Leading zeros give
/// the width: `[08-10]` is 08, 09, 10. A name may have several brackets.
///
/// # Errors
/// Code `bad_host_list`: brackets that do not close, ranges that go down, names that are no host
/// names, or more than [`HOSTS_MAX`] hosts.
pub fn expand_hosts(text: &str) -> Result<Vec<String>, UserError> {
    let mut names: Vec<String> = Vec::new();
    for pattern in split_list(text)? {
        expand_pattern(pattern, &mut names)?;
    }
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    if names.is_empty() {
        return Err(bad(format!("`{text}` names no host"), "for example: load[01-20],lb1"));
    }
    Ok(names)
}

/// Returns a list that [`expand_hosts`] expands to these hosts, with ranges where names differ in
/// their last number only. Hosts stay in order, so only neighbours share brackets.
pub fn fold_hosts(names: &[String]) -> String {
    let mut parts: Vec<FoldedPart<'_>> = Vec::new();
    for name in names {
        let number = last_number(name);
        match (parts.last_mut(), &number) {
            (Some(part), Some(number)) if part.takes(number) => part.push(number.digits),
            (_, Some(number)) => {
                parts.push(FoldedPart::Range(number.clone(), vec![(number.digits, number.digits)]));
            }
            (_, None) => parts.push(FoldedPart::Name(name)),
        }
    }
    parts.iter().map(FoldedPart::text).collect::<Vec<_>>().join(",")
}

/// A name around its last number.
#[derive(Clone, Debug)]
struct NumberedName<'a> {
    before: &'a str,
    digits: &'a str,
    after: &'a str,
}

/// Names with equal text around their number, or one name.
enum FoldedPart<'a> {
    Name(&'a str),
    Range(NumberedName<'a>, Vec<(&'a str, &'a str)>),
}

impl<'a> FoldedPart<'a> {
    /// Whether a name has the same text around its number.
    fn takes(&self, number: &NumberedName<'_>) -> bool {
        matches!(self, Self::Range(first, _) if first.before == number.before && first.after == number.after)
    }

    fn push(&mut self, digits: &'a str) {
        let Self::Range(_, ranges) = self else { return };
        match ranges.last_mut() {
            Some((_, last)) if follows(last, digits) => *last = digits,
            _ => ranges.push((digits, digits)),
        }
    }

    fn text(&self) -> String {
        let (name, ranges) = match self {
            Self::Name(name) => return (*name).to_owned(),
            Self::Range(name, ranges) => (name, ranges),
        };
        if let [(first, last)] = ranges.as_slice()
            && first == last
        {
            return format!("{}{first}{}", name.before, name.after);
        }
        let range = |(first, last): &(&str, &str)| {
            if first == last { (*first).to_owned() } else { format!("{first}-{last}") }
        };
        let inside: Vec<String> = ranges.iter().map(range).collect();
        format!("{}[{}]{}", name.before, inside.join(","), name.after)
    }
}

/// Whether `next` is the number after `last`, written with the same width.
fn follows(last: &str, next: &str) -> bool {
    let (Ok(a), Ok(b)) = (last.parse::<u64>(), next.parse::<u64>()) else { return false };
    let padded = last.starts_with('0') || next.starts_with('0');
    b == a + 1 && (last.len() == next.len() || !padded)
}

/// Splits a name at its last number. An address has none, because `10.0.0.[1-2]` is harder to read.
fn last_number(name: &str) -> Option<NumberedName<'_>> {
    if name.parse::<std::net::IpAddr>().is_ok() {
        return None;
    }
    // The number of the first label: `web1.dc2` is a host of `web[1-9].dc2`.
    let label_end = name.find('.').unwrap_or(name.len());
    let end = name[..label_end].rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = name[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    // Names with more digits than a number has stay as they are.
    (end - start <= 18).then(|| NumberedName {
        before: &name[..start],
        digits: &name[start..end],
        after: &name[end..],
    })
}

/// Splits a list at commas and white space outside brackets.
pub(crate) fn split_list(text: &str) -> Result<Vec<&str>, UserError> {
    let (mut parts, mut start, mut open) = (Vec::new(), 0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' if open => return Err(bad(format!("`{text}` has brackets inside brackets"), "load[01-20]")),
            b'[' => open = true,
            b']' if !open => {
                return Err(bad(format!("`{text}` closes a bracket that is not open"), "load[01-20]"));
            }
            b']' => open = false,
            b',' | b' ' | b'\t' | b'\n' if !open => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if open {
        return Err(bad(
            format!("`{text}` does not close its bracket"),
            "load[01-20]; quote it for the shell",
        ));
    }
    parts.push(&text[start..]);
    Ok(parts.into_iter().filter(|part| !part.is_empty()).collect())
}

/// Adds the names of one pattern.
fn expand_pattern(pattern: &str, names: &mut Vec<String>) -> Result<(), UserError> {
    let mut made = vec![String::new()];
    let mut rest = pattern;
    while let Some((fixed, tail)) = rest.split_once('[') {
        let (inside, after) = tail.split_once(']').unwrap_or((tail, ""));
        let numbers = numbers(inside, pattern)?;
        if made.len().saturating_mul(numbers.len()).saturating_add(names.len()) > HOSTS_MAX {
            return Err(bad(format!("`{pattern}` is more than {HOSTS_MAX} hosts"), "use smaller ranges"));
        }
        made = made
            .iter()
            .flat_map(|start| numbers.iter().map(move |number| format!("{start}{fixed}{number}")))
            .collect();
        rest = after;
    }
    for name in &mut made {
        name.push_str(rest);
        check_name(name)?;
    }
    names.append(&mut made);
    Ok(())
}

/// Returns the numbers in brackets, as they are written. Ansible writes ranges with a colon, also
/// of letters and with a step: `[a:f]`, `[01:50:2]`.
fn numbers(inside: &str, pattern: &str) -> Result<Vec<String>, UserError> {
    let no_range = || {
        let message = format!("`[{inside}]` in `{pattern}` is not a range of numbers");
        bad(message, "for example: load[01-16,20]")
    };
    let mut all = Vec::new();
    for part in inside.split(',') {
        let (ends, step) =
            match part.split_once(':').and_then(|(first, rest)| Some((first, rest.split_once(':')?))) {
                Some((first, (last, step))) => ((first, last), step.parse().ok().filter(|step| *step > 0)),
                None => (part.split_once(['-', ':']).unwrap_or((part, part)), Some(1)),
            };
        let step: usize = step.ok_or_else(no_range)?;
        if let (&[first @ b'a'..=b'z'], &[last @ b'a'..=b'z']) = (ends.0.as_bytes(), ends.1.as_bytes()) {
            all.extend((first..=last).step_by(step).map(|letter| char::from(letter).to_string()));
            continue;
        }
        let range = NumberRange::parse(ends.0, ends.1).ok_or_else(no_range)?;
        if range.is_backwards() {
            let hint = format!("{}-{}", ends.1, ends.0);
            return Err(bad(format!("the range {part} in `{pattern}` goes down"), hint));
        }
        if all.len() as u64 + range.span() >= HOSTS_MAX as u64 {
            return Err(bad(format!("`{pattern}` is more than {HOSTS_MAX} hosts"), "use smaller ranges"));
        }
        all.extend(range.numbers(step));
    }
    if all.is_empty() { Err(no_range()) } else { Ok(all) }
}

/// Refuses what ssh would take for an option, and what no host is called.
pub(crate) fn check_name(name: &str) -> Result<(), UserError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:%".contains(&byte);
    if name.starts_with('-') || name.len() > NAME_BYTES_MAX || !name.bytes().all(allowed) {
        let hint = match name.split_once('@') {
            Some((user, host)) => {
                format!("{host}; the login name goes into ssh's configuration, or --user {user}")
            }
            None => "names have letters, digits, dots and dashes".to_owned(),
        };
        return Err(bad(format!("`{name}` is not the name of a host"), hint));
    }
    Ok(())
}

/// Returns the error for a host that is not in a list, with the closest name of the list.
pub(crate) fn not_listed(what: &str, name: &str, known: &[&str]) -> UserError {
    let hint = did_you_mean(name, known.iter().copied()).map_or_else(
        || format!("known: {}", known.iter().take(8).copied().collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean {near}?"),
    );
    bad(format!("there is no {what} `{name}`"), hint)
}

pub(crate) fn bad(message: impl Into<String>, hint: impl Into<String>) -> UserError {
    UserError::usage(Code::BadHostList, message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(expand_hosts(text).expect("hosts").join(" "), expected, "{text}");
    }

    #[track_caller]
    fn check_refused(text: &str, part: &str) {
        let error = expand_hosts(text).expect_err(text);
        assert!(error.message.contains(part), "{text}: {error}");
    }

    #[test]
    fn ranges_expand() {
        check("load[08-11]", "load08 load09 load10 load11");
        check("a[1-3,7]x.example,lb1", "a1x.example a2x.example a3x.example a7x.example lb1");
        check("r[1-2]n[01-02]", "r1n01 r1n02 r2n01 r2n02");
        check("b, a a", "b a");
        check("10.0.0.[1-2] fe80::1%eth0", "10.0.0.1 10.0.0.2 fe80::1%eth0");
        check("web[01:03] db[a:c] x[1:5:2]", "web01 web02 web03 dba dbb dbc x1 x3 x5");
    }

    #[test]
    fn what_is_no_list_is_refused() {
        check_refused("load[1-", "does not close");
        check_refused("load1]", "not open");
        check_refused("a[[1]]", "inside brackets");
        check_refused("a[3-1]", "goes down");
        check_refused("a[xy]", "not a range");
        check_refused("a[]", "not a range");
        check_refused("a[1-200000]", "more than");
        check_refused("a[1-60000,1-60000]", "more than");
        check_refused("a[1:9:0]", "not a range");
        check_refused("a[c:a]", "not a range");
        check_refused("a[a-9]", "not a range");
        check_refused("a[1-400]b[1-400]", "more than");
        check_refused("-oProxyCommand=x", "not the name");
        check_refused("ops@lb1", "not the name");
        check_refused(" , ", "names no host");
    }

    #[test]
    fn hosts_fold() {
        let check = |names: &str, expected: &str| {
            let names: Vec<String> = names.split(' ').map(str::to_owned).collect();
            assert_eq!(fold_hosts(&names), expected);
            assert_eq!(expand_hosts(expected).expect("hosts"), names, "{expected}");
        };
        check("load01 load02 load03 load05", "load[01-03,05]");
        check("load9 load10", "load[9-10]");
        check("load1", "load1");
        check("web1.dc2 web2.dc2 lb", "web[1-2].dc2,lb");
        check("10.0.0.1 10.0.0.2", "10.0.0.1,10.0.0.2");
        check("a08 a9", "a[08,9]");
    }
}
