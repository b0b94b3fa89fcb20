//! [`HostState`]: facts about a host, from a snapshot.

use crate::{KernelVersion, LintContext, Snapshot};

/// Facts about a host, read from its snapshot when they are asked for.
#[derive(Clone, Debug)]
pub struct HostState<'s> {
    /// The files.
    pub snapshot: &'s Snapshot,
}

/// The limit of open files of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLimit {
    /// The process's name; empty for a session.
    pub process: String,
    /// The soft limit.
    pub soft: u64,
    /// The hard limit.
    pub hard: u64,
}

impl HostState<'_> {
    /// Returns the kernel's version.
    pub fn kernel(&self) -> Option<KernelVersion> {
        KernelVersion::of_release(self.snapshot.get("/proc/sys/kernel/osrelease")?)
    }

    /// Returns the memory in bytes.
    pub fn memory_bytes(&self) -> Option<u64> {
        let line = self.snapshot.get("/proc/meminfo")?.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1_024)
    }

    /// Returns the number of CPUs that are online: `0-3,5`.
    pub fn cpus(&self) -> Option<u64> {
        let ranges = self.snapshot.get("/sys/devices/system/cpu/online")?.split(',');
        let count = |range: &str| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            last.trim().parse::<u64>().ok()?.checked_sub(first.trim().parse().ok()?)?.checked_add(1)
        };
        ranges.map(count).sum()
    }

    /// Returns the facts that lints use.
    pub fn lint_context(&self) -> LintContext {
        let number = |key: &str| self.snapshot.setting(key).and_then(|value| value.parse().ok());
        LintContext {
            kernel: self.kernel(),
            memory_bytes: self.memory_bytes(),
            cpus: self.cpus(),
            somaxconn: number("net.core.somaxconn"),
            nr_open: number("fs.nr_open"),
            file_max: number("fs.file-max"),
            rmem_max: number("net.core.rmem_max"),
            ..LintContext::default()
        }
    }

    /// Returns the limits of this session and of server processes, the lowest of each name.
    pub fn file_limits(&self) -> Vec<FileLimit> {
        let mut limits: Vec<FileLimit> = Vec::new();
        for (pid, text) in self.snapshot.between("/proc/", "/limits") {
            let Some((soft, hard)) = open_files(text) else { continue };
            let name = self.snapshot.get(&format!("/proc/{pid}/comm")).unwrap_or_default();
            let process = if pid == "self" { String::new() } else { name.to_owned() };
            match limits.iter_mut().find(|known| known.process == process) {
                Some(known) if known.soft > soft => *known = FileLimit { process, soft, hard },
                Some(_) => {}
                None => limits.push(FileLimit { process, soft, hard }),
            }
        }
        limits
    }

    /// Returns ports with a listener in this network.
    pub fn listening_ports(&self) -> Vec<u16> {
        let texts =
            ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().filter_map(|path| self.snapshot.get(path));
        let port = |line: &str| {
            let mut words = line.split_whitespace().skip(1);
            let local = words.next()?;
            // 0A is LISTEN.
            let state = words.nth(1)?;
            (state == "0A").then_some(())?;
            u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()
        };
        let mut ports: Vec<u16> = texts.flat_map(str::lines).filter_map(port).collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }

    /// Returns a counter of `/proc/net/netstat`.
    pub fn counter(&self, group: &str, name: &str) -> Option<u64> {
        let mut lines =
            self.snapshot.get("/proc/net/netstat")?.lines().filter(|line| line.starts_with(group));
        let at = lines.next()?.split_whitespace().position(|word| word == name)?;
        lines.next()?.split_whitespace().nth(at)?.parse().ok()
    }

    /// Whether the host tracks connections in this network, and how many of how many.
    pub fn tracked(&self) -> Option<(u64, u64)> {
        let count = self.snapshot.number("/proc/sys/net/netfilter/nf_conntrack_count")?;
        let most = self.snapshot.number("/proc/sys/net/netfilter/nf_conntrack_max")?;
        (count > 0).then_some((count, most))
    }

    /// Whether the kernel's settings are mounted read-only, as containers do.
    pub fn is_read_only(&self) -> bool {
        let mounts = self.snapshot.get("/proc/self/mountinfo").unwrap_or_default();
        let options = |line: &str| {
            let mut words = line.split_whitespace().skip(4);
            Some((words.next()?.to_owned(), words.next()?.to_owned()))
        };
        let own = mounts.lines().filter_map(options).rfind(|(path, _)| path == "/proc/sys");
        own.is_some_and(|(_, options)| options.split(',').any(|option| option == "ro"))
    }
}

/// Reads soft and hard limit of open files from `/proc/PID/limits`.
fn open_files(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let mut words = line.split_whitespace();
    let mut number = || {
        let word = words.next()?;
        if word == "unlimited" { Some(u64::MAX) } else { word.parse().ok() }
    };
    Some((number()?, number()?))
}
