//! Servers behind a balancer: `"app[1-4]:8080"`.

use wavetank_grammar::Node;
use wavetank_units::Code;

use super::{Reader, TreeReader as _};
use crate::ast::FileServer;
use crate::grammar::MapName;

/// Maximum weight of a server. This is the limit of `HAProxy`; nginx has none.
const WEIGHT_MAX: u32 = 256;

impl Reader<'_> {
    /// Reads one or several servers. Invalid entries are reported and left out.
    pub(super) fn servers(&mut self, node: &Node) -> Vec<FileServer> {
        let all: Vec<_> = node.as_list().iter().map(|item| self.server(item)).collect();
        if all.is_empty() {
            self.fail::<()>(
                Code::ValueMissing,
                node.place,
                "it has no servers",
                "servers: \"app[1-4]:8080\"",
            );
        }
        all.into_iter().flatten().collect()
    }

    fn server(&mut self, node: &Node) -> Option<FileServer> {
        if node.entries().is_none() {
            return self.server_text(node, 1);
        }
        let mut keys = self.open(node, MapName::Server)?;
        let server = keys.require(self, "server");
        let weight = keys
            .take("weight")
            .map_or(Some(1), |node| self.count_up_to(node, WEIGHT_MAX, "parts").map(|weight| weight.value));
        keys.finish();
        self.server_text(server?, weight?)
    }

    /// Reads `HOSTS:PORT` or `HOSTS`.
    fn server_text(&mut self, node: &Node, weight: u32) -> Option<FileServer> {
        let text = self.text(node, "a server")?;
        if let Some((scheme, rest)) = text.value.split_once("://") {
            let message = format!("`{}` is a URL", text.value);
            let hint = format!("host and port alone, without {scheme}://: {}", rest.trim_end_matches('/'));
            return self.fail(Code::LabServer, text.place, message, hint);
        }
        let (names, port) = match text.value.rsplit_once(':') {
            Some((names, port)) => (names, Some(self.parse_port(port, text.place)?)),
            None => (text.value.as_str(), None),
        };
        let names = self.host_names(names, text.place)?;
        Some(FileServer { names, port, weight, place: text.place })
    }
}
