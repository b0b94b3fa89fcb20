//! Faults.

use wavetank_grammar::{Grammar as _, Node, Spanned};
use wavetank_units::Code;

use super::{Reader, TreeReader as _};
use crate::ast::{FileFault, FileFaultKind};
use crate::grammar::MapName;

/// Maximum number of faults of a lab.
const FAULTS_MAX: usize = 256;
/// Keys that are valid with one verb only.
const COMPANIONS: [(&str, &str); 3] = [("share", "drop"), ("limit", "files"), ("by", "slow")];

impl Reader<'_> {
    pub(super) fn faults(&mut self, node: &Node) -> Vec<FileFault> {
        let items = self.list(node, "faults");
        if let Some(beyond) = items.get(FAULTS_MAX) {
            let message = format!("{} faults", items.len());
            self.fail::<()>(Code::LabTooMany, beyond.place, message, format!("at most {FAULTS_MAX}"));
        }
        let all: Vec<_> = items.iter().take(FAULTS_MAX).map(|item| self.fault(item)).collect();
        all.into_iter().flatten().collect()
    }

    fn fault(&mut self, node: &Node) -> Option<FileFault> {
        let mut keys = self.open(node, MapName::Fault)?;
        let when = keys.require(self, "when").and_then(|node| self.duration(node).map(|when| when.value));
        let host = keys.require(self, "host").and_then(|node| self.text(node, "a host"));
        let hosts = host.and_then(|text| {
            let names = self.host_names(&text.value, text.place)?;
            Some(Spanned::new(names, text.place))
        });
        let lasts = keys.take("for").map(|node| self.positive_duration(node));
        let verbs = MapName::Fault.section().verbs;
        let found: Vec<_> = verbs.iter().map(|verb| (*verb, keys.take(verb))).collect();
        let verb = found.into_iter().find_map(|(verb, node)| Some((verb, node?)));
        let companions = COMPANIONS.map(|(key, of)| (of, key, keys.entry(key)));
        let place = keys.place;
        keys.finish();
        let (verb, of) = verb?;
        let of = self.name(of, if matches!(verb, "cut" | "drop") { "a network" } else { "a service" });
        let mut companion = None;
        for (owner, key, entry) in companions {
            match (entry, owner == verb) {
                (Some(entry), true) => companion = Some(&entry.value),
                (Some(entry), false) => {
                    let message = format!("`{key}` belongs to `{owner}`, but this is `{verb}`");
                    self.fail::<()>(Code::LabKeyConflict, entry.place, message, format!("leave `{key}` out"));
                }
                (None, true) => {
                    let message = format!("`{verb}` needs `{key}`");
                    let hint = match key {
                        "share" => "share: 5%",
                        "limit" => "limit: 200",
                        _ => "by: 200ms",
                    };
                    self.fail::<()>(Code::KeyMissing, place, message, hint);
                }
                (None, false) => {}
            }
        }
        let kind = self.fault_kind(verb, companion);
        let lasts = lasts.map_or(Some(None), |lasts| lasts.map(Some));
        Some(FileFault { place, when: when?, lasts: lasts?, hosts: hosts?, of: of?, kind: kind? })
    }

    fn fault_kind(&mut self, verb: &str, companion: Option<&Node>) -> Option<FileFaultKind> {
        match verb {
            "kill" => Some(FileFaultKind::Kill),
            "stop" => Some(FileFaultKind::Stop),
            "pause" => Some(FileFaultKind::Pause),
            "cut" => Some(FileFaultKind::Cut),
            "drop" => self.share_ppm(companion?).map(FileFaultKind::Drop),
            "files" => self.count(companion?).map(|count| FileFaultKind::Files(count.value)),
            _ => self.positive_duration(companion?).map(FileFaultKind::Slow),
        }
    }
}
