//! [`Server`]: a target that counts what it saw.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::Value;

use super::{Session, cpus};
use crate::ci;
use crate::stopwatch::Stopwatch;

/// A server under test, ended when dropped.
pub(super) struct Server {
    child: Child,
    address: SocketAddr,
    kind: Kind,
    /// What one question about its count adds to that count.
    per_question: u64,
    /// How it was started, for the table.
    pub(super) command: String,
}

#[derive(Clone, Copy)]
enum Kind {
    Wavetank,
    Nginx,
}

impl Server {
    /// `wavetank serve` with one thread on the target's CPU.
    pub(super) fn wavetank(session: &Session) -> Result<Self> {
        let address = free_address()?;
        let mut command = Command::new(&session.wavetank);
        command.args(["serve", "--threads", "1", "--listen"]).arg(address.to_string());
        Self::start(session, command, address, Kind::Wavetank)
    }

    /// nginx with one worker on the target's CPU, answering from memory and logging nothing.
    pub(super) fn nginx(session: &Session) -> Result<Self> {
        let nginx = ci::find_program("nginx").context("nginx is not installed")?;
        let address = free_address()?;
        let folder = session.folder.path();
        let file = folder.join("nginx.conf");
        std::fs::write(&file, nginx_configuration(folder, address)).context("nginx.conf")?;
        let mut command = Command::new(nginx);
        command.arg("-p").arg(folder).arg("-c").arg(&file).args(["-e", "error.log"]);
        Self::start(session, command, address, Kind::Nginx)
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Requests it has seen since `earlier` (an answer of [`Self::count`]), the question left out.
    pub(super) fn count_since(&self, earlier: u64) -> Result<u64> {
        Ok(self.count()?.saturating_sub(earlier).saturating_sub(self.per_question))
    }

    /// Its own count so far.
    pub(super) fn count(&self) -> Result<u64> {
        match self.kind {
            Kind::Wavetank => truth_count(&get(self.address, "/truth")?),
            Kind::Nginx => stub_status_count(&get(self.address, "/count")?),
        }
    }

    fn start(session: &Session, mut command: Command, address: SocketAddr, kind: Kind) -> Result<Self> {
        let talk = session.folder.path().join("target.log");
        let talk_file = File::create(&talk).context("target.log")?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(talk_file);
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
        let line = format!("{program} {}", words.join(" "));
        let child = cpus::spawn_on(session.cpus.target, &mut command)?;
        let mut server = Self { child, address, kind, per_question: 0, command: line };
        server.wait_until_it_accepts().with_context(|| {
            format!("it says `{}`", std::fs::read_to_string(&talk).unwrap_or_default().trim())
        })?;
        let first = server.count()?;
        server.per_question = server.count()? - first;
        Ok(server)
    }

    /// Tries until it accepts; the wait between two tries ends early when the process does.
    fn wait_until_it_accepts(&self) -> Result<()> {
        let pid = self.pid().context("the server has ended")?;
        let handle = pidfd_open(pid, PidfdFlags::empty()).context("pidfd_open")?;
        let watch = Stopwatch::start();
        while TcpStream::connect(self.address).is_err() {
            let mut ended = [PollFd::new(&handle, PollFlags::IN)];
            let pause = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            if poll(&mut ended, Some(&pause)).context("poll")? > 0
                || watch.elapsed() > Duration::from_secs(10)
            {
                bail!("`{}` does not accept on {}", self.command, self.address);
            }
        }
        Ok(())
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.child.id()).ok()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGTERM, not SIGKILL: nginx ends its worker.
        if let Some(pid) = self.pid()
            && kill_process(pid, Signal::TERM).is_ok()
        {
            let _ = self.child.wait();
        }
    }
}

/// A port that was free a moment ago.
fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?;
    listener.local_addr().context("no free port")
}

fn nginx_configuration(folder: &Path, address: SocketAddr) -> String {
    let folder = folder.display();
    let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("  {name}_temp_path {folder}/{name};\n"))
        .concat();
    format!(
        "daemon off;\nworker_processes 1;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n\
         events {{ worker_connections 4096; }}\n\
         http {{\n{places}  access_log off;\n  default_type text/plain;\n\
         \x20 keepalive_requests 1000000000;\n  keepalive_timeout 3600s;\n\
         \x20 server {{\n    listen {address};\n\
         \x20   location / {{ return 200 \"a small body, always the same\\n\"; }}\n\
         \x20   location = /count {{ stub_status; }}\n  }}\n}}\n"
    )
}

/// One request on a connection of its own.
fn get(address: SocketAddr, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address).context("the target is gone")?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).context("a timeout")?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .context("the target")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).with_context(|| format!("no answer to {path}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").with_context(|| format!("no head: {answer}"))?;
    if !head.starts_with("HTTP/1.1 200") {
        bail!("{path}: {}", head.lines().next().unwrap_or_default());
    }
    Ok(body.to_owned())
}

/// `requests` of `/truth`.
fn truth_count(body: &str) -> Result<u64> {
    let truth: Value = serde_json::from_str(body).with_context(|| format!("/truth: {body}"))?;
    truth["requests"].as_u64().context("/truth has no `requests`")
}

/// The third number of the third line of nginx's `stub_status`.
fn stub_status_count(body: &str) -> Result<u64> {
    let line = body.lines().nth(2).with_context(|| format!("stub_status: {body}"))?;
    line.split_whitespace().nth(2).context("stub_status")?.parse().context("stub_status")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read() {
        let stub = "Active connections: 1 \nserver accepts handled requests\n 7 7 1042 \nReading: 0 Writing: 1 Waiting: 0 \n";
        assert_eq!(stub_status_count(stub).expect("has a count"), 1_042);
        assert_eq!(truth_count(r#"{"requests":12}"#).expect("has a count"), 12);
        assert!(stub_status_count("nothing").is_err() && truth_count("{}").is_err());
    }

    #[test]
    fn the_configuration_has_balanced_braces_and_the_address() {
        let text = nginx_configuration(Path::new("/somewhere"), SocketAddr::from(([127, 0, 0, 1], 81)));
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(text.contains("listen 127.0.0.1:81;") && text.contains("worker_processes 1;"));
    }
}
