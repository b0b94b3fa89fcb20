//! Which hosts a pattern means: `lb1`, `app[01-20]`, `web[1,3,7-9]`, `web*`.

/// The name of the host that runs `wavetank`, in archives and conditions.
pub const THIS_HOST: &str = "local";

/// Returns whether `pattern` matches the host `name`. A pattern has either one `*`, which is any
/// text, or one pair of brackets with numbers and ranges of numbers. A leading zero fixes the
/// number of digits of all numbers in a range. Text that is not a pattern matches the host with
/// exactly this name.
pub fn matches_host(pattern: &str, name: &str) -> bool {
    if let Some((head, tail)) = pattern.split_once('*') {
        return name.strip_prefix(head).is_some_and(|rest| rest.ends_with(tail));
    }
    let parts = pattern.split_once('[').and_then(|(head, rest)| Some((head, rest.split_once(']')?)));
    let Some((head, (numbers, tail))) = parts else { return pattern == name };
    let Some(middle) = name.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail)) else {
        return false;
    };
    numbers.split(',').any(|range| holds(range.trim(), middle))
}

/// Whether `range` (`3`, `1-4`, `01-20`) holds the number that is written as `digits`.
fn holds(range: &str, digits: &str) -> bool {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let number = |text: &str| -> Option<u32> {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
    };
    let (Some(from), Some(to), Some(it)) = (number(first), number(last), number(digits)) else {
        return false;
    };
    let width = if first.starts_with('0') { first.len() } else { 1 };
    (from..=to).contains(&it) && digits == format!("{it:0width$}")
}

#[cfg(test)]
mod tests {
    use super::matches_host;

    fn check(pattern: &str, means: &[&str], others: &[&str]) {
        for name in means {
            assert!(matches_host(pattern, name), "{pattern} means {name}");
        }
        for name in others {
            assert!(!matches_host(pattern, name), "{pattern} does not mean {name}");
        }
    }

    #[test]
    fn patterns_mean_what_they_write_out_to() {
        check("lb1", &["lb1"], &["lb", "lb11", ""]);
        check("load[1-3]", &["load1", "load3"], &["load0", "load4", "load03", "load", "load-1"]);
        check("app[08-10]", &["app08", "app10"], &["app8", "app008", "app11"]);
        check("app[1,3,7-8]-b", &["app1-b", "app8-b"], &["app2-b", "app1", "app1-bb"]);
        check("web*", &["web", "web1", "web-eu"], &["we", "lb1"]);
        check("*-eu", &["web-eu", "-eu"], &["eu", "web-us"]);
        check("*", &["lb1", ""], &[]);
        check("a*a", &["aa", "aba"], &["a"]);
        check("app[", &["app["], &["app"]);
        check("app[x]", &[], &["appx", "app"]);
    }
}
