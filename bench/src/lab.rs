//! `bench lab`: starts and stops a lab of eight hosts repeatedly, and measures the times and what
//! is left.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::session::Session;
use crate::stopwatch::Stopwatch;

/// Longest time until a lab is up and every server in it answers.
const UP_MAX: Duration = Duration::from_secs(3);
/// Longest time until it is gone.
const DOWN_MAX: Duration = Duration::from_secs(2);
/// Three load hosts, a balancer, and four servers behind it.
const TOPOLOGY: &str = "\
wavetank_lab: 1
name: bench
networks:
  front: 10.30.0.0/24
  back: 10.30.1.0/24
hosts:
  load[1-3]: {role: load, networks: [front]}
  lb1:
    role: balancer
    networks: [front, back]
    services:
      - haproxy: {mode: http, listen: 8080, servers: \"app[1-4]:8080\"}
  app[1-4]:
    role: server
    networks: [back]
    services:
      - serve: {listen: 8080}
";

/// `cargo xtask bench lab`.
#[derive(Args, Default)]
pub(crate) struct LabArguments {
    /// Times the lab is brought up and taken down [default: 30; 2 in a smoke run]
    #[arg(long)]
    cycles: Option<usize>,
}

/// State of this machine that a lab must leave unchanged.
#[derive(Debug, PartialEq, Eq)]
struct Machine {
    links: BTreeSet<String>,
    mounts: String,
    groups: BTreeSet<String>,
    processes: BTreeSet<String>,
}

/// Runs all cycles in a row.
pub(crate) fn run(session: &mut Session, arguments: &LabArguments) -> Result<()> {
    if let Err(error) = crate::namespace::possible() {
        session.skip(format!("bench lab: {error:#}"));
        return Ok(());
    }
    for program in ["ip", "tc", "nft", "haproxy"] {
        if !session.has(program, "lab") {
            return Ok(());
        }
    }
    let cycles = arguments.cycles.unwrap_or(session.size.choose(30, 2)).max(1);
    let file = session.folder.path().join("lab.yaml");
    std::fs::write(&file, TOPOLOGY).context("the topology")?;
    let file = file.to_string_lossy().into_owned();
    let before = Machine::now();
    let (mut ups, mut downs, mut left) = (Vec::new(), Vec::new(), 0);
    println!("\ncycle    up         down");
    for cycle in 1..=cycles {
        let up = timed(session, &["up", &file])?;
        timed(session, &["exec", "load1", "--", "curl", "-sf", "-o", "/dev/null", "http://lb1:8080/"])?;
        let down = timed(session, &["down"])?;
        println!("{cycle:<7}  {:>6} ms  {:>6} ms", up.as_millis(), down.as_millis());
        ups.push(up);
        downs.push(down);
        let after = Machine::now();
        if after != before {
            println!("left after cycle {cycle}: {after:?}");
            left += 1;
        }
    }
    let slowest = |times: &[Duration]| times.iter().max().copied().unwrap_or_default();
    for (what, times, most) in [("up", &ups, UP_MAX), ("down", &downs, DOWN_MAX)] {
        session.score(
            format!("lab {what}, 8 hosts, slowest of {cycles}"),
            format!("≤ {} ms", most.as_millis()),
            format!("{} ms", slowest(times).as_millis()),
            Some(slowest(times) <= most),
        );
    }
    let number = format!("labs of {cycles} with leftovers");
    session.score(number, "0".to_owned(), left.to_string(), Some(left == 0));
    Ok(())
}

/// Runs `wavetank lab WORDS`, which must succeed, and returns how long it took.
fn timed(session: &Session, words: &[&str]) -> Result<Duration> {
    let mut command = Command::new(&session.wavetank);
    command
        .arg("lab")
        .args(words)
        .env("WAVETANK_LABS", session.folder.path().join("labs"))
        .stdin(Stdio::null());
    let watch = Stopwatch::start();
    let output = command.output().context("wavetank")?;
    let took = watch.elapsed();
    if !output.status.success() {
        bail!("lab {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(took)
}

impl Machine {
    fn now() -> Self {
        let groups = below(Path::new("/sys/fs/cgroup"), 2);
        let lines = names(Path::new("/proc")).into_iter().filter_map(|pid| {
            let line = std::fs::read(Path::new("/proc").join(pid).join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&line).replace('\0', " "))
        });
        Self {
            links: names(Path::new("/sys/class/net")),
            mounts: std::fs::read_to_string("/proc/self/mounts").unwrap_or_default(),
            groups: groups.into_iter().filter(|name| name.starts_with("wavetank-bench-")).collect(),
            processes: lines.filter(|line| line.contains("wavetank-bench-")).collect(),
        }
    }
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Returns the names of folders at most `levels` levels below `folder`.
fn below(folder: &Path, levels: usize) -> BTreeSet<String> {
    let mut all = names(folder);
    if levels > 1 {
        for name in all.clone() {
            all.extend(below(&folder.join(name), levels - 1));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_where_nothing_was_made() {
        assert_eq!(Machine::now(), Machine::now());
        assert!(below(Path::new("/sys"), 2).len() > names(Path::new("/sys")).len());
    }
}
