//! Which drivers of Wavetank work on this host.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::engine::Engine;
use crate::server::Server;
use crate::session::Session;

impl Engine {
    /// Returns whether `run` and `serve` support this driver on this host. Otherwise notes that
    /// `bench` is skipped, with their message.
    pub(crate) fn usable(self, session: &mut Session, bench: &str) -> Result<bool> {
        if self == Self::Epoll {
            return Ok(true);
        }
        let why = self.why_not(session)?;
        if let Some(why) = &why {
            session.skip(format!("bench {bench} --engine {}: {why}", self.name()));
        }
        Ok(why.is_none())
    }

    /// Returns `io_uring` if both support it, else epoll.
    pub(crate) fn best(session: &Session) -> Self {
        if matches!(Self::Uring.why_not(session), Ok(None)) { Self::Uring } else { Self::Epoll }
    }

    fn why_not(self, session: &Session) -> Result<Option<String>> {
        let server = match Server::wavetank(session, self) {
            Ok(server) => server,
            Err(error) => return Ok(Some(format!("{error:#}"))),
        };
        let mut command = Command::new(&session.wavetank);
        command.args([
            "run",
            &server.url(),
            "-c",
            "1",
            "-n",
            "1",
            "--threads",
            "1",
            "--no-archive",
            "--quiet",
        ]);
        command.args(["--engine", self.name()]).stdin(Stdio::null());
        let output = command.output().context("wavetank")?;
        let said =
            String::from_utf8_lossy(&output.stderr).trim().lines().next().unwrap_or_default().to_owned();
        Ok((!output.status.success()).then_some(said))
    }
}
