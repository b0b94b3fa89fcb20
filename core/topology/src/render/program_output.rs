//! [`ConfigMessage`]: a program's message about a configuration, parsed from its output.

/// Maximum length in bytes of a message that is passed on.
const WORDS_BYTES_MAX: usize = 4_000;
/// Maximum number of complaints that are passed on. The first ones are kept, since later ones often
/// follow from them.
const COMPLAINTS_MAX: usize = 8;

/// A message of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigMessage {
    /// The text in one line, without times, process ids and our own paths.
    pub words: String,
    /// The line of the configuration to which it refers, from 1.
    pub line: Option<usize>,
}

/// How the output of a program about its configuration is read. The second argument is the name of
/// the configuration.
#[derive(Clone, Copy, Debug)]
pub struct OutputParser {
    /// Returns why the program did not accept its configuration, or did not start with it.
    pub error: fn(&str, &str) -> ConfigMessage,
    /// Returns what the program warned of when it accepted its configuration.
    pub warnings: fn(&str, &str) -> Vec<ConfigMessage>,
}

/// The output of `nginx -t`: `… [emerg] 7#7: unknown directive "x" in /path/nginx.conf:12`. A
/// message about another, included file keeps the path of that file.
pub const NGINX_OUTPUT: OutputParser = OutputParser {
    error: |output, config| {
        joined(&nginx_lines(output, config, &["[emerg] ", "[alert] ", "[crit] "]), output)
    },
    warnings: |output, config| nginx_lines(output, config, &["[warn] "]),
};

/// The output of `haproxy -c`: `[ALERT]    (7) : config : parsing [/path/haproxy.cfg:12] : unknown
/// keyword …`.
pub const HAPROXY_OUTPUT: OutputParser = OutputParser {
    error: |output, config| joined(&haproxy_lines(output, config, "[ALERT]"), output),
    warnings: |output, config| haproxy_lines(output, config, "[WARNING]"),
};

/// The output of `nft --check`: `RULES.nft:12:5-8: Error: syntax error, unexpected …`, followed by
/// the line and arrows below it.
pub const NFT_OUTPUT: OutputParser = OutputParser {
    error: |output, rules| joined(&nft_lines(output, rules), output),
    warnings: |_, _| Vec::new(),
};

/// The output of `keepalived --config-test`: `(/path/keepalived.conf: Line 6) Invalid lvs_scheduler
/// …`.
pub const KEEPALIVED_OUTPUT: OutputParser = OutputParser {
    error: |output, config| joined(&keepalived_lines(output, config), output),
    warnings: keepalived_lines,
};

fn nginx_lines(output: &str, config: &str, levels: &[&str]) -> Vec<ConfigMessage> {
    let message = |line: &str| {
        let (_, rest) = levels.iter().find_map(|level| line.split_once(level))?;
        // `PID#THREAD: `, which is missing in the first lines after the start.
        let numbered = |head: &str| head.bytes().all(|byte| byte.is_ascii_digit() || byte == b'#');
        let words = match rest.split_once(": ") {
            Some((head, words)) if numbered(head) => words,
            _ => rest,
        };
        Some(
            match words.rsplit_once(" in ").and_then(|(words, place)| Some((words, line_in(place, config)?)))
            {
                Some((words, line)) => ConfigMessage { words: clipped(words), line: Some(line) },
                None => ConfigMessage { words: clipped(words), line: None },
            },
        )
    };
    once_each(output.lines().filter_map(message))
}

fn haproxy_lines(output: &str, config: &str, level: &str) -> Vec<ConfigMessage> {
    let mut messages: Vec<String> = Vec::new();
    let mut continues = false;
    for line in output.lines() {
        if let Some(more) = line.trim_start().strip_prefix("| ").filter(|_| line.starts_with(' ')) {
            if let Some(last) = messages.last_mut().filter(|_| continues) {
                last.push(' ');
                last.push_str(more.trim());
            }
            continue;
        }
        // Before 2.4: `[ALERT] 325/162230 (7) : …`, without `config`.
        let own = line.strip_prefix(level).and_then(|rest| rest.split_once(") : "));
        continues = own.is_some();
        messages.extend(own.map(|(_, rest)| rest.trim().to_owned()).filter(|rest| !rest.is_empty()));
    }
    let summary = |text: &str| HAPROXY_SUMMARIES.iter().any(|part| text.contains(part));
    let message = |text: &String| {
        let text = text.strip_prefix("config : ").unwrap_or(text);
        let (line, words) = without_places(text, config);
        Some(ConfigMessage { words: clipped(&words), line }).filter(|one| !summary(&one.words))
    };
    let some = once_each(messages.iter().filter_map(message));
    if !some.is_empty() {
        return some;
    }
    // Nothing but a summary.
    messages.iter().map(|text| ConfigMessage { words: clipped(text), line: None }).collect()
}

/// Messages that only sum up the others.
const HAPROXY_SUMMARIES: [&str; 4] = [
    "Error(s) found in",
    "Fatal errors found in",
    "Failed to initialize server(s) addr",
    "Some protocols failed to start their listeners",
];

/// Removes places in the configuration from a message, and returns the first of them. Some parsers
/// of `HAProxy` print it twice: `parsing [h.cfg:5] : parsing [h.cfg:5] : …`; others in the middle:
/// `Binding [h.cfg:7] for frontend f: …`.
fn without_places(text: &str, config: &str) -> (Option<usize>, String) {
    let (mut line, mut rest) = (None, text.to_owned());
    while let Some((start, end, number)) = place_in(&rest, config) {
        line = line.or(Some(number));
        let behind = rest[end..].trim_start_matches([' ', ':']);
        let before = rest[..start].trim_end();
        let before = before.strip_suffix("parsing").unwrap_or(before).trim_end();
        rest = if before.is_empty() { behind.to_owned() } else { format!("{before} {behind}") };
    }
    (line, rest)
}

/// Returns where `[PATH:LINE]` of the configuration is in a message, and the line.
fn place_in(text: &str, config: &str) -> Option<(usize, usize, usize)> {
    text.match_indices('[').find_map(|(start, _)| {
        let inside = text[start + 1..].split_once(']')?.0;
        Some((start, start + inside.len() + 2, line_in(inside, config)?))
    })
}

fn nft_lines(output: &str, rules: &str) -> Vec<ConfigMessage> {
    let message = |line: &str| {
        let (place, words) = line.split_once(": Error: ")?;
        let (file, columns) = place.split_once(':')?;
        let ours = file.rsplit('/').next() == Some(rules);
        let line = columns.split(':').next()?.parse().ok().filter(|_| ours);
        Some(ConfigMessage { words: clipped(words), line })
    };
    output.lines().find_map(message).into_iter().collect()
}

fn keepalived_lines(output: &str, config: &str) -> Vec<ConfigMessage> {
    let message = |line: &str| {
        let (place, words) = line.split_once('(')?.1.split_once(") ")?;
        let (file, number) = place.split_once(": Line ")?;
        let ours = file.rsplit('/').next() == Some(config);
        Some(ConfigMessage { words: clipped(words), line: number.parse().ok().filter(|_| ours) })
    };
    once_each(output.lines().filter_map(message))
}

/// Returns the first messages without repetitions.
fn once_each(messages: impl Iterator<Item = ConfigMessage>) -> Vec<ConfigMessage> {
    let mut all = Vec::new();
    for message in messages {
        if all.len() < COMPLAINTS_MAX && !all.contains(&message) {
            all.push(message);
        }
    }
    all
}

/// Joins messages into one. The line of the first one is that of all; others name theirs.
fn joined(messages: &[ConfigMessage], output: &str) -> ConfigMessage {
    if messages.is_empty() {
        return last_message(output);
    }
    let line = messages.iter().find_map(|one| one.line);
    let text = |one: &ConfigMessage| match one.line.filter(|own| line != Some(*own)) {
        Some(other) => format!("line {other}: {}", one.words),
        None => one.words.clone(),
    };
    let words = messages.iter().map(text).collect::<Vec<_>>().join("; ");
    ConfigMessage { words: clipped(&words), line }
}

/// Returns the line of `PATH:LINE` if the path is `config`.
fn line_in(place: &str, config: &str) -> Option<usize> {
    let (path, line) = place.trim().rsplit_once(':')?;
    let ours = path.rsplit('/').next() == Some(config);
    ours.then(|| line.parse().ok()).flatten()
}

/// Returns the last message of a program that ended in an unknown way: its last line, or, if that
/// only continues another by its indentation, that one and what follows.
pub fn last_message(output: &str) -> ConfigMessage {
    let lines: Vec<&str> =
        output.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("wavetank:")).collect();
    let start = lines.iter().rposition(|line| !line.starts_with([' ', '\t'])).unwrap_or(0);
    let words: Vec<&str> = lines[start.min(lines.len())..].iter().map(|line| line.trim()).collect();
    let words = words.join(" ");
    ConfigMessage { words: clipped(if words.is_empty() { NOTHING_SAID } else { &words }), line: None }
}

/// The message of a program without output.
pub const NOTHING_SAID: &str = "it said nothing";

/// Returns the line of the user's nginx configuration that names the address of a message such as
/// `bind() to 10.0.0.1:80 failed (…)`, which has no line of its own.
pub fn nginx_listen_line(words: &str, config: &str) -> Option<usize> {
    let address = words.strip_prefix("bind() to ")?.split(' ').next()?;
    let port = address.rsplit(':').next()?;
    let listens = |line: &str, named: &str| {
        let mut words = line.split_whitespace().map(|word| word.trim_end_matches(';'));
        words.next() == Some("listen") && words.next() == Some(named)
    };
    let found = |named: &str| config.lines().position(|line| listens(line, named));
    [address, port, &format!("*:{port}")].iter().find_map(|named| found(named)).map(|index| index + 1)
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
        check(&(NGINX_OUTPUT.error)(output, "nginx.conf"), "unknown directive \"lissten\"", Some(2));
        let old = "nginx: [emerg] host not found in upstream \"app9:80\" in /run/x/nginx.conf:14\n";
        check(&(NGINX_OUTPUT.error)(old, "nginx.conf"), "host not found in upstream \"app9:80\"", Some(14));
        let no_line =
            "2026/11/22 16:22:31 [emerg] 7#7: bind() to 0.0.0.0:80 failed (98: Address already in use)\n";
        check(
            &(NGINX_OUTPUT.error)(no_line, "nginx.conf"),
            "bind() to 0.0.0.0:80 failed (98: Address already in use)",
            None,
        );
        let included = "nginx: [emerg] unknown directive \"x\" in /etc/nginx/extra.conf:3\n";
        check(
            &(NGINX_OUTPUT.error)(included, "nginx.conf"),
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
        check(&(HAPROXY_OUTPUT.error)(output, "h.cfg"), words, Some(5));
        let old = "[ALERT] 325/162230 (1963) : parsing [/etc/h.cfg:2] : unknown keyword 'maxcon'\n";
        check(&(HAPROXY_OUTPUT.error)(old, "h.cfg"), "unknown keyword 'maxcon'", Some(2));
    }

    #[test]
    fn haproxy_names_a_place_in_several_ways() {
        let output = "[ALERT]    (7) : Binding [/run/x/h.cfg:7] for frontend fe: cannot bind socket (Cannot assign requested address) for [10.0.0.1:80]\n\
                      [ALERT]    (7) : [haproxy.main()] Some protocols failed to start their listeners! Exiting.\n";
        let words =
            "Binding for frontend fe: cannot bind socket (Cannot assign requested address) for [10.0.0.1:80]";
        check(&(HAPROXY_OUTPUT.error)(output, "h.cfg"), words, Some(7));
        let output = "[ALERT]    (7) : config : parsing [h.cfg:4]: 'http-request' expects 'a', but got 'b'.\n\
                      [ALERT]    (7) : config : [/x/h.cfg:9] : 'server be/s0' : could not resolve address 'a.b'.\n\
                      [ALERT]    (7) : config : Failed to initialize server(s) addr.\n";
        let words = "'http-request' expects 'a', but got 'b'.; line 9: 'server be/s0' : could not resolve address 'a.b'.";
        check(&(HAPROXY_OUTPUT.error)(output, "h.cfg"), words, Some(4));
        let only = "[ALERT]    (7) : [haproxy.main()] Cannot raise FD limit to 10017, limit is 2000.\n";
        let words = "[haproxy.main()] Cannot raise FD limit to 10017, limit is 2000.";
        check(&(HAPROXY_OUTPUT.error)(only, "h.cfg"), words, None);
    }

    #[test]
    fn warnings_are_whole_and_each_is_there_once() {
        let output = "[WARNING]  (7) : config : missing timeouts for frontend 'fe'.\n   | Set them:\n   | 'client'.\n\
                      [NOTICE]   (7) : haproxy version is 2.6\n   | no part of it\n\
                      [WARNING]  (7) : config : parsing [h.cfg:3] : 'x' is old.\nWarnings were found.\n";
        let said = (HAPROXY_OUTPUT.warnings)(output, "h.cfg");
        assert_eq!(said.len(), 2, "{said:?}");
        check(&said[0], "missing timeouts for frontend 'fe'. Set them: 'client'.", None);
        check(&said[1], "'x' is old.", Some(3));
        let output = "nginx: [warn] the \"user\" directive is ignored in /x/nginx.conf:1\n".repeat(2);
        let said = (NGINX_OUTPUT.warnings)(&output, "nginx.conf");
        assert_eq!(said.len(), 1, "{said:?}");
        check(&said[0], "the \"user\" directive is ignored", Some(1));
    }

    #[test]
    fn a_listening_address_has_a_line() {
        let config = "http {\n  server {\n    listen 81;\n    listen 10.0.0.1:82 ssl;\n    listen *:83;\n";
        let check = |words: &str, line| assert_eq!(nginx_listen_line(words, config), line, "{words}");
        check("bind() to 0.0.0.0:81 failed (98: Address already in use)", Some(3));
        check("bind() to 10.0.0.1:82 failed (99: x)", Some(4));
        check("bind() to 0.0.0.0:83 failed", Some(5));
        check("bind() to 0.0.0.0:84 failed", None);
        check("unknown directive", None);
    }

    #[test]
    fn nft_and_keepalived_as_they_speak() {
        let output = "/run/x/web.nft:12:5-8: Error: syntax error, unexpected fwd\n    fwd to x\n    ^^^\n";
        check(&(NFT_OUTPUT.error)(output, "web.nft"), "syntax error, unexpected fwd", Some(12));
        check(&(NFT_OUTPUT.error)(output, "other.nft"), "syntax error, unexpected fwd", None);
        let output =
            "(/run/x/keepalived.conf: Line 6) Invalid lvs_scheduler 'mhx' - ignoring\nVirtual server …\n";
        check(
            &(KEEPALIVED_OUTPUT.error)(output, "keepalived.conf"),
            "Invalid lvs_scheduler 'mhx' - ignoring",
            Some(6),
        );
        let two = "(/x/keepalived.conf: Line 2) Unknown keyword 'a'\n(/x/keepalived.conf: Line 3) Invalid lvs_scheduler 'b' - ignoring\n";
        let words = "Unknown keyword 'a'; line 3: Invalid lvs_scheduler 'b' - ignoring";
        check(&(KEEPALIVED_OUTPUT.error)(two, "keepalived.conf"), words, Some(2));
        check(
            &(KEEPALIVED_OUTPUT.error)("keepalived: no such file\n", "keepalived.conf"),
            "keepalived: no such file",
            None,
        );
    }

    #[test]
    fn a_program_that_says_something_else() {
        check(&(NGINX_OUTPUT.error)("a library is missing\n\n", "nginx.conf"), "a library is missing", None);
        check(&(HAPROXY_OUTPUT.error)("", "h.cfg"), "it said nothing", None);
        check(&last_message("Traceback:\n  File x\nOSError: no\n  more\n"), "OSError: no more", None);
        let long = (NGINX_OUTPUT.error)(&format!("\u{7}{}", "\u{e9}".repeat(5_000)), "nginx.conf");
        assert!(long.words.len() <= WORDS_BYTES_MAX && !long.words.contains('\u{7}'));
    }
}
