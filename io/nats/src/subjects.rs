//! [`Subjects`]: the names under which messages of a fleet travel.

use std::fmt::Write as _;

/// The subjects of a fleet: `wavetank.FLEET.agent.NAME.cmd` and `….report`.
///
/// Names may have any bytes. Those with a meaning in subjects are written as `=` and two
/// hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subjects {
    prefix: String,
}

impl Subjects {
    /// The subjects of the fleet with this name.
    pub fn new(fleet: &str) -> Self {
        Self { prefix: format!("wavetank.{}.agent.", token(fleet)) }
    }

    /// Where an agent hears its controller. Only this agent may subscribe to it.
    pub fn command(&self, agent: &str) -> String {
        format!("{}{}.cmd", self.prefix, token(agent))
    }

    /// Where an agent reports. Only this agent may publish there.
    pub fn report(&self, agent: &str) -> String {
        format!("{}{}.report", self.prefix, token(agent))
    }

    /// Where every agent hears its controller, as a pattern. Only controllers may publish there.
    pub fn commands(&self) -> String {
        format!("{}*.cmd", self.prefix)
    }

    /// Where all agents report, as a pattern. Only controllers may subscribe to it.
    pub fn reports(&self) -> String {
        format!("{}*.report", self.prefix)
    }
}

/// Returns a name as one part of a subject.
fn token(name: &str) -> String {
    let mut token = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' {
            token.push(char::from(byte));
        } else {
            let _ = write!(token, "={byte:02X}");
        }
    }
    // A subject has no empty parts.
    if token.is_empty() { "=".to_owned() } else { token }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_whatever_it_contains() {
        let subjects = Subjects::new("dc 1");
        assert_eq!(subjects.command("load1"), "wavetank.dc=201.agent.load1.cmd");
        assert_eq!(subjects.report("a.b*>="), "wavetank.dc=201.agent.a=2Eb=2A=3E=3D.report");
        assert_eq!(subjects.reports(), "wavetank.dc=201.agent.*.report");
        assert_eq!(subjects.command(""), "wavetank.dc=201.agent.=.cmd");
    }
}
