//! [`read_haproxy`]: what a configuration of `HAProxy` names.

use super::{Account, SyslogTarget, split_port};

/// The path of a page of statistics that names none.
const STATS_PATH: &str = "/haproxy?stats";
/// Keywords that start a section.
const SECTIONS: [&str; 14] = [
    "global",
    "defaults",
    "frontend",
    "backend",
    "listen",
    "resolvers",
    "peers",
    "userlist",
    "cache",
    "ring",
    "program",
    "mailers",
    "http-errors",
    "fcgi-app",
];

/// What a configuration names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HaproxyConfig {
    /// Its logs by the syslog protocol.
    pub syslog: Vec<SyslogTarget>,
    /// The folder that the program moves its root to.
    pub chroot: Option<String>,
    /// Who it becomes, and who its sockets belong to.
    pub accounts: Vec<Account>,
    /// Paths of its statistics sockets.
    pub stats_sockets: Vec<String>,
    /// `maxconn` of `global`, with its line from 1.
    pub maxconn: Option<(u64, usize)>,
    /// `ulimit-n` of `global`, with its line from 1.
    pub ulimit_n: Option<(u64, usize)>,
    /// `nbthread` of `global`.
    pub threads: Option<u64>,
    /// Number of `server` lines.
    pub servers: u64,
    /// Whether it starts with less than it needs: `no strict-limits`.
    pub is_lenient: bool,
    /// Its `frontend` and `listen` sections.
    pub frontends: Vec<HaproxyFrontend>,
}

/// A `frontend` or `listen` section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HaproxyFrontend {
    /// Its name.
    pub name: String,
    /// The ports that it binds.
    pub ports: Vec<u16>,
    /// The path of its page of statistics, if it has one.
    pub stats: Option<String>,
}

/// Reads a configuration. Anything unknown is skipped; `HAProxy` itself reports mistakes.
pub fn read_haproxy(text: &str) -> HaproxyConfig {
    let mut config = HaproxyConfig::default();
    let mut section = String::new();
    for (index, line) in text.lines().enumerate() {
        let words = words(line);
        let word = |index: usize| words.get(index).map_or("", String::as_str);
        if SECTIONS.contains(&word(0)) {
            word(0).clone_into(&mut section);
        }
        match (section.as_str(), word(0), word(1)) {
            (_, "frontend" | "listen", name) => {
                let name = name.to_owned();
                config.frontends.push(HaproxyFrontend { name, ..HaproxyFrontend::default() });
                // The oldest form has the address in the section's line.
                config.bind(word(2));
            }
            ("frontend" | "listen", "bind", address) => config.bind(address),
            ("frontend" | "listen", "stats", setting @ ("enable" | "uri")) => {
                let Some(front) = config.frontends.last_mut() else { continue };
                let path = if setting == "uri" { word(2) } else { STATS_PATH };
                if setting == "uri" || front.stats.is_none() {
                    front.stats = Some(path.to_owned());
                }
            }
            (_, "log", to) => config.syslog.extend(SyslogTarget::read(to)),
            ("global", "chroot", to) => config.chroot = Some(to.to_owned()),
            ("global", "stats", "socket") => {
                config.stats_sockets.push(word(2).to_owned());
                let named =
                    |name: &str| words.iter().position(|one| one == name).map(|at| word(at + 1).to_owned());
                config.accounts.push(Account { user: named("user"), group: named("group") });
            }
            ("global", "user", name) => {
                config.accounts.push(Account { user: Some(name.to_owned()), group: None });
            }
            ("global", "group", name) => {
                config.accounts.push(Account { user: None, group: Some(name.to_owned()) });
            }
            ("global", "maxconn", number) => config.maxconn = counted(number, index),
            ("global", "nbthread", number) => config.threads = number.parse().ok(),
            ("global", "no", "strict-limits") => config.is_lenient = true,
            ("backend" | "listen", "server", _) => config.servers += 1,
            ("global", "ulimit-n", number) => config.ulimit_n = counted(number, index),
            _ => {}
        }
    }
    config
}

impl HaproxyConfig {
    /// Returns how many files the program may need in addition to two for each connection, with
    /// `cpus` threads unless it sets their number: ten of its own, a poller and a pipe for each
    /// thread, one for each listening socket, and one for the check of each server
    /// (`compute_ideal_maxsock`).
    pub fn files_without_connections(&self, cpus: u32) -> u64 {
        let listeners: usize = self.frontends.iter().map(|front| front.ports.len()).sum();
        let threads = self.threads.unwrap_or(u64::from(cpus)).max(1);
        10 + 3 * threads + (listeners + self.stats_sockets.len()) as u64 + self.servers
    }

    /// Adds the ports of `*:80,:443`, `[::]:8080`, `127.0.0.1:81-83` to the last section.
    fn bind(&mut self, addresses: &str) {
        let Some(front) = self.frontends.last_mut() else { return };
        for address in addresses.split(',') {
            let range = address.rsplit_once(':').and_then(|(_, range)| range.split_once('-'));
            let range = range.map(|(first, last)| (first.parse(), last.parse()));
            match (split_port(address).1, range) {
                (Some(port), _) => front.ports.push(port),
                (None, Some((Ok(first), Ok(last)))) => {
                    front.ports.extend::<std::ops::RangeInclusive<u16>>(first..=last);
                }
                _ => {}
            }
        }
    }
}

fn counted(number: &str, index: usize) -> Option<(u64, usize)> {
    number.parse().ok().map(|number| (number, index + 1))
}

/// Splits a line by the rules of `HAProxy`: quotes and backslashes join, `#` starts a comment.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars();
    while let Some(one) = chars.next() {
        match (one, quote) {
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            ('"' | '\'', None) => {
                quote = Some(one);
                word.get_or_insert_default();
            }
            (one, Some(open)) if one == open => quote = None,
            ('#', None) => break,
            (one, None) if one.is_whitespace() => all.extend(word.take()),
            (one, _) => word.get_or_insert_default().push(one),
        }
    }
    all.extend(word);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distributions_file_is_read() {
        let text = "\
global\n\tlog /dev/log\tlocal0\n\tlog 127.0.0.1:5140 local1 # log 127.0.0.1:1\n\tchroot /var/lib/haproxy\n\t\
stats socket /run/haproxy/admin.sock mode 660 level admin\n\tmaxconn 5000\n\tulimit-n 9000\n\
defaults\n\tlog global\n\tmaxconn 7\n\
frontend \"web in\"\n\tbind *:80,:443 ssl crt /x\n\tbind [::]:8080\n\tbind 10.0.0.1:90-92\n\
listen stats\n\tbind :8404\n\tstats enable\n\tstats uri /s\n\
backend be\n\tserver a 10.0.0.2:80\n";
        let found = read_haproxy(text);
        let syslog = [SyslogTarget::Socket("/dev/log".to_owned()), SyslogTarget::Local(5140)];
        assert_eq!(found.syslog, syslog);
        assert_eq!(found.chroot.as_deref(), Some("/var/lib/haproxy"));
        assert_eq!(found.stats_sockets, ["/run/haproxy/admin.sock"]);
        assert_eq!((found.maxconn, found.ulimit_n), (Some((5_000, 6)), Some((9_000, 7))));
        let fronts: Vec<_> = found.frontends.iter().map(|one| (one.name.as_str(), &*one.ports)).collect();
        assert_eq!(fronts, [("web in", &[80, 443, 8080, 90, 91, 92][..]), ("stats", &[8404])]);
        assert_eq!(found.frontends[1].stats.as_deref(), Some("/s"));
    }

    #[test]
    fn a_configuration_without_any_of_it_is_empty() {
        for text in
            ["", "global", "frontend", "bind", "listen a\nstats uri", "'", "maxconn 7\nglobal\nmaxconn x\n"]
        {
            let found = read_haproxy(text);
            assert!(found.maxconn.is_none() && found.syslog.is_empty(), "{text}");
        }
    }
}
