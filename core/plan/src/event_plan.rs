//! [`EventPlan`]: what happens to a host while the load runs.

use crate::Nanos;

/// A command on a host at a planned instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPlan {
    /// On the run's clock.
    pub when: Nanos,
    /// The host's name in fleet or lab.
    pub host: String,
    /// What is done: a command, or in a lab a fault in words ([`EventPlan::fault`]).
    pub run: String,
    /// What takes it back, at the end of the run and on any abort. A fault needs none: it is taken back all the same.
    pub undo: Option<String>,
    /// How long it lasts until it is taken back; `None`: to the end of the run.
    pub lasts: Option<Nanos>,
}

impl EventPlan {
    /// The word that a fault of a lab begins with, where otherwise a command stands.
    pub const FAULT: &str = "fault";

    /// The words of the fault that `run` names, e.g. `kill serve` of `fault kill serve`; `None`: it is a command.
    pub fn fault(run: &str) -> Option<&str> {
        let words = run.trim().strip_prefix(Self::FAULT)?;
        (words.is_empty() || words.starts_with(char::is_whitespace)).then(|| words.trim())
    }

    /// Whether it can be taken back.
    pub fn is_undone(&self) -> bool {
        self.undo.is_some() || Self::fault(&self.run).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_begins_with_its_word() {
        let check = |run: &str, fault: Option<&str>| assert_eq!(EventPlan::fault(run), fault, "{run:?}");
        check("fault kill serve", Some("kill serve"));
        check("  fault   drop 20% ", Some("drop 20%"));
        check("fault", Some(""));
        check("faulty kill serve", None);
        check("systemctl stop app", None);
        check("", None);
    }
}
