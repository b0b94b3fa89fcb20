//! [`Detours`]: `--connect-to`, `--resolve` and `--unix-socket`, which send connections elsewhere.

use std::path::PathBuf;

use wavetank_plan::{ConnectTo, TargetUrl};
use wavetank_units::UserError;

use super::error::bad;

/// Where connections go instead of the URL's host and port.
#[derive(Debug, Default)]
pub(super) struct Detours {
    /// `--connect-to`: host and port of the URL, then those to connect to; empty parts are any, or
    /// stay.
    connect_to: Vec<[String; 4]>,
    /// `--resolve`: host, port, address.
    resolve: Vec<(String, u16, String)>,
    /// `--unix-socket`, `--abstract-unix-socket` (with an `@`).
    socket: Option<String>,
}

impl Detours {
    /// `--unix-socket PATH`.
    pub(super) fn set_socket(&mut self, path: String) {
        self.socket = Some(path);
    }

    /// `--connect-to HOST:PORT:TO:PORT`.
    pub(super) fn add_connect_to(&mut self, text: &str) -> Result<(), UserError> {
        let wrong = || {
            let hint = "--connect-to HOST:PORT:TO:PORT, each of which may be empty; IPv6 in brackets";
            bad(format!("--connect-to `{text}` does not have four parts"), hint)
        };
        let parts = parts(text, 4).ok_or_else(wrong)?;
        let rule: [String; 4] = parts.try_into().map_err(|_| wrong())?;
        let is_port = |part: &str| part.is_empty() || part.parse::<u16>().is_ok_and(|port| port > 0);
        if !is_port(&rule[1]) || !is_port(&rule[3]) {
            return Err(wrong());
        }
        self.connect_to.push(rule);
        Ok(())
    }

    /// `--resolve [+]HOST:PORT:ADDRESS[,ADDRESS]…`, of which the first address is used;
    /// `-HOST:PORT` takes one back.
    pub(super) fn add_resolve(&mut self, text: &str) -> Result<(), UserError> {
        let wrong = || {
            let hint = "--resolve HOST:PORT:ADDRESS, the host or * for all";
            bad(format!("--resolve `{text}` has no host, port and address"), hint)
        };
        let removes = text.strip_prefix('-');
        let rule = parts(removes.unwrap_or(text.trim_start_matches('+')), 3).ok_or_else(wrong)?;
        let port = rule.get(1).and_then(|port| port.parse::<u16>().ok()).ok_or_else(wrong)?;
        if removes.is_some() {
            self.resolve.retain(|(host, at, _)| !(same(host, &rule[0]) && *at == port));
            return Ok(());
        }
        let addresses = rule.get(2).ok_or_else(wrong)?;
        let first = addresses.split(',').next().unwrap_or_default();
        let bare = first.trim_start_matches('[').trim_end_matches(']');
        if bare.parse::<std::net::IpAddr>().is_err() {
            return Err(wrong());
        }
        self.resolve.push((rule[0].clone(), port, bare.to_owned()));
        Ok(())
    }

    /// Returns where connections to `url` go, if it is not the URL's own place.
    pub(super) fn for_url(&self, url: &TargetUrl) -> Result<Option<ConnectTo>, UserError> {
        if let Some(path) = &self.socket {
            let path = if path.starts_with(['/', '@']) { PathBuf::from(path) } else { absolute(path)? };
            let path = path.display();
            return ConnectTo::parse(&format!("unix:{path}")).map(Some);
        }
        let (mut host, mut port) = (url.host.clone(), url.port);
        let fits = |rule: &&[String; 4]| {
            let [from, at, ..] = *rule;
            (from.is_empty() || same(from, &host)) && (at.is_empty() || *at == port.to_string())
        };
        if let Some([.., to, to_port]) = self.connect_to.iter().find(fits) {
            host = if to.is_empty() { host } else { to.clone() };
            port = to_port.parse().unwrap_or(port);
        }
        // A later rule replaces an earlier one, and one for the host goes before one for all.
        let known = |all: bool| {
            let rules = self.resolve.iter().rev();
            rules
                .into_iter()
                .find(|(from, at, _)| *at == port && if all { from == "*" } else { same(from, &host) })
        };
        if let Some((.., address)) = known(false).or_else(|| known(true)) {
            host.clone_from(address);
        }
        let moved = host != url.host || port != url.port;
        Ok(moved.then_some(ConnectTo {
            from_host: None,
            from_port: None,
            host: Some(host),
            port: Some(port),
        }))
    }
}

/// The path of a socket from the root, for one that is relative to the current folder.
fn absolute(path: &str) -> Result<PathBuf, UserError> {
    let hint = "name it from the root: --unix-socket /run/app.sock";
    std::path::absolute(path).map_err(|error| bad(format!("--unix-socket `{path}`: {error}"), hint))
}

/// Whether two names of hosts are the same; the final dot of a whole name does not matter.
fn same(one: &str, other: &str) -> bool {
    let plain = |host: &str| host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    plain(one) == plain(other)
}

/// Splits at colons outside brackets into at most `most` parts, and takes the brackets off. The
/// last part may have colons.
fn parts(text: &str, most: usize) -> Option<Vec<String>> {
    let (mut found, mut rest) = (Vec::new(), text);
    while found.len() + 1 < most {
        let (part, after) = match rest.strip_prefix('[') {
            Some(inside) => {
                let (part, after) = inside.split_once(']')?;
                (part, after)
            }
            None => rest.split_at(rest.find(':').unwrap_or(rest.len())),
        };
        found.push(part.to_owned());
        match after.strip_prefix(':') {
            Some(after) => rest = after,
            None => return after.is_empty().then_some(found),
        }
    }
    found.push(rest.to_owned());
    Some(found)
}
