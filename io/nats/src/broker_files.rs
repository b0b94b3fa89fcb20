//! [`BrokerFiles`]: what a broker needs to serve one fleet.

use std::fmt::Write as _;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType,
    date_time_ymd,
};

use crate::{KeyError, NatsKey, Subjects};

/// Longest message, in bytes, as the broker's own default. Longer ones are sent in parts.
const PAYLOAD_BYTES_MAX: usize = 1 << 20;
/// Bytes that wait for one reader before the broker cuts it off.
const PENDING_BYTES_MAX: usize = 256 << 20;

/// A broker that is to be made.
#[derive(Clone, Debug)]
pub struct BrokerSetup<'a> {
    /// Name of the fleet.
    pub fleet: &'a str,
    /// Names of the agents.
    pub agents: &'a [String],
    /// Names or addresses by which controller and agents reach it.
    pub hosts: &'a [String],
    /// Address that it listens on.
    pub listen: &'a str,
    /// Its TCP port; -1 lets the system choose one.
    pub port: i32,
    /// Folder of the files, as an absolute path.
    pub dir: &'a Path,
    /// Last day of its certificate: year, month, day.
    pub valid_until: (i32, u8, u8),
}

/// The files of a broker. All but [`Self::ca`] and [`Self::config`] are secret.
#[derive(Clone, Debug)]
pub struct BrokerFiles {
    /// `nats-server.conf`.
    pub config: String,
    /// `ca.pem`: the certificate that controller and agents trust.
    pub ca: String,
    /// `server.pem`: the broker's certificate.
    pub certificate: String,
    /// `server.key`: the key of that certificate.
    pub certificate_key: String,
    /// The controller's key.
    pub controller: NatsKey,
    /// The agents' keys, in the order of their names in the setup.
    pub agents: Vec<NatsKey>,
}

impl BrokerFiles {
    /// Makes keys, a certificate, and the configuration that ties each key to its subjects.
    ///
    /// # Errors
    /// A reason, as one line: a name is not good for a certificate, or the system has no random
    /// bytes.
    pub fn make(setup: &BrokerSetup<'_>) -> Result<Self, String> {
        let controller = NatsKey::generate().map_err(text)?;
        let agents: Result<Vec<_>, KeyError> = setup.agents.iter().map(|_| NatsKey::generate()).collect();
        let agents = agents.map_err(text)?;
        let (ca, certificate, certificate_key) = certificates(setup).map_err(text)?;
        let config = config(setup, &controller, &agents);
        Ok(Self { config, ca, certificate, certificate_key, controller, agents })
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Returns the certificate of a new authority, that of the broker, and the broker's key. The key of
/// the authority is dropped, so nothing else can be signed by it.
fn certificates(setup: &BrokerSetup<'_>) -> Result<(String, String, String), rcgen::Error> {
    let (year, month, day) = setup.valid_until;
    let until = date_time_ymd(year, month, day);
    let mut ca = CertificateParams::default();
    ca.not_after = until;
    ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    ca.distinguished_name.push(DnType::CommonName, "Wavetank broker authority");
    let ca_key = KeyPair::generate()?;
    let authority = ca.self_signed(&ca_key)?;
    let mut server = CertificateParams::default();
    server.not_after = until;
    server.distinguished_name.push(DnType::CommonName, "Wavetank broker");
    for host in setup.hosts {
        server.subject_alt_names.push(match host.parse() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => SanType::DnsName(host.as_str().try_into()?),
        });
    }
    let key = KeyPair::generate()?;
    let certificate = server.signed_by(&key, &Issuer::new(ca, ca_key))?;
    Ok((authority.pem(), certificate.pem(), key.serialize_pem()))
}

fn config(setup: &BrokerSetup<'_>, controller: &NatsKey, agents: &[NatsKey]) -> String {
    let subjects = Subjects::new(setup.fleet);
    let file = |name: &str| quoted(&setup.dir.join(name).display().to_string());
    let mut config = format!(
        "# nats-server for the fleet {fleet}, made by `wavetank fleet broker init`.\n\
         # Agents keep their intervals themselves, so the broker needs no JetStream and no disk.\n\
         listen: \"{listen}:{port}\"\n\
         max_payload: {PAYLOAD_BYTES_MAX}\n\
         max_pending: {PENDING_BYTES_MAX}\n\
         ping_interval: \"5s\"\n\
         ping_max: 2\n\
         tls {{\n  cert_file: {cert}\n  key_file: {key}\n  timeout: 5\n}}\n\
         authorization {{\n  timeout: 5\n  users: [\n",
        fleet = quoted(setup.fleet),
        listen = setup.listen,
        port = setup.port,
        cert = file("server.pem"),
        key = file("server.key"),
    );
    let mut user = |about: &str, key: &NatsKey, publish: &str, subscribe: &str| {
        let _ = write!(
            config,
            "    # {about}\n    {{ nkey: {key}, permissions: {{ publish: {{ allow: [{publish}] }}, \
             subscribe: {{ allow: [{subscribe}] }} }} }}\n",
            key = key.public(),
            about = quoted(about),
            publish = quoted(publish),
            subscribe = quoted(subscribe),
        );
    };
    user("controller", controller, &subjects.commands(), &subjects.reports());
    for (name, key) in setup.agents.iter().zip(agents) {
        user(name, key, &subjects.report(name), &subjects.command(name));
    }
    config + "  ]\n}\n"
}

/// Returns a text as a string of the configuration.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' | '\r' => quoted.push(' '),
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_own_subjects_and_no_seed_is_in_the_configuration() {
        let names = ["load1".to_owned(), "b\"x\n".to_owned()];
        let hosts = ["ctl".to_owned(), "10.0.0.1".to_owned()];
        let setup = BrokerSetup {
            fleet: "dc1",
            agents: &names,
            hosts: &hosts,
            listen: "0.0.0.0",
            port: 4222,
            dir: Path::new("/srv/a\"b"),
            valid_until: (2036, 1, 1),
        };
        let files = BrokerFiles::make(&setup).expect("the files");
        let line = format!(
            "    {{ nkey: {}, permissions: {{ publish: {{ allow: [\"wavetank.dc1.agent.load1.report\"] }}, subscribe: \
             {{ allow: [\"wavetank.dc1.agent.load1.cmd\"] }} }} }}\n",
            files.agents[0].public()
        );
        assert!(files.config.contains(&line), "{}", files.config);
        assert!(files.config.contains("cert_file: \"/srv/a\\\"b/server.pem\""), "{}", files.config);
        assert!(files.config.contains("    # \"b\\\"x \"\n"), "{}", files.config);
        let keys = files.agents.iter().chain([&files.controller]);
        assert!(keys.into_iter().all(|key| !files.config.contains(key.seed())));
        assert!(files.ca.contains("BEGIN CERTIFICATE") && files.certificate_key.contains("PRIVATE KEY"));
    }
}
