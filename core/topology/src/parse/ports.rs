//! Ports and HTTP paths.

use wavetank_grammar::{Node, Span, Spanned};
use wavetank_units::Code;

use super::{Reader, TreeReader as _};

/// Maximum number of ports of one service.
const PORTS_MAX: usize = 256;

impl Reader<'_> {
    /// Reads `8080`, `8080 to 8087`, or a list of these. The result is in ascending order without
    /// duplicates.
    pub(super) fn ports(&mut self, node: &Node) -> Option<Vec<u16>> {
        let mut all = Vec::new();
        for item in node.as_list() {
            let text = self.text(item, "a port")?;
            let (from, to) = text.value.split_once(" to ").unwrap_or((&text.value, &text.value));
            let (from, to) = (self.parse_port(from, text.place)?, self.parse_port(to, text.place)?);
            if from > to {
                let message = format!("`{}` is not a range of ports", text.value);
                return self.fail(Code::LabPort, text.place, message, format!("{to} to {from}"));
            }
            for port in from..=to {
                if all.contains(&port) {
                    let message = format!("port {port} is listed twice");
                    return self.fail(Code::LabPort, text.place, message, "list it once");
                }
                if all.len() == PORTS_MAX {
                    let message = format!("more than {PORTS_MAX} ports");
                    return self.fail(
                        Code::LabTooMany,
                        text.place,
                        message,
                        "split them among several services",
                    );
                }
                all.push(port);
            }
        }
        all.sort_unstable();
        if all.is_empty() {
            return self.fail(Code::LabPort, node.place, "no port is given here", "listen: 8080");
        }
        Some(all)
    }

    /// Reads one port.
    pub(super) fn port(&mut self, node: &Node) -> Option<Spanned<u16>> {
        let text = self.text(node, "a port")?;
        let port = self.parse_port(&text.value, text.place)?;
        Some(Spanned::new(port, text.place))
    }

    /// Parses `word` as a port.
    pub(super) fn parse_port(&mut self, word: &str, place: Span) -> Option<u16> {
        let word = word.trim();
        if let Some(port) = word.parse::<u16>().ok().filter(|port| *port > 0) {
            return Some(port);
        }
        let hint = match word.rsplit_once(':').map(|(_, port)| port) {
            Some(port) if port.parse::<u16>().is_ok() => {
                format!("write only the port, for all addresses: {port}")
            }
            _ => "a number from 1 to 65535".to_owned(),
        };
        self.fail(Code::LabPort, place, format!("`{word}` is not a port"), hint)
    }

    /// Reads a path that can be used unchanged in a request line and in a configuration.
    pub(super) fn http_path(&mut self, node: &Node) -> Option<String> {
        let text = self.text(node, "a path")?;
        if is_path(&text.value) {
            return Some(text.value);
        }
        let message = format!("`{}` is not a path", text.value);
        self.fail(Code::LabValue, text.place, message, "it begins with / and has no blanks or quotes: /ping")
    }
}

/// Whether `text` is a path of plain letters, which nginx, `HAProxy` and keepalived all read the
/// same way.
pub(super) fn is_path(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._~-?&=%+,:@".contains(letter);
    text.starts_with('/') && text.chars().all(plain) && !text.split(['/', '?']).any(|part| part == "..")
}
