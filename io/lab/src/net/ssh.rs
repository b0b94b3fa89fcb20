//! SSH inside a lab: a server on the hosts that ask for one. Every host of the lab can log in as
//! root, and only these hosts have the key.

use std::fs;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use wavetank_topology::{Host, Lab};
use wavetank_units::{Code, Nanos, UserError};

use super::etc;
use super::poll_until::poll_until;
use super::tool::Tool;

const PORT: u16 = 22;
/// Time limit for the server to listen.
const LISTENS_WITHIN: Nanos = Nanos::from_secs(3);

/// Prefix of the lab's own SSH files.
pub(crate) const SSH_FILES: &str = "/etc/ssh/wavetank_";
const SERVER_KEY: &str = "/etc/ssh/wavetank_host_key";
const CLIENT_KEY: &str = "/etc/ssh/wavetank_client_key";
const ADMITTED: &str = "/etc/ssh/wavetank_admitted";

/// Whether any host in the lab has an SSH server.
pub(super) fn is_enabled(lab: &Lab) -> bool {
    lab.hosts.iter().any(|host| host.sshd)
}

/// Creates the lab's two key pairs in its folder. One is shared by all servers, so that one line
/// makes them known to a client. The other one is for logging in.
pub(super) fn make_keys(lab_folder: &Path) -> Result<(), UserError> {
    let folder = folder(lab_folder);
    let made = fs::DirBuilder::new().mode(0o700).recursive(true).create(&folder);
    made.map_err(|error| failed(&format!("{}: {error}", folder.display())))?;
    for name in ["server", "client"] {
        let path = folder.join(name);
        let path = path.to_str().ok_or_else(|| failed("the name of the lab's folder is not valid UTF-8"))?;
        let words = ["-q", "-t", "ed25519", "-N", "", "-C", "wavetank lab", "-f", path];
        Tool::SSH_KEYGEN.run(&words, Stdio::null()).map_err(|said| failed(&said))?;
    }
    Ok(())
}

/// Runs in a host. Installs keys and settings for the client that every host has. If the host has a
/// server, installs those of the server and starts it.
pub(super) fn install(host: &Host, lab_folder: &Path, host_folder: &Path) -> Result<(), UserError> {
    let folder = folder(lab_folder);
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(|error| failed(&format!("{}: {error}", path.display())))
    };
    let (server, client) = (read("server.pub")?, read("client.pub")?);
    etc::write_file(CLIENT_KEY, &read("client")?, 0o600)?;
    etc::write_file("/etc/ssh/ssh_config", &client_config(), 0o644)?;
    etc::write_file("/etc/ssh/ssh_known_hosts", &format!("* {server}"), 0o644)?;
    if !host.sshd {
        return Ok(());
    }
    etc::write_file(SERVER_KEY, &read("server")?, 0o600)?;
    etc::write_file(ADMITTED, &client, 0o600)?;
    etc::write_file("/etc/ssh/sshd_config", &server_config(), 0o644)?;
    let shadow = fs::read_to_string("/etc/shadow").unwrap_or_default();
    if let Some(open) = unlocked(&shadow) {
        etc::write_file("/etc/shadow", &open, 0o600)?;
    }
    start(host, &host_folder.join("sshd.log"))
}

/// Starts the server as a daemon, and waits until it listens.
fn start(host: &Host, log: &Path) -> Result<(), UserError> {
    // Debian's server needs an empty folder there for its privilege separation.
    let made = fs::DirBuilder::new().mode(0o755).recursive(true).create("/run/sshd");
    made.map_err(|error| failed(&format!("/run/sshd: {error}")))?;
    let log = log.to_str().ok_or_else(|| failed("the name of the lab's folder is not valid UTF-8"))?;
    let words = ["-f", "/etc/ssh/sshd_config", "-E", log];
    Tool::SSHD.run(&words, Stdio::null()).map_err(|said| failed(&said))?;
    let own = host.interfaces.first().and_then(|interface| interface.addresses.first());
    let address = own.map_or(IpAddr::from([127, 0, 0, 1]), |(address, _)| *address);
    if !poll_until(LISTENS_WITHIN, || listens(address)) {
        let said = fs::read_to_string(log).unwrap_or_default();
        return Err(failed(said.lines().last().unwrap_or("it does not listen")));
    }
    Ok(())
}

fn listens(address: IpAddr) -> bool {
    TcpStream::connect_timeout(&SocketAddr::new(address, PORT), Duration::from_millis(200)).is_ok()
}

fn folder(lab_folder: &Path) -> PathBuf {
    lab_folder.join("ssh")
}

/// Returns the server's settings: keys only, without services of the machine (PAM, DNS).
fn server_config() -> String {
    format!(
        "# Made by `wavetank lab`.\n\
         Port {PORT}\n\
         HostKey {SERVER_KEY}\n\
         AuthorizedKeysFile {ADMITTED}\n\
         # The key decides about access; the folders above it belong to the lab.\n\
         StrictModes no\n\
         PermitRootLogin prohibit-password\n\
         PasswordAuthentication no\n\
         KbdInteractiveAuthentication no\n\
         # PAM would report sessions to the machine's own service manager.\n\
         UsePAM no\n\
         # Otherwise each login would wait for a missing name server.\n\
         UseDNS no\n\
         # A load launcher makes many simultaneous logins.\n\
         MaxStartups 200:30:400\n\
         PidFile none\n\
         Subsystem sftp internal-sftp\n"
    )
}

fn client_config() -> String {
    format!(
        "# Made by `wavetank lab`.\nHost *\n  User root\n  IdentityFile {CLIENT_KEY}\n  IdentitiesOnly yes\n  \
         StrictHostKeyChecking yes\n  GlobalKnownHostsFile /etc/ssh/ssh_known_hosts\n  UserKnownHostsFile /dev/null\n"
    )
}

/// Returns `/etc/shadow` in which root has no password instead of a locked one, if it is locked.
/// Without PAM the server rejects users with a password field that starts with `!`, whatever key
/// they have.
fn unlocked(shadow: &str) -> Option<String> {
    shadow.lines().any(|line| line.starts_with("root:!")).then(|| {
        let open = shadow.lines().map(|line| match line.strip_prefix("root:!") {
            Some(rest) => {
                let after = rest.find(':').map_or("", |end| &rest[end..]);
                format!("root:*{after}\n")
            }
            None => format!("{line}\n"),
        });
        open.collect()
    })
}

fn failed(said: &str) -> UserError {
    let message = format!("SSH in the lab: {}", wavetank_units::sanitize(said));
    UserError::refused(Code::LabSsh, message, "see sshd.log in the host's folder, or leave `sshd` out")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shadow: &str, expected: Option<&str>) {
        assert_eq!(unlocked(shadow).as_deref(), expected, "{shadow}");
    }

    #[test]
    fn only_a_locked_root_is_unlocked() {
        check("root:!locked:1:2:::\nann:!:1:\n", Some("root:*:1:2:::\nann:!:1:\n"));
        check("root:!\n", Some("root:*\n"));
        check("root:*:1:2:::\nann:!:1:\n", None);
        check("", None);
    }
}
