//! Places a user's own configuration of `HAProxy` next to the files that it names by relative
//! names, with places for its sockets.

use std::io;
use std::path::Path;

use wavetank_topology::CustomConfig;
use wavetank_topology::own::read_haproxy;

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
