//! [`ConfigMessage`]: a program's message about a configuration, parsed from its output.

/// Maximum length in bytes of a message that is passed on.
const WORDS_BYTES_MAX: usize = 600;
/// Maximum number of complaints that are passed on. The first ones are kept, since later ones often
/// follow from them.
const COMPLAINTS_MAX: usize = 3;

/// A message of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigMessage {
    /// The text in one line, without times, process ids and our own paths.
    pub words: String,
    /// The line of the configuration to which it refers, from 1.
    pub line: Option<usize>,
}

/// Parses the output of `nginx -t`: `… [emerg] 7#7: unknown directive "x" in /path/nginx.conf:12`.
/// `config` is the file's name. A message about another, included file keeps the path of that file.
pub fn parse_nginx_error(output: &str, config: &str) -> ConfigMessage {
    let grave = output.lines().find_map(|line| {
        let (_, rest) =
            ["[emerg] ", "[alert] ", "[crit] "].iter().find_map(|level| line.split_once(level))?;
        // `PID#THREAD: `, which is missing in the first lines after the start.
        let numbered = |head: &str| head.bytes().all(|byte| byte.is_ascii_digit() || byte == b'#');
        Some(match rest.split_once(": ") {
            Some((head, words)) if numbered(head) => words,
            _ => rest,
        })
    });
    let Some(words) = grave else { return last(output) };
    match words.rsplit_once(" in ").and_then(|(words, place)| Some((words, line_in(place, config)?))) {
        Some((words, line)) => ConfigMessage { words: clipped(words), line: Some(line) },
        None => ConfigMessage { words: clipped(words), line: None },
    }
}

/// Parses the output of `haproxy -c`: `[ALERT]    (7) : config : parsing [/path/haproxy.cfg:12] :
/// unknown keyword …`.
pub fn parse_haproxy_error(output: &str, config: &str) -> ConfigMessage {
    let mut line = None;
    let mut words: Vec<&str> = Vec::new();
    for alert in output.lines().filter(|line| line.starts_with("[ALERT]")) {
        // Before 2.4: `[ALERT] 325/162230 (7) : …`, without `config`.
        let Some((_, rest)) = alert.split_once(") : ") else { continue };
        let mut rest = rest.strip_prefix("config : ").unwrap_or(rest);
        // Some of its parsers print the position twice.
        while let Some((place, behind)) =
            rest.strip_prefix("parsing [").and_then(|rest| rest.split_once("] : "))
        {
            line = line.or_else(|| line_in(place, config));
            rest = behind;
        }
        let summary = rest.starts_with("Error(s) found in") || rest.starts_with("Fatal errors found in");
        if !summary && !rest.trim().is_empty() && words.len() < COMPLAINTS_MAX {
            words.push(rest.trim());
        }
    }
    if words.is_empty() { last(output) } else { ConfigMessage { words: clipped(&words.join("; ")), line } }
}

/// Parses the output of `nft --check`: `RULES.nft:12:5-8: Error: syntax error, unexpected …`,
/// followed by the line and arrows below it.
pub fn parse_nft_error(output: &str, rules: &str) -> ConfigMessage {
    let found = output.lines().find_map(|line| {
        let (place, words) = line.split_once(": Error: ")?;
        let (file, columns) = place.split_once(':')?;
        let ours = file.rsplit('/').next() == Some(rules);
        Some((words, columns.split(':').next()?.parse().ok().filter(|_| ours)))
    });
    let Some((words, line)) = found else { return last(output) };
    ConfigMessage { words: clipped(words), line }
}

/// Parses the output of `keepalived --config-test`: `(/path/keepalived.conf: Line 6) Invalid
/// lvs_scheduler …`.
pub fn parse_keepalived_error(output: &str, config: &str) -> ConfigMessage {
    let found = output.lines().find_map(|line| {
        let (place, words) = line.split_once('(')?.1.split_once(") ")?;
        let (file, number) = place.split_once(": Line ")?;
        let ours = file.rsplit('/').next() == Some(config);
        Some((words, number.parse().ok().filter(|_| ours)))
    });
    let Some((words, line)) = found else { return last(output) };
    ConfigMessage { words: clipped(words), line }
}

/// Returns the line of `PATH:LINE` if the path is `config`.
fn line_in(place: &str, config: &str) -> Option<usize> {
    let (path, line) = place.trim().rsplit_once(':')?;
    let ours = path.rsplit('/').next() == Some(config);
    ours.then(|| line.parse().ok()).flatten()
}

/// Returns the last message of a program that ended in an unknown way.
fn last(output: &str) -> ConfigMessage {
    let line = output.lines().map(str::trim).rfind(|line| !line.is_empty());
    ConfigMessage { words: clipped(line.unwrap_or("it said nothing")), line: None }
}

fn clipped(words: &str) -> String {
    let clean: String = words.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
    let end = (0..=WORDS_BYTES_MAX.min(clean.len())).rev().find(|end| clean.is_char_boundary(*end));
    clean[..end.unwrap_or_default()].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: &ConfigMessage, words: &str, line: Option<usize>) {
        assert_eq!((said.words.as_str(), said.line), (words, line));
    }

    #[test]
    fn nginx_as_it_speaks() {
        let output = "2026/11/22 16:22:31 [emerg] 22495#22495: unknown directive \"lissten\" in /run/x/nginx.conf:2\n\
                      nginx: configuration file /run/x/nginx.conf test failed\n";
        check(&parse_nginx_error(output, "nginx.conf"), "unknown directive \"lissten\"", Some(2));
        let old = "nginx: [emerg] host not found in upstream \"app9:80\" in /run/x/nginx.conf:14\n";
        check(&parse_nginx_error(old, "nginx.conf"), "host not found in upstream \"app9:80\"", Some(14));
        let no_line =
            "2026/11/22 16:22:31 [emerg] 7#7: bind() to 0.0.0.0:80 failed (98: Address already in use)\n";
        check(
            &parse_nginx_error(no_line, "nginx.conf"),
            "bind() to 0.0.0.0:80 failed (98: Address already in use)",
            None,
        );
        let included = "nginx: [emerg] unknown directive \"x\" in /etc/nginx/extra.conf:3\n";
        check(
            &parse_nginx_error(included, "nginx.conf"),
            "unknown directive \"x\" in /etc/nginx/extra.conf:3",
            None,
        );
    }

    #[test]
    fn haproxy_as_it_speaks() {
        let output = "[NOTICE]   (7) : haproxy version is 2.6.12-1+deb12u4\n\
                      [ALERT]    (7) : config : parsing [h.cfg:5] : parsing [h.cfg:5] : 'stats socket' : missing port\n\n\
                      [ALERT]    (7) : config : Proxy 'in': unable to find required default_backend: 'x'.\n\
                      [ALERT]    (7) : config : Error(s) found in configuration file : h.cfg\n\
                      [ALERT]    (7) : config : Fatal errors found in configuration.\n";
        let words =
            "'stats socket' : missing port; Proxy 'in': unable to find required default_backend: 'x'.";
        check(&parse_haproxy_error(output, "h.cfg"), words, Some(5));
        let old = "[ALERT] 325/162230 (1963) : parsing [/etc/h.cfg:2] : unknown keyword 'maxcon'\n";
        check(&parse_haproxy_error(old, "h.cfg"), "unknown keyword 'maxcon'", Some(2));
    }

    #[test]
    fn nft_and_keepalived_as_they_speak() {
        let output = "/run/x/web.nft:12:5-8: Error: syntax error, unexpected fwd\n    fwd to x\n    ^^^\n";
        check(&parse_nft_error(output, "web.nft"), "syntax error, unexpected fwd", Some(12));
        check(&parse_nft_error(output, "other.nft"), "syntax error, unexpected fwd", None);
        let output =
            "(/run/x/keepalived.conf: Line 6) Invalid lvs_scheduler 'mhx' - ignoring\nVirtual server …\n";
        check(
            &parse_keepalived_error(output, "keepalived.conf"),
            "Invalid lvs_scheduler 'mhx' - ignoring",
            Some(6),
        );
        check(
            &parse_keepalived_error("keepalived: no such file\n", "keepalived.conf"),
            "keepalived: no such file",
            None,
        );
    }

    #[test]
    fn a_program_that_says_something_else() {
        check(&parse_nginx_error("a library is missing\n\n", "nginx.conf"), "a library is missing", None);
        check(&parse_haproxy_error("", "h.cfg"), "it said nothing", None);
        let long = parse_nginx_error(&format!("\u{7}{}", "\u{e9}".repeat(1_000)), "nginx.conf");
        assert!(long.words.len() <= WORDS_BYTES_MAX && !long.words.contains('\u{7}'));
    }
}
