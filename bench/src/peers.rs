//! [`Peer`]: a load generator from a registry of another language, installed next to the build.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::programs;
use crate::session::Session;

/// A load generator that Debian does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Locust,
    Ghz,
    Artillery,
    Oha,
}

impl Peer {
    /// Returns the name of its program.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Locust => "locust",
            Self::Ghz => "ghz",
            Self::Artillery => "artillery",
            Self::Oha => "oha",
        }
    }

    /// Returns the version that the recorded numbers refer to.
    fn version(self) -> &'static str {
        match self {
            Self::Locust => "2.47.0",
            Self::Ghz => "0.120.0",
            Self::Artillery => "2.0.21",
            Self::Oha => "1.16.0",
        }
    }

    /// Returns the path of its program below the folder in which it is installed.
    fn program(self) -> &'static str {
        match self {
            Self::Locust => "bin/locust",
            Self::Ghz => "bin/ghz",
            Self::Artillery => "node_modules/.bin/artillery",
            Self::Oha => "bin/oha",
        }
    }

    /// Returns the program: an installed one, or one next to the build. The first call installs it
    /// there. If that is impossible, notes that `bench` is skipped and returns `None`. A bench runs
    /// without a network, so this comes before it.
    pub(crate) fn installed(self, session: &mut Session, bench: &str) -> Option<PathBuf> {
        if let Some(program) = programs::find(self.name()) {
            return Some(program);
        }
        let place = session.wavetank.parent()?.with_file_name("peers").join(self.name());
        let program = place.join(self.program());
        if !program.is_file() {
            println!("installing {} {} next to the build", self.name(), self.version());
            if let Err(error) = self.install(&place) {
                session.skip(format!("bench {bench} with {}: {error:#}", self.name()));
                return None;
            }
        }
        Some(program)
    }

    fn install(self, place: &Path) -> Result<()> {
        std::fs::create_dir_all(place).with_context(|| place.display().to_string())?;
        let version = self.version();
        match self {
            Self::Locust => {
                run("python3", |python| python.args(["-m", "venv"]).arg(place))?;
                let pip = place.join("bin").join("pip");
                run(&pip.to_string_lossy(), |pip| pip.args(["install", "-q", &format!("locust=={version}")]))
            }
            Self::Ghz => run("go", |go| {
                let package = format!("github.com/bojand/ghz/cmd/ghz@v{version}");
                go.args(["install", &package]).env("GOBIN", place.join("bin"))
            }),
            Self::Artillery => run("npm", |npm| {
                let options = ["install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts"];
                npm.args(options).arg("--prefix").arg(place).arg(format!("artillery@{version}"))
            }),
            Self::Oha => run("cargo", |cargo| {
                let options = ["install", "oha", "--locked", "--features", "http3", "--version", version];
                cargo.args(options).arg("--root").arg(place).env_remove("RUSTFLAGS")
            }),
        }
    }
}

/// Runs a command of an installation. An error has the last line that it printed.
fn run(program: &str, arguments: impl FnOnce(&mut Command) -> &mut Command) -> Result<()> {
    let path = programs::find(program).with_context(|| format!("{program} is not installed"))?;
    let mut command = Command::new(path);
    arguments(&mut command).stdin(Stdio::null());
    let output = command.output().with_context(|| format!("cannot start {program}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.trim().lines().last().unwrap_or("the installation failed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_says_why() {
        let check = |program: &str, script: &str, expected: Option<&str>| {
            let outcome = run(program, |command| command.args(["-c", script]));
            assert_eq!(outcome.err().map(|error| format!("{error:#}")).as_deref(), expected);
        };
        check("sh", "exit 0", None);
        check("sh", "echo first >&2; echo last >&2; exit 3", Some("last"));
        check("sh", "exit 3", Some("the installation failed"));
        check("no-such-program", "", Some("no-such-program is not installed"));
    }
}
