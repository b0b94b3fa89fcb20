//! [`PlannedEvent`]: what happens to a host while the load runs.

use crate::Nanos;

/// A command on a host at a planned instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedEvent {
    /// On the run's clock.
    pub when: Nanos,
    /// The host's name in fleet or lab.
    pub host: String,
    /// What is done: a command, or in a lab a fault ([`PlannedEvent::fault`]) or a change of a balancer's pool
    /// ([`PlannedEvent::pool`]) in words.
    pub run: String,
    /// What takes it back, at the end of the run and on any abort. A fault needs none, nor does a change of a pool: they are
    /// taken back all the same.
    pub undo: Option<String>,
    /// How long it lasts until it is taken back; `None`: to the end of the run.
    pub lasts: Option<Nanos>,
}

impl PlannedEvent {
    /// The word that a fault of a lab begins with, where otherwise a command stands.
    pub const FAULT: &str = "fault";

    /// The word that a change of a balancer's pool begins with.
    pub const POOL: &str = "pool";

    /// The words of the fault that `run` names, e.g. `kill serve` of `fault kill serve`; `None`: it is no fault.
    pub fn fault(run: &str) -> Option<&str> {
        words_after(run, Self::FAULT)
    }

    /// The words of the change of a pool that `run` names, e.g. `haproxy app1 drain` of `pool haproxy app1 drain`; `None`:
    /// it is none.
    pub fn pool(run: &str) -> Option<&str> {
        words_after(run, Self::POOL)
    }

    /// Whether `run` is something that a lab takes back by itself, rather than a command.
    pub fn is_self_reverting(run: &str) -> bool {
        Self::fault(run).is_some() || Self::pool(run).is_some()
    }

    /// Whether it can be taken back.
    pub fn is_reversible(&self) -> bool {
        self.undo.is_some() || Self::is_self_reverting(&self.run)
    }
}

/// What follows `first` if that is the first word of `run`.
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
