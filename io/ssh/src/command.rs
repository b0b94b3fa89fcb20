//! [`SshOptions`] and [`RemoteCommand`]: the `ssh` process of one host.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use wavetank_inventory::Host;
use wavetank_units::{Nanos, shell_quoted};

/// Options of every ssh process.
#[derive(Clone, Debug)]
pub struct SshOptions {
    /// Configuration file in place of the user's (`ssh -F`).
    pub config: Option<PathBuf>,
    /// Login name, unless the host has its own.
    pub user: Option<String>,
    /// Time to connect and log in.
    pub connect_timeout: Nanos,
}

/// A command for all hosts.
#[derive(Clone, Debug)]
pub struct RemoteCommand {
    /// Text for the remote shell, as ssh would pass it on.
    pub text: String,
    /// Start it by `sudo -n`.
    pub sudo: bool,
    /// Pass the text on as it is, to hosts without a POSIX shell. The command then outlives a
    /// connection that ends early.
    pub raw: bool,
}

/// Runs its first argument, and ends it when standard input ends.
///
/// ssh without a terminal does not end a remote command when it is killed. The command would go on
/// until it writes. Here a second process waits for the end of standard input, which comes with the
/// connection's, and ends the process group. sshd makes a group for each session.
const LIFELINE: &str = "exec 3<&0\n\
    (cat <&3; kill -TERM 0) >/dev/null 2>&1 &\n\
    w=$!\n\
    (eval \"$1\") </dev/null 3<&-\n\
    c=$?\n\
    kill $w >/dev/null 2>&1\n\
    exit $c";

impl RemoteCommand {
    /// Returns the text for the login shell of a host.
    fn remote_text(&self) -> String {
        if self.raw {
            return self.text.clone();
        }
        let sudo = if self.sudo { "sudo -n -- " } else { "" };
        format!("{sudo}sh -c {} wavetank {}", shell_quoted(LIFELINE), shell_quoted(&self.text))
    }
}

impl SshOptions {
    /// Returns the process that runs `command` on `host`, with pipes for its input and output.
    pub(crate) fn process(&self, host: &Host, command: &RemoteCommand) -> Command {
        let mut ssh = Command::new("ssh");
        let seconds = (self.connect_timeout.0 + 999_999_999) / 1_000_000_000;
        ssh.args(["-T", "-x", "-a", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR"]);
        ssh.args(["-o".to_owned(), format!("ConnectTimeout={}", seconds.max(1))]);
        ssh.args(["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"]);
        if let Some(config) = &self.config {
            ssh.arg("-F").arg(config);
        }
        if let Some(user) = host.user.as_ref().or(self.user.as_ref()) {
            ssh.args(["-l", user]);
        }
        if let Some(port) = host.port {
            ssh.args(["-p", &port.to_string()]);
        }
        if let Some(identity) = &host.identity {
            ssh.args(["-i", identity]);
        }
        if let Some(jump) = &host.jump {
            ssh.args(["-J", jump]);
        }
        ssh.args(["--", host.address.as_ref().unwrap_or(&host.name)]).arg(command.remote_text());
        ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        ssh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_an_argument_of_its_own() {
        let options = SshOptions {
            config: None,
            user: Some("me".to_owned()),
            connect_timeout: Nanos::from_millis(1_500),
        };
        let host = Host { user: Some("ops".to_owned()), port: Some(22), ..Host::named("load1") };
        let command = RemoteCommand { text: "echo 'a b'".to_owned(), sudo: true, raw: false };
        let process = options.process(&host, &command);
        let words: Vec<String> = process.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let text = words.join(" ");
        assert!(
            text.contains("ConnectTimeout=2 ") && text.contains("-l ops -p 22 -- load1 sudo -n -- sh -c"),
            "{text}"
        );
        assert!(text.ends_with(r"wavetank 'echo '\''a b'\'''"), "{text}");
        let raw = RemoteCommand { raw: true, ..command };
        assert_eq!(raw.remote_text(), "echo 'a b'");
    }
}
