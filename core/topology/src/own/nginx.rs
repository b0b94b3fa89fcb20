//! [`read_nginx`]: what one file of an nginx configuration names.

use super::{Account, SyslogTarget, split_port};

/// Maximum depth of blocks that is followed.
const DEPTH_MAX: usize = 32;

/// What one file of a configuration names. Files that it includes are not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NginxConfig {
    /// Files that it includes, as written; they may be patterns.
    pub includes: Vec<String>,
    /// Files of its error logs, as written.
    pub error_logs: Vec<String>,
    /// Files of its access logs, as written.
    pub access_logs: Vec<String>,
    /// Its logs by the syslog protocol.
    pub syslog: Vec<SyslogTarget>,
    /// The first page of `stub_status`.
    pub status: Option<StatusPage>,
    /// Whether it sets `daemon` itself.
    pub says_daemon: bool,
    /// Who its workers are.
    pub account: Option<Account>,
}

/// A page with nginx's counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusPage {
    /// The UNIX socket that it is served on, or `None` for a port.
    pub socket: Option<String>,
    /// The address of its port; `None`: any.
    pub address: Option<String>,
    /// Its port.
    pub port: u16,
    /// The name of its server, for the Host field.
    pub host: Option<String>,
    /// Its path.
    pub path: String,
}

/// A directive, with its block.
struct Directive {
    words: Vec<String>,
    block: Vec<Self>,
}

/// Reads one file. Anything that is not well-formed is skipped; nginx itself reports it.
pub fn read_nginx(text: &str) -> NginxConfig {
    let mut tokens = tokens(text).into_iter();
    let mut config = NginxConfig::default();
    collect(&directives(&mut tokens, 0), &mut config);
    config
}

fn collect(directives: &[Directive], config: &mut NginxConfig) {
    for Directive { words, block } in directives {
        let argument = words.get(1).map(String::as_str);
        match (words[0].as_str(), argument) {
            ("include", Some(file)) => config.includes.push(file.to_owned()),
            ("daemon", Some(_)) => config.says_daemon = true,
            ("user", Some(user)) if config.account.is_none() => {
                // Without a group, it is the one with the user's name.
                let group = Some(words.get(2).map_or(user, String::as_str).to_owned());
                config.account = Some(Account { user: Some(user.to_owned()), group });
            }
            ("error_log", Some(to)) => log(to, &mut config.error_logs, &mut config.syslog),
            ("access_log", Some(to)) => log(to, &mut config.access_logs, &mut config.syslog),
            ("server", None) if config.status.is_none() => config.status = status(block),
            _ => {}
        }
        collect(block, config);
    }
}

/// Notes where a log goes: a file or syslog. Other places are not followed.
fn log(to: &str, files: &mut Vec<String>, syslog: &mut Vec<SyslogTarget>) {
    if let Some(options) = to.strip_prefix("syslog:") {
        let server = options.split(',').find_map(|option| option.trim().strip_prefix("server="));
        syslog.extend(server.and_then(SyslogTarget::read));
    } else if !matches!(to, "stderr" | "off") && !to.starts_with("memory:") && !to.contains('$') {
        files.push(to.to_owned());
    }
}

/// Returns the status page of a `server` block.
fn status(server: &[Directive]) -> Option<StatusPage> {
    let named = |name: &str| server.iter().find(|one| one.words[0] == name)?.words.get(1).cloned();
    let location = |one: &&Directive| one.words[0] == "location" && has_status(&one.block);
    let path = match server.iter().find(location) {
        Some(location) => location.words.last().filter(|path| path.starts_with('/'))?.clone(),
        None if has_status(server) => "/".to_owned(),
        None => return None,
    };
    let listen = named("listen").unwrap_or_else(|| "80".to_owned());
    let host = named("server_name").filter(|name| !name.contains(['*', '~', '"', '_']));
    let page = StatusPage { socket: None, address: None, port: 80, host, path };
    if let Some(socket) = listen.strip_prefix("unix:") {
        return Some(StatusPage { socket: Some(socket.to_owned()), ..page });
    }
    // A port alone, an address alone, or both.
    let (address, port) = if let Ok(port) = listen.parse::<u16>() {
        (None, port)
    } else {
        let (address, port) = split_port(&listen);
        (Some(address.to_owned()).filter(|one| one != "*"), port.unwrap_or(80))
    };
    Some(StatusPage { address, port, ..page })
}

fn has_status(block: &[Directive]) -> bool {
    block.iter().any(|one| one.words[0] == "stub_status")
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Open,
    Close,
    End,
}

fn directives(tokens: &mut std::vec::IntoIter<Token>, depth: usize) -> Vec<Directive> {
    let (mut all, mut words) = (Vec::new(), Vec::new());
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) => words.push(word),
            Token::Close => break,
            Token::Open if depth >= DEPTH_MAX => break,
            Token::End | Token::Open => {
                let block = if token == Token::Open { directives(tokens, depth + 1) } else { Vec::new() };
                let words = std::mem::take(&mut words);
                if !words.is_empty() {
                    all.push(Directive { words, block });
                }
            }
        }
    }
    all
}

/// Splits a file into tokens, by the rules of nginx: comments start a token, quotes may contain
/// anything, a backslash escapes one character.
fn tokens(text: &str) -> Vec<Token> {
    let mut all = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        match first {
            one if one.is_whitespace() => {}
            '#' => drop(chars.by_ref().find(|one| *one == '\n')),
            ';' => all.push(Token::End),
            '{' => all.push(Token::Open),
            '}' => all.push(Token::Close),
            quote @ ('"' | '\'') => {
                let mut word = String::new();
                while let Some(one) = chars.next().filter(|one| *one != quote) {
                    word.push(if one == '\\' { chars.next().unwrap_or(one) } else { one });
                }
                all.push(Token::Word(word));
            }
            first => {
                let mut word = String::new();
                let mut next = Some(first);
                while let Some(one) = next {
                    word.push(if one == '\\' { chars.next().unwrap_or(one) } else { one });
                    // `${name}` belongs to its word.
                    if word.ends_with('$') && chars.peek() == Some(&'{') {
                        word.extend(chars.by_ref().take_while(|one| *one != '}'));
                        word.push('}');
                    }
                    next = chars.next_if(|one| !one.is_whitespace() && !matches!(one, ';' | '{' | '}'));
                }
                all.push(Token::Word(word));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_and_included_files_are_found_at_any_depth() {
        let text = "\
error_log /var/log/nginx/error.log warn; # error_log /no;\n\
include 'conf.d/*.conf';\n\
http {\n  log_format a '$remote_addr; {}';\n  access_log syslog:server=127.0.0.1:5140,tag=web a;\n  \
server { listen 80; error_log syslog:server=unix:/dev/log; access_log /srv/\"a\".log;\n    \
location ~ \\.php$ { set $x \"${y}a\"; error_log stderr; access_log off; } }\n  daemon off;\n}\n";
        let found = read_nginx(text);
        assert_eq!(found.error_logs, ["/var/log/nginx/error.log"]);
        let account = |text: &str| read_nginx(text).account.map(|one| (one.user, one.group));
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(account("user nginx; events {}"), Some((named("nginx"), named("nginx"))));
        assert_eq!(account("user web www;"), Some((named("web"), named("www"))));
        assert_eq!(found.access_logs, ["/srv/\"a\".log"]);
        assert_eq!(found.includes, ["conf.d/*.conf"]);
        let local = [SyslogTarget::Local(5140), SyslogTarget::Socket("/dev/log".to_owned())];
        assert_eq!(found.syslog, local);
        assert!(found.says_daemon && found.status.is_none());
    }

    #[test]
    fn a_status_page_is_found_with_its_address() {
        let check = |server: &str, expected: Option<(Option<&str>, Option<&str>, u16, &str)>| {
            let status =
                read_nginx(&format!("http {{ server {{ listen 9; }} server {{ {server} }} }}")).status;
            let found = status
                .as_ref()
                .map(|page| (page.socket.as_deref(), page.address.as_deref(), page.port, page.path.as_str()));
            assert_eq!(found, expected, "{server}");
        };
        check("listen 81; location = /status { stub_status; }", Some((None, None, 81, "/status")));
        check("listen 127.0.0.1:8081; stub_status;", Some((None, Some("127.0.0.1"), 8081, "/")));
        check("listen [::1]:82; location /s { stub_status on; }", Some((None, Some("::1"), 82, "/s")));
        check(
            "listen unix:/run/s.sock; location /s { stub_status; }",
            Some((Some("/run/s.sock"), None, 80, "/s")),
        );
        check("location / { stub_status; }", Some((None, None, 80, "/")));
        check("listen 81; location / { return 200; }", None);
    }

    #[test]
    fn what_is_not_well_formed_is_skipped() {
        for text in ["", "}", "{{{{", "error_log", "a 'b", "\\", "include;", &"a{".repeat(1_000)] {
            let found = read_nginx(text);
            assert!(found.error_logs.is_empty() && found.includes.is_empty(), "{text}");
        }
    }
}
