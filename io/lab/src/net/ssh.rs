//! SSH inside a lab: a server on the hosts that ask for one, which every host of the lab can enter as root, and nobody
//! else has a key to.

use std::fs;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use wavetank_plan::{Nanos, UserError};
use wavetank_topology::{Host, Lab};

use super::etc;
use super::poll_until::poll_until;
use super::tool::Tool;

const PORT: u16 = 22;
/// A server that does not listen by then will not.
const LISTENS_WITHIN: Nanos = Nanos::from_secs(3);

/// What the lab's own files of SSH begin with.
pub(crate) const SSH_FILES: &str = "/etc/ssh/wavetank_";
const SERVER_KEY: &str = "/etc/ssh/wavetank_host_key";
const CLIENT_KEY: &str = "/etc/ssh/wavetank_client_key";
const ADMITTED: &str = "/etc/ssh/wavetank_admitted";

/// Whether anybody in the lab wants it.
pub(super) fn is_enabled(lab: &Lab) -> bool {
    lab.hosts.iter().any(|host| host.sshd)
}

/// Makes the lab's two pairs of keys in its folder: one for all servers, so that a client knows them all by one line, and
/// one to enter with.
pub(super) fn make_keys(lab_folder: &Path) -> Result<(), UserError> {
    let folder = folder(lab_folder);
    let made = fs::DirBuilder::new().mode(0o700).recursive(true).create(&folder);
    made.map_err(|error| failed(&format!("{}: {error}", folder.display())))?;
    for name in ["server", "client"] {
        let path = folder.join(name);
        let path = path.to_str().ok_or_else(|| failed("the lab's folder has a name that is no text"))?;
        let words = ["-q", "-t", "ed25519", "-N", "", "-C", "wavetank lab", "-f", path];
        Tool::SSH_KEYGEN.run(&words, Stdio::null()).map_err(|said| failed(&said))?;
    }
    Ok(())
}

/// In a host: its keys and settings, for the client that every host has and, if it is wanted there, for the server, which
/// is started.
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

/// Starts the server, which goes into the background, and waits until it listens.
fn start(host: &Host, log: &Path) -> Result<(), UserError> {
    // Debian's server wants an empty folder there to lock itself into.
    let made = fs::DirBuilder::new().mode(0o755).recursive(true).create("/run/sshd");
    made.map_err(|error| failed(&format!("/run/sshd: {error}")))?;
    let log = log.to_str().ok_or_else(|| failed("the lab's folder has a name that is no text"))?;
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

/// The server's settings: keys only, no service of the machine (PAM, DNS) between.
fn server_config() -> String {
    format!(
        "# Made by `wavetank lab`.\n\
         Port {PORT}\n\
         HostKey {SERVER_KEY}\n\
         AuthorizedKeysFile {ADMITTED}\n\
         # Who may enter is decided by the key; the folders above it belong to the lab.\n\
         StrictModes no\n\
         PermitRootLogin prohibit-password\n\
         PasswordAuthentication no\n\
         KbdInteractiveAuthentication no\n\
         # Sessions of PAM would be told to the machine's own service manager.\n\
         UsePAM no\n\
         # A name server that is not there would be waited for at each login.\n\
         UseDNS no\n\
         # Many logins at once are what a launcher of load does.\n\
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

/// `/etc/shadow` in which root has no password rather than a locked one, if it is locked: without PAM the server lets
/// nobody in whose password begins with `!`, whatever key he has.
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
    let message = format!("SSH in the lab: {}", wavetank_plan::sanitize(said));
    UserError::refused(
        "lab_ssh",
        message,
        "sshd.log in the host's folder has more; leave `sshd` out to do without",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shadow: &str, expected: Option<&str>) {
        assert_eq!(unlocked(shadow).as_deref(), expected, "{shadow}");
    }

    #[test]
    fn only_a_locked_root_is_unlocked_and_nobody_else() {
        check("root:!locked:1:2:::\nann:!:1:\n", Some("root:*:1:2:::\nann:!:1:\n"));
        check("root:!\n", Some("root:*\n"));
        check("root:*:1:2:::\nann:!:1:\n", None);
        check("", None);
    }
}
