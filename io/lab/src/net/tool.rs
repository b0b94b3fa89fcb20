//! [`Tool`]: a system program that reads its commands from standard input.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};
use wavetank_units::{Code, UserError};

/// Maximum number of bytes kept of a program's error output.
const SAID_BYTES_MAX: u64 = 16 * 1024;

/// Maximum number of bytes kept of a program's output: a few kilobytes for each of thousands of
/// interfaces.
const SHOWN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Folders of administration programs that are searched in addition to `PATH`, which often names
/// them for root only.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// A program, and its Debian package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tool {
    name: &'static str,
    package: &'static str,
}

/// The error of a program that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The program.
    pub(crate) tool: Tool,
    /// The rejected line, if the program named one.
    pub(crate) line: Option<String>,
    /// Its output on standard error.
    pub(crate) said: String,
}

impl Tool {
    pub(crate) const IP: Self = Self { name: "ip", package: "iproute2" };
    pub(crate) const TC: Self = Self { name: "tc", package: "iproute2" };
    pub(crate) const NFT: Self = Self { name: "nft", package: "nftables" };
    pub(crate) const SSHD: Self = Self { name: "sshd", package: "openssh-server" };
    pub(crate) const SSH_KEYGEN: Self = Self { name: "ssh-keygen", package: "openssh-client" };

    /// The program's name.
    pub(crate) const fn name(self) -> &'static str {
        self.name
    }

    /// Returns its path, or the error that names its package. `why` ends the sentence: `shapes
    /// links`.
    pub(crate) fn required(self, why: &str) -> Result<PathBuf, UserError> {
        self.path().ok_or_else(|| {
            let message = format!("`{}` is not installed, and it {why}", self.name);
            UserError::refused(Code::LabProgram, message, format!("apt-get install {}", self.package))
        })
    }

    /// Runs `ip` and `tc` with one command per line, up to the first failure.
    pub(crate) fn batch(self, text: &str) -> Result<(), Refusal> {
        self.feed(&["-batch", "-"], text)
    }

    /// Runs `nft` with a file of rules, as one transaction.
    pub(crate) fn rules(self, text: &str) -> Result<(), Refusal> {
        self.feed(&["-f", "-"], text)
    }

    /// Runs it to its end with `text` as its input. An empty text is skipped.
    fn feed(self, arguments: &[&str], text: &str) -> Result<(), Refusal> {
        if text.is_empty() {
            return Ok(());
        }
        let input = memory_file(text).map_err(|error| self.broken(&error))?;
        self.run(arguments, Stdio::from(input)).map_err(|said| self.refusal(text, &said))
    }

    /// Returns the start of its output; the error is its error output.
    pub(crate) fn output(self, arguments: &[&str]) -> Result<String, String> {
        let wrong = |error: std::io::Error| error.to_string();
        let mut printed = memory_file("").map_err(wrong)?;
        let output = printed.try_clone().map_err(wrong)?;
        self.run_into(arguments, Stdio::null(), Stdio::from(output))?;
        printed.rewind().map_err(wrong)?;
        let mut text = String::new();
        printed.take(SHOWN_BYTES_MAX).read_to_string(&mut text).map_err(wrong)?;
        Ok(text)
    }

    /// Runs it to its end; the error is its error output.
    pub(crate) fn run(self, arguments: &[&str], input: Stdio) -> Result<(), String> {
        self.run_into(arguments, input, Stdio::null())
    }

    fn run_into(self, arguments: &[&str], input: Stdio, output: Stdio) -> Result<(), String> {
        let program = self.path().ok_or_else(|| format!("`{}` is not installed", self.name))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(input).stdout(output).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let said = words_of(&mut child).map_err(|error| error.to_string())?;
        let status = child.wait().map_err(|error| error.to_string())?;
        if status.success() { Ok(()) } else { Err(failure_text(&said, status)) }
    }

    fn path(self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).chain(FOLDERS.iter().map(PathBuf::from));
        folders.map(|folder| folder.join(self.name)).find(|file| is_program(file))
    }

    fn broken(self, error: &std::io::Error) -> Refusal {
        Refusal { tool: self, line: None, said: error.to_string() }
    }

    fn refusal(self, text: &str, said: &str) -> Refusal {
        let named = line_named(said).and_then(|line| text.lines().nth(line.checked_sub(1)?));
        let kept = said.lines().filter(|line| !line.starts_with("Command failed")).map(str::trim);
        Refusal { tool: self, line: named.map(str::to_owned), said: kept.collect::<Vec<_>>().join("; ") }
    }
}

impl Refusal {
    /// Converts the refusal into an error.
    pub(crate) fn into_error(self) -> UserError {
        let what = self.line.map_or_else(String::new, |line| format!(" at `{}`", line.trim()));
        let message = format!("`{}` failed{what}: {}", self.tool.name, self.said);
        let hint = "kernel support was checked before, so either the topology is impossible or a host was killed in the meantime";
        UserError::refused(Code::LabNetwork, message, hint)
    }
}

/// Returns an unnamed file with `text`, which a program can read without a writer at the other end
/// of a pipe.
fn memory_file(text: &str) -> std::io::Result<File> {
    let mut file = File::from(memfd_create("wavetank-lab", MemfdFlags::CLOEXEC)?);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// Returns the start of what `child` writes to standard error. The pipe is read to its end, so that
/// a program with much output is not killed.
fn words_of(child: &mut Child) -> std::io::Result<String> {
    let mut pipe = child.stderr.take().expect("standard error was made a pipe when it was started");
    let mut said = Vec::new();
    (&mut pipe).take(SAID_BYTES_MAX).read_to_end(&mut said)?;
    std::io::copy(&mut pipe, &mut std::io::sink())?;
    Ok(String::from_utf8_lossy(&said).trim().to_owned())
}

fn failure_text(said: &str, status: ExitStatus) -> String {
    if said.is_empty() { status.to_string() } else { said.to_owned() }
}

/// Returns the number of the input line that `ip`, `tc` (`Command failed -:3`) or `nft`
/// (`/dev/stdin:3:9-14`) names.
fn line_named(said: &str) -> Option<usize> {
    let (_, after) = said.split_once("Command failed -:").or_else(|| said.split_once("/dev/stdin:"))?;
    let digits = after.find(|letter: char| !letter.is_ascii_digit()).map_or(after, |end| &after[..end]);
    digits.parse().ok()
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "link set lo up\naddr add 10.0.0.1/24 dev eth7\n";

    #[track_caller]
    fn check(said: &str, line: Option<&str>, kept: &str) {
        let refusal = Tool::IP.refusal(TEXT, said);
        assert_eq!((refusal.line.as_deref(), refusal.said.as_str()), (line, kept), "{said}");
    }

    #[test]
    fn a_failed_line_is_reported_with_the_programs_message() {
        let second = Some("addr add 10.0.0.1/24 dev eth7");
        check("Cannot find device \"eth7\"\nCommand failed -:2\n", second, "Cannot find device \"eth7\"");
        check("/dev/stdin:2:1-4: Error: syntax error", second, "/dev/stdin:2:1-4: Error: syntax error");
        check("Error: no way", None, "Error: no way");
        check("Command failed -:9", None, "");
        check("Command failed -:0", None, "");
    }

    #[test]
    fn a_program_that_is_not_there_is_reported_with_its_package() {
        let absent = Tool { name: "no-such-program-of-wavetank", package: "no-package" };
        let error = absent.required("does nothing").expect_err("there is no such program");
        assert_eq!((error.code.as_str(), error.hint.as_str()), ("lab_program", "apt-get install no-package"));
    }
}
