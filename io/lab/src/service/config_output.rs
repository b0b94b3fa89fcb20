//! How a program checks its configuration, and what its output says about it.

use std::fs;

use rustix::process::Signal;
use wavetank_driver::Clock;
use wavetank_topology::render::{ConfigMessage, nginx_listen_line};
use wavetank_units::{Nanos, sanitize};

use super::own_nginx::CONF_FOLDER;
use super::plan::Check;
use super::process::{exits_before, signal};

/// Time limit for a configuration check.
const CHECK_MAX: Nanos = Nanos::from_secs(20);
/// Maximum number of bytes of a program's output about its configuration.
const CHECK_BYTES_MAX: usize = 64 * 1024;

impl Check {
    /// Returns why the program did not accept its configuration, or ended.
    pub(super) fn error(&self, output: &str) -> ConfigMessage {
        let said = (self.parser.error)(&self.without_folder(output), &self.rendered.path);
        let line = said.line.or_else(|| nginx_listen_line(&said.words, &self.rendered.text));
        ConfigMessage { line, ..said }
    }

    /// Returns what the program warned of.
    pub(super) fn warnings(&self, output: &str) -> Vec<ConfigMessage> {
        (self.parser.warnings)(&self.without_folder(output), &self.rendered.path)
    }

    /// Replaces paths of included files by their names as the user knows them.
    fn without_folder(&self, output: &str) -> String {
        output.replace(&format!("{}/{CONF_FOLDER}/", self.launch.folder.display()), "")
    }

    /// Puts the place in the configuration before a message: `(my.cfg:7): …`.
    pub(super) fn in_config(&self, said: &ConfigMessage) -> String {
        let line = said.line.map_or_else(String::new, |line| format!(":{line}"));
        let name = sanitize(self.own.as_deref().unwrap_or(&self.rendered.path)).into_owned();
        format!("({name}{line}): {}", sanitize(&said.words))
    }
}

/// Returns whether the program accepts its configuration, and its output. The output goes to a
/// file, since a program that fills a pipe without a reader would wait forever.
pub(super) fn checked(check: &Check, clock: Clock) -> std::io::Result<(bool, String)> {
    let path = check.launch.folder.join("check.txt");
    // The program may open its error output again as its error log.
    fs::write(&path, "")?;
    let out = fs::File::options().append(true).open(&path)?;
    let err = out.try_clone()?;
    let mut child = check.launch.start(out.into(), err.into())?;
    let ended = exits_before(&child, clock, clock.now().after(CHECK_MAX));
    if !ended {
        signal(&child, Signal::KILL);
    }
    let status = child.wait()?;
    let mut bytes = fs::read(&path)?;
    bytes.truncate(CHECK_BYTES_MAX);
    let words = String::from_utf8_lossy(&bytes).into_owned();
    if ended {
        return Ok((status.success(), words));
    }
    Ok((false, format!("{words}\nits check took longer than {} s", CHECK_MAX.0 / 1_000_000_000)))
}
