//! The pool of a `HAProxy`, by its statistics socket: `show stat`, `set server` (its management
//! guide, 9.1 and 9.3).

use std::path::{Path, PathBuf};

use wavetank_topology::render::{HAPROXY_BACKEND, HAPROXY_SOCKET, haproxy_servers};
use wavetank_topology::{Haproxy, Host, ServerMode};
use wavetank_units::sanitize;

use super::pools::PoolServer;
use super::status_socket::query_socket;

/// Returns the state of each server, in order. Connections are summed over all copies. A server is
/// alive if every copy says so. The rest is as in the first copy.
pub(super) fn server_states(
    host: &Host,
    haproxy: &Haproxy,
    folders: &[PathBuf],
) -> Result<Vec<PoolServer>, String> {
    let mut all: Option<Vec<PoolServer>> = None;
    for folder in folders {
        // All entry types and all servers of this backend.
        let said = query_socket(folder, HAPROXY_SOCKET, &format!("show stat {HAPROXY_BACKEND} 7 -1\n"))?;
        let state = query_socket(folder, HAPROXY_SOCKET, &format!("show servers state {HAPROXY_BACKEND}\n"))?;
        let copy = one_copy(host, haproxy, &said, &state).ok_or("its statistics cannot be read")?;
        all = Some(match all {
            None => copy,
            Some(sums) => sums.iter().zip(&copy).map(|(sum, own)| added(*sum, *own)).collect(),
        });
    }
    Ok(all.unwrap_or_default())
}

fn added(sum: PoolServer, own: PoolServer) -> PoolServer {
    let flows = sum.flows.zip(own.flows).map(|(sum, own)| sum + own);
    PoolServer { wanted: sum.wanted, alive: sum.alive && own.alive, flows }
}

/// Reads the state from one process. The lines of a server are added up.
fn one_copy(host: &Host, haproxy: &Haproxy, stat: &str, state: &str) -> Option<Vec<PoolServer>> {
    let sessions = Table::read(stat, ",")?;
    let states = Table::read(state, " ")?;
    let one = |server: usize| {
        let names = haproxy_servers(host, haproxy, server);
        let (mut flows, mut alive) = (0, true);
        let mut wanted = 0;
        for (line, name) in names.iter().enumerate() {
            flows += sessions.number("svname", name, "scur")?;
            alive &= states.number("srv_name", name, "srv_op_state")? > 0;
            if line == 0 {
                let drained = states.number("srv_name", name, "srv_admin_state")? & DRAINED > 0;
                let weight = u32::try_from(states.number("srv_name", name, "srv_uweight")?).ok()?;
                wanted = if drained { 0 } else { weight };
            }
        }
        Some(PoolServer { wanted, alive, flows: Some(flows) })
    };
    (0..haproxy.servers.len()).map(one).collect()
}

/// Bits of `srv_admin_state` that mean maintenance or drained, for any reason (`server-t.h`:
/// `SRV_ADMF_MAINT`, `SRV_ADMF_DRAIN`).
const DRAINED: u64 = 0x01 | 0x02 | 0x04 | 0x08 | 0x10 | 0x20;

/// Lines of values below a line of names.
struct Table<'s> {
    names: Vec<&'s str>,
    rows: Vec<Vec<&'s str>>,
}

impl<'s> Table<'s> {
    /// The names come after `# `.
    fn read(said: &'s str, between: &str) -> Option<Self> {
        let mut lines = said.lines();
        let names = lines.find_map(|line| line.strip_prefix("# "))?.split(between).collect();
        let rows = lines.filter(|line| !line.is_empty()).map(|line| line.split(between).collect()).collect();
        Some(Self { names, rows })
    }

    /// Returns the number in `column` of the row that has `name` in column `key`.
    fn number(&self, key: &str, name: &str, column: &str) -> Option<u64> {
        let place = |wanted: &str| self.names.iter().position(|one| *one == wanted);
        let (key, column) = (place(key)?, place(column)?);
        let row = self.rows.iter().find(|row| row.get(key) == Some(&name))?;
        row.get(column)?.parse().ok()
    }
}

/// Applies the changes to the servers of every copy, as far as possible. The error is the first one
/// that a copy reports.
pub(super) fn change(
    host: &Host,
    haproxy: &Haproxy,
    folders: &[PathBuf],
    wishes: &[(usize, ServerMode)],
) -> Result<(), String> {
    let results: Vec<_> = folders.iter().map(|folder| change_one(host, haproxy, folder, wishes)).collect();
    results.into_iter().collect()
}

/// Applies the changes in one copy, up to the first failure.
fn change_one(
    host: &Host,
    haproxy: &Haproxy,
    folder: &Path,
    wishes: &[(usize, ServerMode)],
) -> Result<(), String> {
    for (server, wish) in wishes {
        for name in haproxy_servers(host, haproxy, *server) {
            let said = query_socket(folder, HAPROXY_SOCKET, &commands(&name, *wish))?;
            // The answer is empty on success.
            if let Some(against) = said.lines().map(str::trim).find(|line| !line.is_empty()) {
                return Err(format!("HAProxy rejects `{wish}` for {name}: {}", sanitize(against)));
            }
        }
    }
    Ok(())
}

/// Returns the commands. The weight is set before the state, so that the server does not get too
/// many connections.
fn commands(name: &str, wish: ServerMode) -> String {
    let set = |what: &str| format!("set server {HAPROXY_BACKEND}/{name} {what}");
    match wish {
        ServerMode::Drain | ServerMode::Weight(0) => format!("{}\n", set("state drain")),
        ServerMode::Ready => format!("{}; {}\n", set("weight 100%"), set("state ready")),
        ServerMode::Weight(weight) => {
            format!("{}; {}\n", set(&format!("weight {weight}")), set("state ready"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_by_their_names() {
        let said = "1\n# be_id be_name srv_id srv_name srv_op_state srv_admin_state srv_uweight\n\
                    3 servers 1 app1 2 8 3\n3 servers 2 app2 0 0 1\n\n";
        let table = Table::read(said, " ").expect("it has a head");
        let check = |name: &str, column: &str, expected: Option<u64>| {
            assert_eq!(table.number("srv_name", name, column), expected, "{name} {column}");
        };
        check("app1", "srv_admin_state", Some(8));
        check("app2", "srv_op_state", Some(0));
        check("app3", "srv_op_state", None);
        check("app1", "srv_agent_state", None);
        check("app1", "be_name", None);
        assert!(Table::read("Unknown command.\n", " ").is_none());
    }

    #[test]
    fn wishes_are_commands() {
        let check = |wish: ServerMode, expected: &str| assert_eq!(commands("app1", wish), expected);
        check(ServerMode::Drain, "set server servers/app1 state drain\n");
        check(ServerMode::Weight(0), "set server servers/app1 state drain\n");
        check(
            ServerMode::Ready,
            "set server servers/app1 weight 100%; set server servers/app1 state ready\n",
        );
        check(
            ServerMode::Weight(7),
            "set server servers/app1 weight 7; set server servers/app1 state ready\n",
        );
    }
}
