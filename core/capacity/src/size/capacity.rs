//! [`RoleCapacity`]: what one host of a role can do.

use wavetank_units::quantity::{format_compact, parse_count_positive, parse_rate_positive};
use wavetank_units::{Code, UserError};

use super::{PerSecond, Role};

/// The capacity of one host of a role; `None`: unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoleCapacity {
    /// Requests a second.
    pub requests: Option<PerSecond>,
    /// Simultaneous client connections.
    pub connections: Option<u64>,
}

impl RoleCapacity {
    /// Reads `balancer=270k/s`, `server=500k` (connections) or `server=140k/s,500k`.
    ///
    /// # Errors
    /// On anything else, with a hint.
    pub fn parse(text: &str) -> Result<(Role, Self), UserError> {
        let example = "ROLE=RATE, ROLE=CONNECTIONS or both: balancer=270k/s, server=140k/s,500k";
        let Some((role, words)) = text.split_once('=') else {
            let message = format!("`{text}` is not a role and its capacity");
            return Err(UserError::usage(Code::BadCapacity, message, example));
        };
        let role = Role::parse(role.trim())?;
        let mut capacity = Self::default();
        for word in words.split(',').map(str::trim) {
            let twice = if word.contains('/') {
                capacity.requests.replace(PerSecond::from_rate(parse_rate_positive(word)?)).is_some()
            } else {
                capacity.connections.replace(parse_count_positive(word)?).is_some()
            };
            if twice {
                let message = format!("`{text}`: two numbers of one kind");
                return Err(UserError::usage(Code::Conflict, message, example));
            }
        }
        Ok((role, capacity))
    }

    /// `270k/s`, `140k/s, 500k connections`, or nothing.
    pub fn show(self) -> String {
        let connections = self.connections.map(|count| format!("{} connections", format_compact(count)));
        let parts: Vec<String> = self.requests.map(PerSecond::show).into_iter().chain(connections).collect();
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavetank_units::Rate;

    fn check(text: &str, rate: Option<u64>, connections: Option<u64>) {
        let requests = rate.map(|rate| PerSecond::from_rate(Rate::per_second(rate)));
        let (_, read) = RoleCapacity::parse(text).unwrap();
        assert_eq!(read, RoleCapacity { requests, connections }, "{text}");
    }

    #[test]
    fn rates_and_connections_are_distinguished() {
        check("balancer=270k/s", Some(270_000), None);
        check("server=500k", None, Some(500_000));
        check("server=140k/s,500k", Some(140_000), Some(500_000));
        check("load=500k, 40k/s", Some(40_000), Some(500_000));
        for wrong in
            ["", "server", "srv=1/s", "server=", "server=1/s,2/s", "server=0/s", "server=1m", "load=-1"]
        {
            let error = RoleCapacity::parse(wrong).unwrap_err();
            assert!(
                !error.hint.is_empty() && error.exit == wavetank_units::ExitCode::Usage,
                "{wrong}: {error}"
            );
        }
    }
}
