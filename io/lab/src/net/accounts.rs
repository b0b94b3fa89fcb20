//! Users and groups that configurations of a host name and this machine does not have, such as
//! `user nginx;` of the configuration that nginx is distributed with.

use std::fs;

use wavetank_topology::own::{Account, read_haproxy, read_nginx};
use wavetank_topology::{Host, ServiceKind};

/// The first number that is tried for a new user or group.
const FIRST: u32 = 60_000;

/// Returns `/etc/passwd` and `/etc/group` of a host with everyone that its configurations name;
/// `None` if none is missing.
pub(super) fn completed(host: &Host) -> Option<(String, String)> {
    let accounts: Vec<Account> = host.services.iter().flat_map(|service| named(&service.kind)).collect();
    if accounts.is_empty() {
        return None;
    }
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    with_missing(&read("/etc/passwd"), &read("/etc/group"), &accounts)
}

fn named(kind: &ServiceKind) -> Vec<Account> {
    match kind {
        ServiceKind::Nginx(work) => {
            let config = work.own.config.as_ref().map(|own| read_nginx(&own.text));
            config.and_then(|config| config.account).into_iter().collect()
        }
        ServiceKind::Haproxy(work) => {
            let config = work.own.config.as_ref().map(|own| read_haproxy(&own.text));
            config.map(|config| config.accounts).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Adds the users and groups of `accounts` that are not in `passwd` and `group`.
fn with_missing(passwd: &str, group: &str, accounts: &[Account]) -> Option<(String, String)> {
    let (mut users, mut groups) = (passwd.to_owned(), group.to_owned());
    let ended = |text: &mut String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    };
    let mut added = false;
    for Account { user, group } in accounts {
        let user = user.as_deref().filter(|name| is_missing(&users, name));
        // A new user has a group of its own, unless another one is named.
        let of_user = group.as_deref().or(user);
        if let Some(name) = of_user.filter(|name| is_missing(&groups, name)) {
            ended(&mut groups);
            let line = format!("{name}:x:{}:\n", free(&groups));
            groups.push_str(&line);
            added = true;
        }
        if let Some(name) = user {
            ended(&mut users);
            let gid = of_user.and_then(|group| number(&groups, group)).unwrap_or(FIRST);
            let line = format!("{name}:x:{}:{gid}::/nonexistent:/usr/sbin/nologin\n", free(&users));
            users.push_str(&line);
            added = true;
        }
    }
    added.then_some((users, groups))
}

/// Whether a name has no line in `file`. What cannot be a name is left to the program.
fn is_missing(file: &str, name: &str) -> bool {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    is_name && number(file, name).is_none()
}

/// The number of a user or group.
fn number(file: &str, name: &str) -> Option<u32> {
    let line = file.lines().find(|line| line.split(':').next() == Some(name))?;
    line.split(':').nth(2)?.parse().ok()
}

/// A number that no line of `file` has.
fn free(file: &str) -> u32 {
    let taken: Vec<u32> = file.lines().filter_map(|line| line.split(':').nth(2)?.parse().ok()).collect();
    (FIRST..u32::MAX).find(|number| !taken.contains(number)).unwrap_or(FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_accounts_are_added_once() {
        let account = |user: Option<&str>, group: Option<&str>| Account {
            user: user.map(str::to_owned),
            group: group.map(str::to_owned),
        };
        let (passwd, group) = ("root:x:0:0::/root:/bin/sh", "root:x:0:\nweb:x:60000:\n");
        let check = |accounts: &[Account], users: &str, groups: &str| {
            let found = with_missing(passwd, group, accounts);
            let added =
                |all: &str, before: &str| all.trim_start_matches(before).trim_start_matches('\n').to_owned();
            let found = found.map(|(all_users, all)| (added(&all_users, passwd), added(&all, group)));
            let expected =
                (!users.is_empty() || !groups.is_empty()).then(|| (users.to_owned(), groups.to_owned()));
            assert_eq!(found, expected, "{accounts:?}");
        };
        let nginx = "nginx:x:60000:60001::/nonexistent:/usr/sbin/nologin\n";
        check(&[account(Some("nginx"), Some("nginx"))], nginx, "nginx:x:60001:\n");
        check(&[account(Some("nginx"), None), account(Some("nginx"), None)], nginx, "nginx:x:60001:\n");
        let in_web = "app:x:60000:60000::/nonexistent:/usr/sbin/nologin\n";
        check(&[account(Some("app"), Some("web"))], in_web, "");
        check(&[account(Some("root"), Some("root")), account(None, Some("web"))], "", "");
        check(&[account(None, Some("ha"))], "", "ha:x:60001:\n");
        // A number, or a mistake.
        check(&[account(Some("1000"), Some("a b"))], "", "");
    }
}
