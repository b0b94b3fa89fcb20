//! Applies what a finding's `fix` says to the files of a case, as an administrator would.

use serde_json::Value;

use super::case::Case;

/// Applies one fix.
pub(super) fn apply(case: &mut Case, fix: &Value) {
    let text = |key: &str| fix[key].as_str().unwrap_or_default();
    let (host, section) = (text("host"), text("section"));
    let change = Change { action: text("action"), directive: text("directive"), value: text("value") };
    match text("configured") {
        "sysctl" => add_to_map(case, host, "sysctls", change.directive, change.value),
        "systemd" => {
            let key = match change.directive {
                "LimitNOFILE" => "open_files",
                "CPUQuota" => "cpu",
                other => panic!("no limit of a host is {other}"),
            };
            add_to_map(case, host, "limits", key, change.value);
        }
        "link" => case.edit_host(host, |lines| change_link(lines, &change)),
        "nginx" => {
            let file = case.config_of(host);
            case.edit(&file, |lines| nginx(lines, section, &change));
        }
        "haproxy" => {
            let file = case.config_of(host);
            case.edit(&file, |lines| haproxy(lines, section, &change));
        }
        other => panic!("nothing is configured as {other}"),
    }
}

struct Change<'c> {
    action: &'c str,
    directive: &'c str,
    value: &'c str,
}

impl Change<'_> {
    fn is_of(&self, line: &str) -> bool {
        let line = line.trim().trim_end_matches(';');
        line.strip_prefix(self.directive).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    }

    /// The line after the change; `None` if it is removed.
    fn changed(&self, line: &str, end: &str) -> Option<String> {
        let indent = &line[..line.len() - line.trim_start().len()];
        let name: &str = self.value.split(['=', ' ']).next().unwrap_or_default();
        let has_argument = self.value.contains(' ');
        let without = || {
            let mut parts: Vec<&str> = line.trim().trim_end_matches(';').split(' ').collect();
            let place = parts.iter().position(|part| part.split('=').next() == Some(name));
            if let Some(place) = place {
                let _ = parts.drain(place..=(place + usize::from(has_argument)).min(parts.len() - 1));
            }
            parts.join(" ")
        };
        match self.action {
            "set" => Some(format!("{indent}{}{end}", self.line())),
            "parameter" => Some(format!("{indent}{} {}{end}", without(), self.value)),
            "remove_parameter" => Some(format!("{indent}{}{end}", without())),
            "remove" => None,
            other => panic!("no action is {other}"),
        }
    }

    fn line(&self) -> String {
        format!("{} {}", self.directive, self.value).trim_end().to_owned()
    }
}

/// Sets `key` in a map of a host that is written in one line: `sysctls: {a: 1, b: 2}`.
fn add_to_map(case: &mut Case, host: &str, map: &str, key: &str, value: &str) {
    case.edit_host(host, |lines| {
        let start = format!("    {map}: {{");
        let known = lines.iter().position(|line| line.starts_with(&start));
        let entries = known.map(|at| lines.remove(at)).unwrap_or_default();
        let entries =
            entries.strip_prefix(&start).and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
        let others = entries.split(", ").filter(|entry| entry.split(':').next() != Some(key));
        let all: Vec<String> = others
            .filter(|entry| !entry.is_empty())
            .map(str::to_owned)
            .chain([format!("{key}: {value}")])
            .collect();
        lines.insert(0, format!("{start}{}}}", all.join(", ")));
    });
}

fn change_link(lines: &mut [String], change: &Change<'_>) {
    let key = format!("{}: ", change.directive);
    let line = lines.iter_mut().find(|line| line.contains(&key)).expect("a link with this key");
    let (before, rest) = line.split_once(&key).expect("it has one");
    let end = rest.find([',', '}']).expect("the end of a map");
    *line = format!("{before}{key}{}{}", change.value, &rest[end..]);
}

/// Changes a configuration of nginx with one directive in a line.
fn nginx(lines: &mut Vec<String>, section: &str, change: &Change<'_>) {
    let is_directive = |line: &String| line.trim_end().ends_with(';') && change.is_of(line);
    if lines.iter().any(is_directive) {
        let changed = |line: String| {
            if is_directive(&line) { change.changed(&line, ";") } else { Some(line) }
        };
        *lines = lines.drain(..).filter_map(changed).collect();
    } else if change.action == "set" {
        let added = format!("{};", change.line());
        if section.is_empty() {
            return lines.insert(0, added);
        }
        let opens =
            |line: &String| line.trim_end().ends_with('{') && line.split_whitespace().next() == Some(section);
        let all = std::mem::take(lines);
        for line in all {
            let is_section = opens(&line);
            lines.push(line);
            if is_section {
                lines.push(added.clone());
            }
        }
    }
}

/// Changes a configuration of `HAProxy`. Of defaults, what single sections repeat changes, too.
fn haproxy(lines: &mut Vec<String>, section: &str, change: &Change<'_>) {
    if section == "global" && !lines.iter().any(|line| line == "global") {
        lines.insert(0, "global".to_owned());
    }
    let (all, mut own, mut has_own) = (std::mem::take(lines), false, false);
    for line in all {
        if !line.starts_with(' ') {
            if own && !has_own && change.action == "set" {
                lines.push(format!("  {}", change.line()));
            }
            own = line.split(' ').next() == Some(section);
            has_own = false;
            lines.push(line);
            continue;
        }
        if change.is_of(&line) && (own || section == "defaults") {
            has_own |= own;
            lines.extend(change.changed(&line, ""));
        } else {
            lines.push(line);
        }
    }
    if own && !has_own && change.action == "set" {
        lines.push(format!("  {}", change.line()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        program: fn(&mut Vec<String>, &str, &Change<'_>),
        [section, action, directive, value]: [&str; 4],
        before: &str,
        expected: &str,
    ) {
        let mut lines = before.lines().map(str::to_owned).collect();
        program(&mut lines, section, &Change { action, directive, value });
        assert_eq!(lines.join("\n"), expected);
    }

    #[test]
    fn directives_are_set_and_removed() {
        let upstream = "upstream app {\n  ip_hash;\n  server a:1 max_fails=1;\n}";
        check(
            nginx,
            ["upstream", "remove", "ip_hash", ""],
            upstream,
            "upstream app {\n  server a:1 max_fails=1;\n}",
        );
        let expected = "upstream app {\n  ip_hash;\n  server a:1 max_fails=0;\n}";
        check(nginx, ["upstream", "parameter", "server", "max_fails=0"], upstream, expected);
        check(
            nginx,
            ["upstream", "set", "keepalive", "64"],
            "upstream app {\n}",
            "upstream app {\nkeepalive 64;\n}",
        );
        check(
            nginx,
            ["server", "remove_parameter", "listen", "reuseport"],
            "listen 80 reuseport;",
            "listen 80;",
        );
        let backend = "global\n  maxconn 9\nbackend be\n  server a a:1 maxconn 4 check";
        let expected = "global\n  maxconn 4096\nbackend be\n  server a a:1 maxconn 4 check";
        check(haproxy, ["global", "set", "maxconn", "4096"], backend, expected);
        let expected = "global\n  maxconn 9\nbackend be\n  server a a:1 check maxconn 96";
        check(haproxy, ["backend", "parameter", "server", "maxconn 96"], backend, expected);
        check(
            haproxy,
            ["defaults", "set", "timeout client", "60s"],
            "defaults\n  mode http",
            "defaults\n  mode http\n  timeout client 60s",
        );
    }
}
