//! [`AgentSettings`]: what an agent is started with. A change of it restarts the agent.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use wavetank_units::shell_quoted;

use super::broker_folder::{AgentLink, CA};

/// Ending of the name of the file with the settings.
pub(super) const SETTINGS: &str = "settings";
/// Ending of the name of the file with the agent's seed.
pub(super) const SEED: &str = "seed";

/// What an agent is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AgentSettings {
    /// Name of the host.
    pub(super) name: String,
    /// Targets that it may load.
    pub(super) allow: Vec<String>,
    /// How it reaches its broker, if it has one.
    pub(super) link: Option<AgentLink>,
}

/// Returns the name of an agent's file in its folder. It contains the host's name, because hosts
/// may share a folder by mistake.
pub(super) fn agent_file(host: &str, ending: &str) -> String {
    let host: String = host.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("agent.{host}.{ending}")
}

impl AgentSettings {
    /// Returns the content of the file. Of secrets it has the SHA-256 alone.
    pub(super) fn text(&self) -> String {
        let mut text = format!("name {}\n", self.name);
        for target in &self.allow {
            let _ = writeln!(text, "allow {target}");
        }
        if let Some(AgentLink { url, fleet, ca, seed }) = &self.link {
            let _ = writeln!(text, "link {url}\nfleet {fleet}\nca {}\nseed {}", ca.1, seed.1);
        }
        text
    }

    /// Returns the SHA-256 of the file in hexadecimal.
    pub(super) fn digest(&self) -> String {
        let mut text = String::new();
        for byte in Sha256::digest(self.text().as_bytes()) {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// Returns the options of `agent serve`, as text for a shell in which `$d` is the folder.
    pub(super) fn options(&self) -> String {
        let mut options = format!("--name {}", shell_quoted(&self.name));
        if !self.allow.is_empty() {
            let _ = write!(options, " --allow {}", shell_quoted(&self.allow.join(",")));
        }
        if let Some(AgentLink { url, fleet, .. }) = &self.link {
            let (url, fleet) = (shell_quoted(url), shell_quoted(fleet));
            let (ca, seed) = (agent_file(&self.name, CA), agent_file(&self.name, SEED));
            let _ = write!(
                options,
                " --link {url} --nats-fleet {fleet} --nats-ca \"$d/{ca}\" --nats-seed \"$d/{seed}\""
            );
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_has_another_digest() {
        let link = |url: &str, seed: &str| AgentLink {
            url: url.to_owned(),
            fleet: "dc1".to_owned(),
            ca: ("ca.pem".into(), "1f".to_owned()),
            seed: ("agent-load1.seed".into(), seed.to_owned()),
        };
        let plain = AgentSettings { name: "load1".to_owned(), ..AgentSettings::default() };
        let allow = vec!["10.0.0.0/8".to_owned(), "shop.example".to_owned()];
        let linked = |link| AgentSettings { link: Some(link), ..plain.clone() };
        let all = [
            plain.clone(),
            AgentSettings { allow, ..plain.clone() },
            linked(link("nats://a:4222", "2e")),
            linked(link("nats://b:4222", "2e")),
            linked(link("nats://b:4222", "3d")),
        ];
        let mut digests: Vec<String> = all.iter().map(AgentSettings::digest).collect();
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), all.len());
        assert_eq!(all[1].options(), "--name load1 --allow 10.0.0.0/8,shop.example");
        let options = all[2].options();
        let expected = "--name load1 --link nats://a:4222 --nats-fleet dc1 --nats-ca \"$d/agent.load1.ca.pem\" \
            --nats-seed \"$d/agent.load1.seed\"";
        assert_eq!(options, expected);
    }
}
