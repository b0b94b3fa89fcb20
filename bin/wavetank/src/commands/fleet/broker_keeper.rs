//! The broker of a fleet in the background: started by `fleet up`, ended by `fleet down`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Error;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::event::{Timespec, poll};
use serde_json::Value;
use wavetank_driver::Clock;
use wavetank_units::{Nanos, UserError};

use super::broker_folder::BrokerFolder;
use super::broker_serve::{LOCK, STATE, not_served};
use crate::commands::agent::{AgentLock, end_holder};

/// Time for a server and its tunnels to come up.
const UP_MAX: Nanos = Nanos::from_secs(20);
/// Time for its end.
const END_MAX: Nanos = Nanos::from_secs(30);
const LOOK_EVERY: Nanos = Nanos::from_millis(100);
/// What the process in the background writes.
const LOG: &str = "broker.log";

/// The broker of a fleet in the background.
pub(super) struct BrokerKeeper<'a> {
    pub(super) broker: &'a BrokerFolder,
    /// The fleet file.
    pub(super) fleet: &'a Path,
    pub(super) ssh_config: Option<&'a PathBuf>,
}

impl BrokerKeeper<'_> {
    /// Starts it unless it runs, and waits until its server is up.
    ///
    /// # Errors
    /// If it does not come up. It is ended then, if it was started here.
    pub(super) fn start(&self) -> Result<(), UserError> {
        let dir = &self.broker.dir;
        let failed = |error: Error| not_served(dir, &error);
        let is_there = AgentLock::holder(dir, LOCK).map_err(failed)?.is_some();
        let mut child = if is_there { None } else { Some(self.spawn().map_err(failed)?) };
        let clock = Clock::starting_now();
        let mut reason = "it does not come up in time".to_owned();
        while clock.now() < UP_MAX {
            match self.state()["server"].as_str() {
                Some("up") => return Ok(()),
                Some(problem) if !problem.is_empty() => problem.clone_into(&mut reason),
                _ => {}
            }
            if child.as_mut().is_some_and(|child| !matches!(child.try_wait(), Ok(None))) {
                return Err(not_served(dir, &self.last_error()));
            }
            pause();
        }
        if child.is_some() {
            self.end()?;
        }
        Err(not_served(dir, &reason))
    }

    /// Starts the process in the background.
    fn spawn(&self) -> Result<Child, Error> {
        let dir = &self.broker.dir;
        // What an earlier process left says nothing about this one.
        let _ = std::fs::remove_file(dir.join(STATE));
        let mut options = OpenOptions::new();
        let log = options.create(true).append(true).mode(0o600).open(dir.join(LOG))?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["fleet", "broker", "serve", "--detach", "--fleet"]).arg(self.fleet);
        command.arg("--dir").arg(dir);
        if let Some(config) = self.ssh_config {
            command.arg("--ssh-config").arg(config);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()
    }

    /// Returns why the process in the background ended.
    fn last_error(&self) -> String {
        let log = std::fs::read_to_string(self.broker.dir.join(LOG)).unwrap_or_default();
        let line = log.lines().rev().find_map(|line| line.strip_prefix("error: "));
        let line = line.and_then(|line| line.split_once(": ")).map(|(_, reason)| reason.to_owned());
        line.unwrap_or_else(|| "it ended".to_owned())
    }

    /// Waits for the tunnels to these hosts, and returns why others are not up, by host.
    pub(super) fn tunnel_problems(&self, hosts: &[String]) -> BTreeMap<String, String> {
        let clock = Clock::starting_now();
        loop {
            let state = self.state();
            let problem = |host: &String| {
                let known = state["tunnels"][host].as_str().unwrap_or("it is not one of the broker's hosts");
                (known != "up").then(|| (host.clone(), known.to_owned()))
            };
            let problems: BTreeMap<String, String> = hosts.iter().filter_map(problem).collect();
            if problems.is_empty() || clock.now() >= UP_MAX {
                return problems;
            }
            pause();
        }
    }

    fn state(&self) -> Value {
        let text = std::fs::read_to_string(self.broker.dir.join(STATE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Ends it, with its server and its tunnels.
    ///
    /// # Errors
    /// If it does not end.
    pub(super) fn end(&self) -> Result<(), UserError> {
        let dir = &self.broker.dir;
        end_holder(dir, LOCK, END_MAX).map(drop).map_err(|error| not_served(dir, &error))
    }
}

fn pause() {
    let limit = Timespec { tv_sec: 0, tv_nsec: LOOK_EVERY.0 };
    let _ = poll(&mut [], Some(&limit));
}
