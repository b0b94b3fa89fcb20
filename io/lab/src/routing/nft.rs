//! Loads rules into the kernel with `nft`.

use std::fs::File;
use std::io::{Seek, Write};
use std::process::{Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};
use wavetank_topology::{NftBalancer, Pool};
use wavetank_units::{Code, UserError, sanitize};

use crate::response::system;

/// Maximum number of characters of `nft`'s output in a message.
const SAID_CHARS_MAX: usize = 400;

/// Loads the rules with all slots empty, unless they are already loaded. Open connections depend on
/// what the kernel remembers in them.
pub(super) fn load(steering: &NftBalancer<'_>, file: &str) -> Result<(), UserError> {
    if is_loaded(steering)? {
        return Ok(());
    }
    let rules = steering.rules();
    run(&rules.text).map_err(|said| {
        let place = line_named(&said).and_then(|line| rules.origin_of(line));
        refused(&said, place.map(|place| format!("{file}:{}:{}", place.line, place.column)))
    })
}

/// Whether the rules are in the kernel.
fn is_loaded(steering: &NftBalancer<'_>) -> Result<bool, UserError> {
    let mut nft = nft();
    nft.args(["--terse", "list", "table"]).args(steering.table().split(' '));
    let output =
        nft.stdin(Stdio::null()).output().map_err(|error| system("`nft` cannot be started", &error))?;
    Ok(output.status.success())
}

/// Assigns the slots to the servers that are alive. The table is replaced atomically for packets.
pub(super) fn swap(steering: &NftBalancer<'_>, pool: &Pool) -> Result<(), UserError> {
    run(&steering.slots(&pool.weights())).map_err(|said| refused(&said, None))
}

/// Removes the rules.
pub(super) fn remove(steering: &NftBalancer<'_>) -> Result<(), UserError> {
    run(&steering.removal()).map_err(|said| refused(&said, None))
}

/// Runs `nft` with `text` as its input; the error is its error output.
fn run(text: &str) -> Result<(), String> {
    let input = memory_file(text).map_err(|error| error.to_string())?;
    let mut nft = nft();
    nft.args(["--file", "-"]).stdin(Stdio::from(input)).stdout(Stdio::null());
    let output = nft.output().map_err(|error| error.to_string())?;
    let said = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said()) }
}

/// Services have the administration folders in their `PATH`.
fn nft() -> Command {
    Command::new("nft")
}

/// An unnamed file, which `nft` reads without a writer at the other end of a pipe.
fn memory_file(text: &str) -> std::io::Result<File> {
    let mut file = File::from(memfd_create("wavetank-rules", MemfdFlags::CLOEXEC)?);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

/// Returns the input line of `nft`'s first error: `/dev/stdin:12:5-8: Error: …`.
fn line_named(said: &str) -> Option<usize> {
    let (_, after) = said.split_once("/dev/stdin:")?;
    after.split(':').next()?.parse().ok()
}

/// `at` is the place in the topology file that caused the line.
fn refused(said: &str, at: Option<String>) -> UserError {
    let first: Vec<&str> = said.lines().take(2).map(str::trim).collect();
    let words: String = sanitize(&first.join(" ")).chars().take(SAID_CHARS_MAX).collect();
    let at = at.map_or_else(String::new, |at| format!("{at}: "));
    let hint =
        "nftables 1.0 and a kernel with its netdev family, maps and hashes; for NAT also connection tracking";
    UserError::refused(Code::LabNft, format!("{at}`nft` rejects the rules: {words}"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: &str, line: Option<usize>) {
        assert_eq!(line_named(said), line, "{said}");
    }

    #[test]
    fn the_line_is_the_first_one_named() {
        check("/dev/stdin:12:5-8: Error: syntax error\n/dev/stdin:30:1-1: Error: x", Some(12));
        check("Error: Could not process rule: Operation not permitted", None);
        check("/dev/stdin:x: Error", None);
        check("", None);
    }
}
