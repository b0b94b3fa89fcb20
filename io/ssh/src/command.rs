//! [`SshOptions`] and [`RemoteCommand`]: the `ssh` process of one host.

use std::fs::File;
use std::io::{Seek as _, SeekFrom};
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

/// A command for a host.
#[derive(Clone, Debug, Default)]
pub struct RemoteCommand {
    /// Text for the remote shell, as ssh would pass it on.
    pub text: String,
    /// Start it by `sudo -n`.
    pub sudo: bool,
    /// Pass the text on as it is, to hosts without a POSIX shell. The command then outlives a
    /// connection that ends early.
    pub raw: bool,
    /// What the command reads; without it, standard input is empty. A command with input ends with
    /// its input, so a connection that ends early ends it too.
    pub input: Option<InputFile>,
}

/// A file that a remote command reads.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// The file.
    pub path: PathBuf,
    /// Number of bytes at its start that are left out.
    pub offset: u64,
}

impl InputFile {
    fn open(&self) -> std::io::Result<Stdio> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        Ok(file.into())
    }
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
        if self.input.is_some() {
            return with_input(&self.text, self.sudo);
        }
        format!("{}sh -c {} wavetank {}", sudo(self.sudo), shell_quoted(LIFELINE), shell_quoted(&self.text))
    }
}

const fn sudo(is_used: bool) -> &'static str {
    if is_used { "sudo -n -- " } else { "" }
}

/// Returns the text of a command that reads the standard input of ssh.
fn with_input(text: &str, is_sudo: bool) -> String {
    format!("{}sh -c {}", sudo(is_sudo), shell_quoted(text))
}

impl SshOptions {
    /// Returns the process that runs `command` on `host`, with pipes for its output, and one for
    /// its input unless that is a file.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub(crate) fn process(&self, host: &Host, command: &RemoteCommand) -> std::io::Result<Command> {
        let mut ssh = self.login(host, &[]);
        let input = command.input.as_ref().map(InputFile::open).transpose()?;
        ssh.arg(command.remote_text()).stdin(input.unwrap_or_else(Stdio::piped));
        ssh.stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(ssh)
    }

    /// Returns the process that runs `text` by `sh` on `host`, with its standard input and output
    /// connected to those of the process.
    pub fn attached(&self, host: &Host, text: &str, is_sudo: bool) -> Command {
        let mut ssh = self.login(host, &[]);
        ssh.arg(with_input(text, is_sudo));
        ssh
    }

    /// Returns the process that carries connections to a loopback port of `host` to a loopback port
    /// of this host. It prints `ready` once it does, and ends with its standard input.
    pub fn reverse_tunnel(&self, host: &Host, (remote_port, local_port): (u16, u16)) -> Command {
        let ports = format!("127.0.0.1:{remote_port}:127.0.0.1:{local_port}");
        let mut ssh = self.login(host, &["-o", "ExitOnForwardFailure=yes", "-R", &ports]);
        ssh.arg("echo ready; exec cat >/dev/null");
        ssh
    }

    /// Returns an ssh process that lacks its command.
    fn login(&self, host: &Host, options: &[&str]) -> Command {
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
        ssh.args(options);
        ssh.args(["--", host.address.as_ref().unwrap_or(&host.name)]);
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
        let command = RemoteCommand { text: "echo 'a b'".to_owned(), sudo: true, ..RemoteCommand::default() };
        let process = options.process(&host, &command).expect("it has no input");
        let words: Vec<String> = process.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let text = words.join(" ");
        assert!(
            text.contains("ConnectTimeout=2 ") && text.contains("-l ops -p 22 -- load1 sudo -n -- sh -c"),
            "{text}"
        );
        assert!(text.ends_with(r"wavetank 'echo '\''a b'\'''"), "{text}");
        let raw = RemoteCommand { raw: true, ..command };
        assert_eq!(raw.remote_text(), "echo 'a b'");
        let input = Some(InputFile { path: "/dev/null".into(), offset: 0 });
        let copy = RemoteCommand { text: "cat > x".to_owned(), input, ..RemoteCommand::default() };
        assert_eq!(copy.remote_text(), "sh -c 'cat > x'");
        let missing = InputFile { path: "/no/such/file".into(), offset: 0 };
        assert!(options.process(&host, &RemoteCommand { input: Some(missing), ..copy }).is_err());
        let tunnel = options.reverse_tunnel(&host, (5001, 5000));
        let words: Vec<_> = tunnel.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert!(
            words.join(" ").contains(" -R 127.0.0.1:5001:127.0.0.1:5000 -- load1 echo ready;"),
            "{words:?}"
        );
        let attached = options.attached(&host, "exec cat", true);
        assert_eq!(attached.get_args().last().expect("a command"), "sudo -n -- sh -c 'exec cat'");
    }
}
