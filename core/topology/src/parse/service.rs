//! Services: the parts that all kinds have in common.

use wavetank_grammar::{Grammar as _, Node, Spanned};
use wavetank_units::Code;

use super::{Keys, Reader, TreeReader as _};
use crate::ast::{FileServer, FileService};
use crate::grammar::MapName;
use crate::{CustomConfig, CustomProgram, Health, KeySpan, Service, ServiceKind};

/// Maximum number of services of a host.
const SERVICES_MAX: usize = 16;
/// Maximum number of processes of a service.
const COPIES_MAX: u32 = 256;

/// Keys common to all services. They are read first.
pub(super) struct Common {
    /// The name given in the file.
    name: Option<Spanned<String>>,
    pub(super) listen: Vec<u16>,
    copies: u32,
    connections: Option<u64>,
}

impl Reader<'_> {
    pub(super) fn services(&mut self, node: &Node) -> Vec<FileService> {
        let items = node.as_list();
        if let Some(beyond) = items.get(SERVICES_MAX) {
            let message = format!("{} services", items.len());
            self.fail::<()>(
                Code::LabTooMany,
                beyond.place,
                message,
                format!("at most {SERVICES_MAX} on a host"),
            );
        }
        let all: Vec<_> = items.iter().take(SERVICES_MAX).map(|item| self.service(item)).collect();
        all.into_iter().flatten().collect()
    }

    fn service(&mut self, node: &Node) -> Option<FileService> {
        let mut keys = self.open(node, MapName::Service)?;
        let readers: [(&'static str, ReadService<'_>); 7] = [
            ("serve", Self::serve),
            ("nginx", Self::nginx),
            ("haproxy", Self::haproxy),
            ("direct_routing", Self::direct_routing),
            ("nat", Self::nat),
            ("ipvs", Self::ipvs),
            ("command", Self::command),
        ];
        let found = readers.map(|(word, read)| (keys.entry(word), read));
        keys.finish();
        let (entry, read) = found.into_iter().find_map(|(entry, read)| Some((entry?, read)))?;
        let service = read(self, &entry.value)?;
        Some(FileService { service: Service { place: entry.place, ..service.service }, ..service })
    }

    /// Reads the name, ports, copies and connections of a service. `copies` and `connections` are
    /// read only if the section `room` has them.
    pub(super) fn common(&mut self, keys: &mut Keys<'_>, room: MapName) -> Option<Common> {
        let has = |key: &str| room.section().keys.iter().any(|known| known.name == key);
        let name = keys.take("name").map(|node| self.name(node, "a service"));
        let listen = match room {
            MapName::Command => keys.take("listen").map_or(Some(Vec::new()), |node| self.ports(node)),
            _ => keys.require(self, "listen").and_then(|node| self.ports(node)),
        };
        let copies = if has("copies") { keys.take("copies") } else { None };
        let copies = copies
            .map_or(Some(1), |node| self.count_up_to(node, COPIES_MAX, "processes").map(|few| few.value));
        let connections = if has("connections") { keys.take("connections") } else { None };
        let connections = connections.map(|node| self.count_positive(node));
        let name = name.map_or(Some(None), |name| name.map(Some));
        let connections = connections.map_or(Some(None), |count| count.map(|count| Some(count.value)));
        Some(Common { name: name?, listen: listen?, copies: copies?, connections: connections? })
    }

    /// Reads the binary, the configuration and the directives to leave out, if the section `room`
    /// has these keys.
    pub(super) fn own_program(&mut self, keys: &mut Keys<'_>, room: MapName) -> Option<CustomProgram> {
        let has = |key: &str| room.section().keys.iter().any(|known| known.name == key);
        let binary = keys.take("binary").map(|node| self.binary(node));
        let config = keys.take("config").map(|node| self.relative_file(node));
        let without = if has("without") { keys.take("without") } else { None };
        let without = without.map(|node| self.clean_texts(node, "a directive")).unwrap_or_default();
        let config = config.map_or(Some(None), |config| {
            config.map(|(name, text)| {
                Some(CustomConfig { name: name.value, text, folder: None, place: name.place })
            })
        });
        if let (Some(Some(config)), Some(first)) = (&config, without.first()) {
            let message = format!("`{}` is your own configuration: `without` does not apply", config.name);
            self.fail::<()>(
                Code::LabKeyConflict,
                first.place,
                message,
                "leave it out there, or `config` here",
            );
        }
        let without = without.into_iter().map(|word| word.value).collect();
        Some(CustomProgram {
            binary: binary.map_or(Some(None), |binary| binary.map(Some))?,
            config: config?,
            without,
        })
    }

    /// Reads an absolute path, or a name to look up in `PATH`. Relative paths are rejected, because
    /// the service runs in a folder unknown to the user.
    fn binary(&mut self, node: &Node) -> Option<String> {
        let text = self.clean_text(node, "a program")?;
        if text.value.starts_with('/') || !text.value.contains('/') {
            return Some(text.value);
        }
        let message = format!("`{}` is a relative path", text.value);
        self.fail(Code::LabValue, text.place, message, "an absolute path, or a name in PATH")
    }

    /// Reports keys that shape a generated configuration when the user gives a configuration.
    pub(super) fn not_with_config(&mut self, keys: &Keys<'_>, shaping: &[&str]) {
        if !keys.has("config") {
            return;
        }
        for key in shaping.iter().filter(|key| keys.has(key)) {
            let message =
                format!("`{key}` shapes the generated configuration, but this service has your own");
            let hint = "set it in your configuration, or leave `config` out";
            self.fail::<()>(Code::LabKeyConflict, keys.key_span(key), message, hint);
        }
    }
}

type ReadService<'a> = fn(&mut Reader<'a>, &Node) -> Option<FileService>;

impl Common {
    /// Makes a service of the given kind.
    pub(super) fn service(
        self,
        keys: &Keys<'_>,
        kind: ServiceKind,
        health: Health,
        servers: Vec<FileServer>,
    ) -> FileService {
        let service = Service {
            name: self.name.map_or_else(|| kind.as_str().to_owned(), |name| name.value),
            kind,
            listen: self.listen,
            copies: self.copies,
            connections: self.connections,
            health,
            place: keys.place,
            keys: KeySpan::all(keys.entries()),
        };
        FileService { service, servers, address: None }
    }
}
