//! Opens a map and checks its verbs.

use wavetank_grammar::{Grammar as _, Node};
use wavetank_units::Code;

use super::{Keys, Reader, TreeReader as _};
use crate::grammar::MapName;

impl Reader<'_> {
    /// Opens `node` as a map of the kind `room`. Unknown keys are reported, and so are missing,
    /// unknown or multiple verbs.
    pub(crate) fn open<'n>(&mut self, node: &'n Node, room: MapName) -> Option<Keys<'n>> {
        let keys = Keys::open(self, node, room)?;
        let section = room.section();
        let mut found = keys.entries().iter().filter(|entry| section.verbs.contains(&entry.key.as_str()));
        match (section.verbs, found.next(), found.next()) {
            ([], ..) | (_, Some(_), None) => {}
            (_, Some(first), Some(second)) => {
                let message = format!("`{}` and `{}` exclude each other", first.key, second.key);
                let hint = format!("{} has one of the two", section.name);
                self.fail::<()>(Code::LabVerbs, second.place, message, hint);
            }
            // An unknown key is a misspelt verb, which is reported already.
            (_, None, _)
                if keys
                    .entries()
                    .iter()
                    .any(|entry| section.keys.iter().all(|key| key.name != entry.key)) => {}
            (verbs, None, _) => {
                let message = format!("{} needs a kind", section.name);
                let hint = format!("one of: {}", verbs.join(", "));
                self.fail::<()>(Code::LabVerbs, keys.place, message, hint);
            }
        }
        Some(keys)
    }
}
