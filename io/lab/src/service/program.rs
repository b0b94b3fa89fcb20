//! [`Program`]: an external program, its path and its Debian package.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Signal;
use wavetank_driver::Clock;

use super::process::{exits_before, signal};
use crate::routing::ipvs_missing;
use wavetank_topology::{CustomProgram, Lab, NginxWork, ServiceKind};
use wavetank_units::{Code, Nanos, UserError, sanitize};

/// Maximum number of bytes of a program's output about itself.
const WORDS_BYTES_MAX: u64 = 64 * 1024;
/// Time limit for that output. A user's own program may never end.
const ANSWER_MAX: Nanos = Nanos::from_secs(5);
/// Maximum length of a version.
const VERSION_CHARS_MAX: usize = 120;
/// Administration folders that a user's `PATH` may not include.
const ALSO: [&str; 4] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"];
/// Modules that nginx loads for Lua, in this order.
const LUA: [&str; 2] = ["ndk_http_module.so", "ngx_http_lua_module.so"];

/// An external program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    name: &'static str,
    package: &'static str,
    /// The argument that prints its version.
    version: &'static str,
}

impl Program {
    pub(super) const NGINX: Self = Self { name: "nginx", package: "nginx-light", version: "-v" };
    pub(super) const HAPROXY: Self = Self { name: "haproxy", package: "haproxy", version: "-v" };
    pub(super) const NFT: Self = Self { name: "nft", package: "nftables", version: "--version" };
    pub(super) const KEEPALIVED: Self =
        Self { name: "keepalived", package: "keepalived", version: "--version" };

    /// Returns its path: the user's own, or the one in `PATH`.
    pub(super) fn find(self, own: &CustomProgram) -> Result<PathBuf, UserError> {
        let Some(binary) = &own.binary else {
            return found(self.name).ok_or_else(|| {
                let message = format!("{} is not installed, and a service of the lab needs it", self.name);
                UserError::refused(Code::LabProgram, message, format!("apt-get install {}", self.package))
            });
        };
        found(binary).ok_or_else(|| {
            let message = format!("there is no program `{}`", sanitize(binary));
            let hint = format!(
                "set `binary` to an absolute path or a name in PATH; without it the lab uses {}",
                self.name
            );
            UserError::refused(Code::LabProgram, message, hint)
        })
    }

    /// Returns its name and version, from the first line of its output.
    pub(super) fn version(self, path: &Path) -> Option<String> {
        let said = words(path, self.version)?;
        let line = said.lines().find(|line| !line.trim().is_empty())?;
        Some(sanitize(&version_in(line.trim())).chars().take(VERSION_CHARS_MAX).collect())
    }
}

/// Returns `nginx 1.22.1` for `nginx version: nginx/1.22.1`, `HAProxy 2.6.12` for `HAProxy version
/// 2.6.12 2026/…`, and `nftables 1.0.6` for `nftables v1.0.6 (…)`. A line without such a number is
/// returned unchanged.
fn version_in(line: &str) -> String {
    let number = |word: &str| {
        let number = word.strip_prefix('v').unwrap_or(word);
        number.starts_with(|first: char| first.is_ascii_digit()).then(|| number.to_owned())
    };
    let named = line.split_whitespace().find_map(|word| match word.split_once('/') {
        Some((program, version)) => Some((program, number(version)?)),
        None => Some((line.split_whitespace().next()?, number(word)?)),
    });
    named.map_or_else(|| line.to_owned(), |(program, version)| format!("{program} {version}"))
}

/// The paths with which an nginx was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NginxPaths {
    /// The folder where relative names start that are not in a configuration's folder.
    pub(super) prefix: PathBuf,
    /// Its own configuration.
    pub(super) conf: PathBuf,
    /// Its error log while no configuration names another; may be `stderr`.
    pub(super) error_log: PathBuf,
}

impl NginxPaths {
    /// Asks the nginx at `path`.
    pub(super) fn of(path: &Path) -> Self {
        Self::read(&words(path, "-V").unwrap_or_default())
    }

    fn read(built: &str) -> Self {
        let prefix = PathBuf::from(build_option(built, "--prefix").unwrap_or("/usr/local/nginx"));
        let path = |name, default| prefix.join(build_option(built, name).unwrap_or(default));
        let error_log = match build_option(built, "--error-log-path") {
            Some("stderr") => PathBuf::from("stderr"),
            _ => path("--error-log-path", "logs/error.log"),
        };
        Self { conf: path("--conf-path", "conf/nginx.conf"), error_log, prefix }
    }
}

/// Returns the value of an option in the output of `nginx -V`.
fn build_option<'b>(built: &'b str, name: &str) -> Option<&'b str> {
    built.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// Returns the modules that this nginx must load for Lua; empty if Lua is built in.
pub(super) fn lua_modules(nginx: &Path) -> Result<Vec<String>, UserError> {
    let built = words(nginx, "-V").unwrap_or_default();
    let option = |name: &str| build_option(&built, name);
    let static_lua =
        built.split_whitespace().any(|word| word.starts_with("--add-module=") && word.contains("lua"));
    if static_lua {
        return Ok(Vec::new());
    }
    let prefix = option("--prefix").unwrap_or("/usr/local/nginx");
    let folder = option("--modules-path").map_or_else(|| Path::new(prefix).join("modules"), PathBuf::from);
    let paths: Vec<PathBuf> = LUA.iter().map(|name| folder.join(name)).collect();
    match paths.iter().find(|path| !path.is_file()) {
        None => Ok(paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()),
        Some(missing) => {
            let message = format!("nginx has no Lua here: there is no {}", missing.display());
            let hint = "apt-get install libnginx-mod-http-lua; or set `binary` to an nginx that has it";
            Err(UserError::refused(Code::LabProgram, message, hint))
        }
    }
}

/// Checks that every program for the lab's services is on this machine.
pub(super) fn check_all(lab: &Lab) -> Result<(), UserError> {
    let mut errors: Vec<UserError> = Vec::new();
    let mut reported = BTreeSet::new();
    for service in lab.hosts.iter().flat_map(|host| &host.services) {
        let checked = match &service.kind {
            ServiceKind::Nginx(nginx) => Program::NGINX.find(&nginx.own).and_then(|path| {
                let lua = nginx.own.config.is_none() && matches!(nginx.work, NginxWork::Sale { .. });
                if lua { lua_modules(&path).map(drop) } else { Ok(()) }
            }),
            ServiceKind::Haproxy(haproxy) => Program::HAPROXY.find(&haproxy.own).map(drop),
            ServiceKind::Command(command) => command_found(&command.words),
            ServiceKind::DirectRouting(_) | ServiceKind::Nat(_) => {
                Program::NFT.find(&CustomProgram::default()).map(drop)
            }
            ServiceKind::Ipvs(ipvs) => {
                let both = [Program::KEEPALIVED.find(&ipvs.own).map(drop), kernel_has_ipvs()];
                UserError::combine(both.into_iter().filter_map(Result::err).collect()).map_or(Ok(()), Err)
            }
            ServiceKind::Serve(_) => Ok(()),
        };
        if let Err(error) = checked {
            // A program that is missing for several services is reported once.
            errors.extend(error.one_by_one().into_iter().filter(|one| reported.insert(one.message.clone())));
        }
    }
    UserError::combine(errors).map_or(Ok(()), Err)
}

fn kernel_has_ipvs() -> Result<(), UserError> {
    ipvs_missing().map_or(Ok(()), |lack| {
        let hint = "direct_routing does the same by nftables; `wavetank explain lab_ipvs`";
        Err(UserError::refused(Code::LabIpvs, lack, hint))
    })
}

fn command_found(words: &[String]) -> Result<(), UserError> {
    let Some(program) = words.first() else { return Ok(()) };
    // A path in the host's own `/etc` exists only with the host.
    if program.starts_with("/etc/") || found(program).is_some() {
        return Ok(());
    }
    let message = format!("there is no program `{}`, but a service of the lab needs it", sanitize(program));
    let hint = "start `run` with a path or a name in PATH; a text instead of a list is run by /bin/sh";
    Err(UserError::refused(Code::LabProgram, message, hint))
}

/// Returns the path for an absolute path or a name.
pub(super) fn found(word: &str) -> Option<PathBuf> {
    let runs = |path: &Path| {
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if word.contains('/') {
        return Some(PathBuf::from(word)).filter(|path| path.is_absolute() && runs(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(ALSO.iter().map(PathBuf::from));
    folders.map(|folder| folder.join(word)).find(|path| path.is_absolute() && runs(path))
}

/// Returns a program's output for a question such as its version. It is one of the programs above,
/// which answer and end.
fn words(path: &Path, question: &str) -> Option<String> {
    // A file takes any amount of output, and can be read while the program still has it open.
    let mut file = File::from(memfd_create("output", MemfdFlags::CLOEXEC).ok()?);
    let mut command = Command::new(path);
    command.arg(question).stdin(Stdio::null()).process_group(0);
    let mut child = command.stdout(file.try_clone().ok()?).stderr(file.try_clone().ok()?).spawn().ok()?;
    let clock = Clock::starting_now();
    if !exits_before(&child, clock, clock.now().after(ANSWER_MAX)) {
        signal(&child, Signal::KILL);
    }
    child.wait().ok()?;
    file.rewind().ok()?;
    let mut said = Vec::new();
    file.take(WORDS_BYTES_MAX).read_to_end(&mut said).ok()?;
    Some(String::from_utf8_lossy(&said).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_name_and_a_number() {
        let check = |line: &str, expected: &str| assert_eq!(version_in(line), expected, "{line}");
        check("nginx version: nginx/1.22.1", "nginx 1.22.1");
        check("nginx version: openresty/1.21.4.1 (Ubuntu)", "openresty 1.21.4.1");
        check(
            "HAProxy version 2.6.12-1+deb12u4 2026/04/18 - https://haproxy.org/",
            "HAProxy 2.6.12-1+deb12u4",
        );
        check("nftables v1.0.6 (Lester Gooch #5)", "nftables 1.0.6");
        check("Keepalived v2.2.7 (01/16,2022)", "Keepalived 2.2.7");
        check("some other output", "some other output");
        check("", "");
    }

    #[test]
    fn the_paths_of_an_nginx_are_read() {
        let debian = NginxPaths::read(
            "configure arguments: --prefix=/usr/share/nginx --conf-path=/etc/nginx/nginx.conf --error-log-path=stderr",
        );
        assert_eq!(
            (debian.prefix.to_str(), debian.conf.to_str()),
            (Some("/usr/share/nginx"), Some("/etc/nginx/nginx.conf"))
        );
        assert_eq!(debian.error_log.to_str(), Some("stderr"));
        let own = NginxPaths::read("");
        assert_eq!(own.conf.to_str(), Some("/usr/local/nginx/conf/nginx.conf"));
        assert_eq!(own.error_log.to_str(), Some("/usr/local/nginx/logs/error.log"));
    }

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        let check = |word: &str, there: bool| assert_eq!(found(word).is_some(), there, "{word}");
        check("sh", true);
        check("/bin/sh", true);
        check("bin/sh", false);
        check("/etc/passwd", false);
        check("no-such-program-of-wavetank", false);
    }

    #[test]
    fn a_missing_program_is_reported_with_its_package() {
        let absent = Program { name: "no-such-program-of-wavetank", package: "no-package", version: "-v" };
        let error = absent.find(&CustomProgram::default()).expect_err("it is not there");
        assert_eq!((error.code.as_str(), error.hint.as_str()), ("lab_program", "apt-get install no-package"));
        let own = CustomProgram { binary: Some("/no/such".to_owned()), ..CustomProgram::default() };
        let error = Program::NGINX.find(&own).expect_err("it is not there");
        assert_eq!((error.code.as_str(), error.message.contains("/no/such")), ("lab_program", true));
    }
}
