//! Places a user's own configuration of `HAProxy` next to the files that it names by relative
//! names, with places for its sockets.

use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use wavetank_topology::CustomConfig;
use wavetank_topology::own::{HaproxyFrontend, read_haproxy};

use super::counters::{CounterSource, OwnPlace, PageAddress};
use super::own_nginx::link_entries;
use super::syslog::SyslogPlaces;
use crate::net::make_private;

/// The folder of a distribution's configuration.
const INSTALLED: &str = "/etc/haproxy";

/// Fills the folder of one copy: links to the files next to the user's own and to the
/// distribution's. In a host, also makes the folders of its sockets and its root.
pub(super) fn prepare(folder: &Path, own: &CustomConfig, is_host: bool) -> io::Result<()> {
    let users = own.folder.as_deref().map(Path::new);
    users.into_iter().chain([Path::new(INSTALLED)]).try_for_each(|from| link_entries(from, folder))?;
    if !is_host {
        return Ok(());
    }
    let config = read_haproxy(&own.text);
    let sockets = config.stats_sockets.iter().filter_map(|path| Path::new(path).parent());
    let roots = config.chroot.iter().map(Path::new);
    sockets.chain(roots).filter(|path| path.is_absolute()).try_for_each(make_private)
}

/// Returns where a configuration logs by the syslog protocol.
pub(super) fn syslog(text: &str) -> SyslogPlaces {
    let config = read_haproxy(text);
    let roots = config.chroot.into_iter().filter(|root| root.starts_with('/') && root != "/");
    SyslogPlaces { targets: config.syslog.into_iter().collect(), roots: roots.collect() }
}

/// Returns where a configuration reports its counters: its first statistics socket, else its first
/// page. Its frontends on the ports `listen` count.
pub(super) fn counters(text: &str, listen: &[u16]) -> Option<CounterSource> {
    let config = read_haproxy(text);
    let loaded = |front: &&HaproxyFrontend| front.ports.iter().any(|port| listen.contains(port));
    let fronts: Vec<String> =
        config.frontends.iter().filter(loaded).map(|front| front.name.clone()).collect();
    let socket = config.stats_sockets.iter().find(|path| path.starts_with('/'));
    let page = || {
        let front = config.frontends.iter().find(|front| front.stats.is_some())?;
        let (port, path) = (*front.ports.first()?, front.stats.clone()?);
        let at = PageAddress::Port(Ipv4Addr::LOCALHOST.into(), port);
        let counts_itself = fronts.contains(&front.name);
        Some(OwnPlace::Page { at, host: "localhost".to_owned(), path, counts_itself })
    };
    let place = socket.map(|path| OwnPlace::Socket(PathBuf::from(path))).or_else(page)?;
    (!fronts.is_empty()).then_some(CounterSource::OwnHaproxy { place, fronts })
}
