//! Places a user's own nginx configuration as nginx expects it: next to the files that it includes
//! by relative names, with the modules and pages of nginx's own prefix, and with places for logs.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Component, Path, PathBuf};

use wavetank_topology::CustomConfig;
use wavetank_topology::own::{NginxConfig, StatusPage, read_nginx};

use super::counters::{OwnPlace, PageAddress};
use super::program::NginxPaths;
use crate::net::make_private;

/// The folder of the configuration in the folder of its service. Relative names of included files
/// start here, and other relative names at the service's folder, as with an installed nginx.
pub(super) const CONF_FOLDER: &str = "conf";
/// A process's own error output, which is the service's log.
const ERROR_OUTPUT: &str = "/proc/self/fd/2";
/// Maximum number of entries of a folder that are linked, and of files that are read.
const ENTRIES_MAX: usize = 4_096;
/// Maximum size of a file that is read.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Fills the folder of one copy: links to everything that relative names may refer to, unless it
/// is there. Files next to the user's own come first in the configuration's folder, and those of
/// nginx's prefix first in the other.
pub(super) fn link_files(folder: &Path, own: &CustomConfig, paths: &NginxPaths) -> io::Result<()> {
    let conf = folder.join(CONF_FOLDER);
    let users = own.folder.as_deref().map(Path::new);
    let installed = paths.conf.parent();
    users.into_iter().chain(installed).try_for_each(|from| link_entries(from, &conf))?;
    // nginx writes to these.
    fs::create_dir_all(folder.join("logs"))?;
    std::iter::once(&*paths.prefix).chain(users).try_for_each(|from| link_entries(from, folder))
}

/// Links everything in `from` into `to` that is not there. Folders with temporary files of another
/// nginx are left out. A folder that cannot be read has nothing to offer.
pub(super) fn link_entries(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    for entry in entries.flatten().take(ENTRIES_MAX) {
        let (name, link) = (entry.file_name(), to.join(entry.file_name()));
        if name.to_string_lossy().ends_with("_temp") || link.symlink_metadata().is_ok() {
            continue;
        }
        std::os::unix::fs::symlink(entry.path(), link)?;
    }
    Ok(())
}

/// Reads the configuration in `folder` and everything that it includes.
pub(super) fn read_with_included(folder: &Path, text: &str) -> NginxConfig {
    let conf = folder.join(CONF_FOLDER);
    let mut all = read_nginx(text);
    let (mut seen, mut next) = (BTreeSet::new(), 0);
    while let Some(include) = all.includes.get(next).cloned() {
        next += 1;
        for path in matching(&conf.join(include)) {
            if seen.len() >= ENTRIES_MAX || !seen.insert(path.clone()) {
                continue;
            }
            let short = path.metadata().is_ok_and(|file| file.is_file() && file.len() <= FILE_BYTES_MAX);
            let Some(text) = short.then(|| fs::read_to_string(&path).ok()).flatten() else { continue };
            let one = read_nginx(&text);
            all.includes.extend(one.includes);
            all.error_logs.extend(one.error_logs);
            all.access_logs.extend(one.access_logs);
            all.syslog.extend(one.syslog);
            all.status = all.status.or(one.status);
            all.says_daemon |= one.says_daemon;
        }
    }
    all
}

/// Gives each log a folder of the host's own. Error logs lead to nginx's error output, which is the
/// service's log.
pub(super) fn prepare_logs(folder: &Path, config: &NginxConfig, default: &Path) -> io::Result<()> {
    for log in &config.access_logs {
        make_private(parent(&folder.join(log)))?;
    }
    let named = config.error_logs.iter().map(|log| folder.join(log));
    let default = Some(default.to_owned()).filter(|path| path.is_absolute());
    for log in named.chain(default).filter(|log| !is_device(log)) {
        make_private(parent(&log))?;
        match fs::remove_file(&log) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => std::os::unix::fs::symlink(ERROR_OUTPUT, &log)?,
        }
    }
    Ok(())
}

/// Returns where a status page is read in its host.
pub(super) fn status_place(page: &StatusPage) -> OwnPlace {
    let address = page.address.as_deref().and_then(|address| address.parse::<IpAddr>().ok());
    let address = address.filter(|address| !address.is_unspecified()).unwrap_or(Ipv4Addr::LOCALHOST.into());
    let at = match &page.socket {
        Some(socket) => PageAddress::Socket(PathBuf::from(socket)),
        None => PageAddress::Port(address, page.port),
    };
    let host = page.host.clone().unwrap_or_else(|| "localhost".to_owned());
    OwnPlace::Page { at, host, path: page.path.clone(), counts_itself: true }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// Whether a log goes to a device such as `/dev/stdout`, or to a process's own file.
fn is_device(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}

/// Returns the files that match a pattern with `*`, `?` and `[…]` in any part, sorted.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in pattern.components() {
        let Component::Normal(name) = part else {
            for path in &mut found {
                path.push(part);
            }
            continue;
        };
        let name = name.to_string_lossy();
        if !name.contains(['*', '?', '[']) {
            for path in &mut found {
                path.push(&*name);
            }
            continue;
        }
        let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
        let fits = |entry: &fs::DirEntry| {
            let file = entry.file_name();
            let (file, name) = (file.to_string_lossy().into_owned(), name.as_bytes());
            (!file.starts_with('.') || name.first() == Some(&b'.')) && is_match(name, file.as_bytes())
        };
        found = found.into_iter().flat_map(entries).filter(fits).map(|entry| entry.path()).collect();
        found.sort();
    }
    found.retain(|path| path.exists());
    found
}

/// Whether a name matches a pattern, by the rules of glob(7).
fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.first(), name.first()) {
        (None, None) => true,
        (Some(b'*'), _) => {
            is_match(&pattern[1..], name) || (!name.is_empty() && is_match(pattern, &name[1..]))
        }
        (Some(b'?'), Some(_)) => is_match(&pattern[1..], &name[1..]),
        (Some(b'['), Some(one)) => {
            let Some(end) = pattern.iter().skip(2).position(|byte| *byte == b']') else { return false };
            let (set, rest) = (&pattern[1..end + 2], &pattern[end + 3..]);
            let negated = matches!(set.first(), Some(b'!' | b'^'));
            let set = if negated { &set[1..] } else { set };
            let range = set.windows(3).any(|three| three[1] == b'-' && (three[0]..=three[2]).contains(one));
            (range || set.contains(one)) != negated && is_match(rest, &name[1..])
        }
        (Some(expected), Some(one)) => expected == one && is_match(&pattern[1..], &name[1..]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_like_a_shells() {
        let check = |pattern: &str, name: &str, expected: bool| {
            assert_eq!(is_match(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        };
        check("*.conf", "site.conf", true);
        check("*.conf", "site.conf.bak", false);
        check("?0-*", "10-a", true);
        check("[a-c]x", "bx", true);
        check("[!a-c]x", "bx", false);
        check("[ab]", "c", false);
        check("[", "x", false);
        check("a", "a", true);
    }

    #[test]
    fn files_are_found_through_all_included_ones() {
        let folder = tempfile::tempdir().expect("temporary folders can be made");
        let (users, service) = (folder.path().join("users"), folder.path().join("service"));
        for path in [&users.join("conf.d"), &service.join(CONF_FOLDER)] {
            fs::create_dir_all(path).expect("can be made");
        }
        fs::write(users.join("conf.d/a.conf"), "error_log logs/a.log; include more.inc;").expect("written");
        fs::write(users.join("more.inc"), "error_log /x/b.log; include more.inc;").expect("written");
        let own = CustomConfig {
            name: "my.conf".to_owned(),
            text: String::new(),
            folder: users.to_str().map(str::to_owned),
            place: wavetank_grammar::Span::default(),
        };
        let nowhere = folder.path().join("nowhere");
        let paths = NginxPaths { prefix: nowhere.clone(), conf: nowhere.clone(), error_log: nowhere };
        link_files(&service, &own, &paths).expect("can be linked");
        let found = read_with_included(&service, "include conf.d/*.conf; error_log c.log;");
        assert_eq!(found.error_logs, ["c.log", "logs/a.log", "/x/b.log"]);
    }
}
