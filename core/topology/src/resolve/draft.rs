//! [`Draft`]: the lab while it is being resolved.

use wavetank_grammar::{Diagnostic, Diagnostics, Span};
use wavetank_units::{Code, did_you_mean};

use crate::ast::FileHost;
use crate::{Host, Network};

/// The lab while it is being resolved.
pub(super) struct Draft<'f> {
    pub(super) networks: Vec<Network>,
    pub(super) hosts: Vec<Host>,
    /// The entry in the file of each host.
    pub(super) origins: Vec<&'f FileHost>,
}

impl Draft<'_> {
    /// Returns the index of the host with this name. An unknown name is reported.
    pub(super) fn host_named(&self, name: &str, place: Span, out: &mut Diagnostics) -> Option<usize> {
        let found = self.hosts.iter().position(|host| host.name == name);
        if found.is_none() {
            let known = self.hosts.iter().map(|host| host.name.as_str());
            out.push(unknown(Code::LabHostUnknown, "no host", name, place, known));
        }
        found
    }

    /// Returns the interfaces of `from` and `to` on the first network that both share.
    pub(super) fn shared(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let (from, to) = (&self.hosts[from].interfaces, &self.hosts[to].interfaces);
        let there = |network: usize| to.iter().position(|other| other.network == network);
        from.iter().enumerate().find_map(|(own, interface)| Some((own, there(interface.network)?)))
    }
}

/// Returns the error for an unknown name. `lacks` is the start of the message, such as "no host".
pub(super) fn unknown<'k>(
    code: Code,
    lacks: &str,
    name: &str,
    place: Span,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Diagnostic {
    let hint = if let Some(near) = did_you_mean(name, known.clone()) {
        format!("did you mean {near}?")
    } else {
        let some: Vec<&str> = known.take(8).collect();
        if some.is_empty() { "none is defined".to_owned() } else { format!("there are: {}", some.join(", ")) }
    };
    Diagnostic::error(code, place, format!("{lacks} `{name}`"), hint)
}
