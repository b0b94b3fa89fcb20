//! [`Weights`]: server weights set at run time, which override those of the topology file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wavetank_topology::{Backend, ServerMode};
use wavetank_units::sanitize;

/// Maximum size of the file in bytes.
const BYTES_MAX: u64 = 64 * 1024;
/// A file in the service's folder, `weights.json`: a JSON object of servers (`app1`, or
/// `app1:8080`) and weights. 0 drains a server. It is read at the start and when the director gets
/// SIGHUP. Servers without an entry keep the weight of the topology file.
pub(crate) struct Weights {
    path: PathBuf,
}

impl Weights {
    /// Returns the weights file in the service's folder.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join("weights.json") }
    }

    /// Returns the weight of each of `servers`, in order. The error is a message; the weights stay
    /// unchanged then.
    pub(crate) fn read(&self, servers: &[Backend]) -> Result<Vec<u32>, String> {
        match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(servers.iter().map(|server| server.weight).collect());
            }
            Err(error) => return Err(error.to_string()),
            Ok(meta) if meta.len() > BYTES_MAX => return Err(format!("it has {} bytes", meta.len())),
            Ok(_) => {}
        }
        let text = std::fs::read_to_string(&self.path).map_err(|error| error.to_string())?;
        weights(&text, servers)
    }

    /// Stores `wanted` as the weights of `servers`, in order, effective when the file is read next.
    /// Servers with the topology file's weight have no entry.
    pub(crate) fn write(&self, servers: &[Backend], wanted: &[u32]) -> std::io::Result<()> {
        let next = self.path.with_extension("json.next");
        std::fs::write(&next, written(servers, wanted))?;
        std::fs::rename(next, &self.path)
    }
}

fn written(servers: &[Backend], wanted: &[u32]) -> String {
    let other = servers.iter().zip(wanted).filter(|(server, weight)| server.weight != **weight);
    let reported: BTreeMap<String, u32> =
        other.map(|(server, weight)| (format!("{}:{}", server.name, server.port), *weight)).collect();
    serde_json::to_string(&reported).expect("names and numbers")
}

fn weights(text: &str, servers: &[Backend]) -> Result<Vec<u32>, String> {
    let reported: BTreeMap<String, u32> =
        serde_json::from_str(text).map_err(|error| sanitize(&error.to_string()).into_owned())?;
    let mut weights: Vec<u32> = servers.iter().map(|server| server.weight).collect();
    for (name, &weight) in &reported {
        if weight > ServerMode::WEIGHT_MAX {
            return Err(format!("{weight} is more than {}", ServerMode::WEIGHT_MAX));
        }
        let mut known = false;
        for (server, own) in servers.iter().zip(&mut weights) {
            if *name == server.name || *name == format!("{}:{}", server.name, server.port) {
                (known, *own) = (true, weight);
            }
        }
        if !known {
            return Err(format!("it has no server `{}`", sanitize(name)));
        }
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn server(name: &str, port: u16, weight: u32) -> Backend {
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        Backend {
            host: 0,
            name: name.to_owned(),
            address,
            port,
            mac: [0; 6],
            interface: 0,
            weight,
            place: wavetank_grammar::Span::default(),
        }
    }

    fn servers() -> [Backend; 3] {
        [server("app1", 80, 1), server("app1", 81, 2), server("app2", 80, 1)]
    }

    #[track_caller]
    fn check(text: &str, expected: Result<[u32; 3], &str>) {
        let servers = servers();
        let read = weights(text, &servers);
        assert_eq!(
            read.as_deref().map_err(String::as_str),
            expected.as_ref().map(<[u32; 3]>::as_slice).map_err(|e| *e)
        );
    }

    #[test]
    fn a_name_is_a_host_or_one_port_of_it() {
        check("{}", Ok([1, 2, 1]));
        check("{\"app1\": 0}", Ok([0, 0, 1]));
        check("{\"app1:81\": 7, \"app2\": 256}", Ok([1, 7, 256]));
        check("{\"app9\": 0}", Err("it has no server `app9`"));
        check("{\"app2\": 257}", Err("257 is more than 256"));
        check("{\"app2\": -1}", Err("invalid value: integer `-1`, expected u32 at line 1 column 11"));
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        for wanted in [[1, 2, 1], [0, 0, 0], [1, 256, 0], [5, 2, 1]] {
            let text = written(&servers(), &wanted);
            check(&text, Ok(wanted));
        }
        assert_eq!(written(&servers(), &[1, 2, 1]), "{}");
    }
}
