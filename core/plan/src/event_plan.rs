//! [`PlannedEvent`]: what happens to a host while the load runs.

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

/// A command on a host at a planned instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedEvent {
    /// On the run's clock.
    pub when: Nanos,
    /// The host's name in fleet or lab.
    pub host: String,
    /// The action: a command, or in a lab the text of a fault ([`PlannedEvent::fault`]) or of a
    /// change to a balancer's pool ([`PlannedEvent::pool`]).
    pub run: String,
    /// The command that reverts the action at the end of the run and after an abort. Faults and
    /// pool changes do not need one, because they are always reverted.
    pub undo: Option<String>,
    /// How long the action lasts until it is reverted; `None`: until the end of the run.
    pub lasts: Option<Nanos>,
}

impl PlannedEvent {
    /// The keyword that a fault of a lab starts with. A command starts with the program's name
    /// instead.
    pub const FAULT: &str = "fault";

    /// The keyword that a change of a balancer's pool starts with.
    pub const POOL: &str = "pool";

    /// Returns the text of the fault in `run`, e.g. `kill serve` of `fault kill serve`, or `None`
    /// if it is not a fault.
    pub fn fault(run: &str) -> Option<&str> {
        words_after(run, Self::FAULT)
    }

    /// Returns the text of the pool change in `run`, e.g. `haproxy app1 drain` of `pool haproxy
    /// app1 drain`, or `None` if it is not a pool change.
    pub fn pool(run: &str) -> Option<&str> {
        words_after(run, Self::POOL)
    }

    /// Whether `run` is something that a lab takes back by itself, rather than a command.
    pub fn is_self_reverting(run: &str) -> bool {
        Self::fault(run).is_some() || Self::pool(run).is_some()
    }

    /// Returns whether the action can be reverted.
    pub fn is_reversible(&self) -> bool {
        self.undo.is_some() || Self::is_self_reverting(&self.run)
    }
}

/// Returns the text after `first` if that is the first term of `run`.
fn words_after<'r>(run: &'r str, first: &str) -> Option<&'r str> {
    let words = run.trim().strip_prefix(first)?;
    (words.is_empty() || words.starts_with(char::is_whitespace)).then(|| words.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_begins_with_its_word() {
        let check = |run: &str, fault: Option<&str>| assert_eq!(PlannedEvent::fault(run), fault, "{run:?}");
        check("fault kill serve", Some("kill serve"));
        check("  fault   drop 20% ", Some("drop 20%"));
        check("fault", Some(""));
        check("faulty kill serve", None);
        check("systemctl stop app", None);
        check("", None);
    }

    #[test]
    fn a_pool_is_changed_by_its_word() {
        assert_eq!(PlannedEvent::pool("pool haproxy app1 drain"), Some("haproxy app1 drain"));
        assert_eq!(PlannedEvent::pool("poolctl drain"), None);
        let undone = |run: &str| PlannedEvent::is_self_reverting(run);
        assert!(undone("pool app1 drain") && undone("fault cut") && !undone("ip link set eth0 down"));
    }
}
