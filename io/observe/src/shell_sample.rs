//! [`ShellSample`]: what a POSIX shell reads of a host without any program of ours.
//!
//! [`SHELL_SAMPLER`] prints a sample each second, from files of `/proc` (proc(5)). Counters become
//! rates by the host's own clock, the first number of `/proc/uptime`, so that delays of the network
//! between two samples do not matter.

use std::collections::BTreeMap;

/// The line after a sample.
pub const SAMPLE_END: &str = "wavetank-sample-end";

/// Commands for a POSIX shell that print a sample each second until they are ended.
pub const SHELL_SAMPLER: &str = "while :; do \
    read up rest </proc/uptime; echo \"uptime $up\"; \
    read load rest </proc/loadavg; echo \"load $load\"; \
    grep '^cpu' /proc/stat; \
    grep -E '^(MemTotal|MemAvailable):' /proc/meminfo; \
    sed 's/^/dev /' /proc/net/dev; \
    grep -E '^(TCP|sockets):' /proc/net/sockstat; \
    echo wavetank-sample-end; sleep 1; done";

/// Jiffies of one CPU: all, idle, softirq, steal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CoreTicks {
    total: u64,
    idle: u64,
    softirq: u64,
    steal: u64,
}

/// One sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShellSample {
    /// Time since the host's boot in seconds.
    uptime_s: f64,
    /// Load average of the last minute.
    load_average: f64,
    /// By CPU number, as in `/proc/stat`.
    cores: BTreeMap<u32, CoreTicks>,
    memory_total_bytes: u64,
    memory_available_bytes: u64,
    /// By interface: bytes received, packets dropped on receiving, bytes sent, dropped on sending.
    interfaces: BTreeMap<String, [u64; 4]>,
    tcp_in_use: u64,
    tcp_time_wait: u64,
}

/// What a host did between two samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostActivity {
    /// Busy share of each CPU, 0 to 1, in the order of their numbers.
    pub cores: Vec<f64>,
    /// Share of all CPU time in softirq, 0 to 1: the kernel's network work.
    pub softirq: f64,
    /// Share of all CPU time that the hypervisor gave to others, 0 to 1.
    pub steal: f64,
    /// Load average of the last minute.
    pub load_average: f64,
    /// Memory in use, and all of it, in bytes.
    pub memory_used_bytes: u64,
    /// All memory in bytes.
    pub memory_total_bytes: u64,
    /// Bytes received per second on all interfaces but the loopback.
    pub received_per_s: f64,
    /// Bytes sent per second on all interfaces but the loopback.
    pub sent_per_s: f64,
    /// Packets dropped per second, both directions.
    pub dropped_per_s: f64,
    /// TCP sockets in use.
    pub tcp_in_use: u64,
    /// TCP sockets in `TIME_WAIT`.
    pub tcp_time_wait: u64,
}

impl ShellSample {
    /// Reads the lines of a sample. Lines that are not known are ignored. `None`: the sample lacks
    /// the host's time or its CPUs.
    pub fn parse<'a>(lines: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut sample = Self::default();
        for line in lines {
            sample.add(line);
        }
        (sample.uptime_s > 0.0 && !sample.cores.is_empty()).then_some(sample)
    }

    fn add(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { return };
        let number = |word: Option<&str>| word.and_then(|word| word.parse::<u64>().ok());
        match first {
            "uptime" => self.uptime_s = words.next().and_then(|word| word.parse().ok()).unwrap_or(0.0),
            "load" => self.load_average = words.next().and_then(|word| word.parse().ok()).unwrap_or(0.0),
            "MemTotal:" => self.memory_total_bytes = number(words.next()).unwrap_or(0).saturating_mul(1_024),
            "MemAvailable:" => {
                self.memory_available_bytes = number(words.next()).unwrap_or(0).saturating_mul(1_024);
            }
            "dev" => self.add_interface(line),
            "TCP:" => {
                let words: Vec<&str> = words.collect();
                let value = |name: &str| {
                    let at = words.iter().position(|word| *word == name)?;
                    words.get(at + 1)?.parse().ok()
                };
                self.tcp_in_use = value("inuse").unwrap_or(0);
                self.tcp_time_wait = value("tw").unwrap_or(0);
            }
            cpu => {
                let Some(core) = cpu.strip_prefix("cpu").and_then(|number| number.parse().ok()) else {
                    return;
                };
                let ticks: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
                let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
                // user nice system idle iowait irq softirq steal; guest time is part of user time.
                let total = ticks.iter().take(8).fold(0, |sum: u64, ticks| sum.saturating_add(*ticks));
                let idle = at(3).saturating_add(at(4));
                self.cores.insert(core, CoreTicks { total, idle, softirq: at(6), steal: at(7) });
            }
        }
    }

    /// Reads a line of `/proc/net/dev`: `dev eth0: BYTES PACKETS ERRS DROP … BYTES PACKETS ERRS
    /// DROP`.
    fn add_interface(&mut self, line: &str) {
        let Some((name, counters)) = line["dev".len()..].split_once(':') else { return };
        let name = name.trim();
        let counters: Vec<u64> = counters.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        if name != "lo" && counters.len() >= 12 {
            let counters = [counters[0], counters[3], counters[8], counters[11]];
            self.interfaces.insert(name.to_owned(), counters);
        }
    }

    /// Returns what the host did since `before`. `None`: no time passed, or the host was started
    /// again.
    pub fn activity_since(&self, before: &Self) -> Option<HostActivity> {
        let seconds = self.uptime_s - before.uptime_s;
        if seconds <= 0.0 {
            return None;
        }
        let mut all = CoreTicks::default();
        let core = |(number, now): (&u32, &CoreTicks)| {
            let then = before.cores.get(number).copied().unwrap_or(*now);
            let grown = |now: u64, then: u64| now.saturating_sub(then);
            let since = CoreTicks {
                total: grown(now.total, then.total),
                idle: grown(now.idle, then.idle),
                softirq: grown(now.softirq, then.softirq),
                steal: grown(now.steal, then.steal),
            };
            all.total += since.total;
            all.softirq += since.softirq;
            all.steal += since.steal;
            share(since.total.saturating_sub(since.idle), since.total)
        };
        let cores = self.cores.iter().map(core).collect();
        // Containers come and go with their interfaces; only those of both samples count.
        let grown = |index: usize| {
            let each = self.interfaces.iter().filter_map(|(name, now)| {
                Some(now[index].saturating_sub(before.interfaces.get(name)?[index]))
            });
            each.fold(0, u64::saturating_add) as f64 / seconds
        };
        Some(HostActivity {
            cores,
            softirq: share(all.softirq, all.total),
            steal: share(all.steal, all.total),
            load_average: self.load_average,
            memory_used_bytes: self.memory_total_bytes.saturating_sub(self.memory_available_bytes),
            memory_total_bytes: self.memory_total_bytes,
            received_per_s: grown(0),
            sent_per_s: grown(2),
            dropped_per_s: grown(1) + grown(3),
            tcp_in_use: self.tcp_in_use,
            tcp_time_wait: self.tcp_time_wait,
        })
    }
}

impl HostActivity {
    /// Returns the busy share of all CPUs together, 0 to 1.
    pub fn busy(&self) -> f64 {
        if self.cores.is_empty() { 0.0 } else { self.cores.iter().sum::<f64>() / self.cores.len() as f64 }
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "uptime 100.00\nload 0.50\ncpu  9 9 9 9\ncpu0 100 0 100 800 0 0 0 0 5 0\ncpu1 0 0 0 1000 0 0 0 0\n\
        MemTotal: 2000 kB\nMemAvailable: 1500 kB\ndev Inter-|   Receive\ndev    lo: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n\
        dev  eth0: 1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0\nsockets: used 9\nTCP: inuse 7 orphan 0 tw 3 alloc 9 mem 1\n";
    const AFTER: &str = "uptime 102.00\nload 0.75\ncpu0 200 0 140 840 10 0 10 0 6 0\ncpu1 0 0 0 1150 0 0 0 50\n\
        MemTotal: 2000 kB\nMemAvailable: 1000 kB\ndev  eth0:3000 3 0 4 0 0 0 0 8000 2 0 2 0 0 0 0\ndev veth1: 1 1 1 1 1 1 1 1 1 1 1 1\n\
        TCP: inuse 8 orphan 0 tw 4 alloc 9 mem 1\n";

    #[test]
    fn two_samples_are_an_activity() {
        let parse = |text: &str| ShellSample::parse(text.lines()).expect("a sample");
        let activity = parse(AFTER).activity_since(&parse(BEFORE)).expect("two seconds");
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        near(activity.cores[0], 0.75);
        near(activity.cores[1], 0.25);
        near(activity.busy(), 0.5);
        near(activity.softirq, 10.0 / 400.0);
        near(activity.steal, 50.0 / 400.0);
        near(activity.received_per_s, 1_000.0);
        near(activity.sent_per_s, 3_000.0);
        near(activity.dropped_per_s, 3.0);
        let memory = (activity.memory_used_bytes, activity.memory_total_bytes);
        assert_eq!((memory, activity.tcp_in_use, activity.tcp_time_wait), ((1_024_000, 2_048_000), 8, 4));
        assert_eq!(parse(BEFORE).activity_since(&parse(AFTER)), None);
    }

    #[test]
    fn what_is_no_sample_is_none() {
        for text in ["", "uptime x\ncpu0 1\n", "cpu0 1 2 3 4\n", "dev\ndev:\ncpu\nTCP: inuse\n"] {
            assert_eq!(ShellSample::parse(text.lines()), None, "{text}");
        }
        // Counters at their limits and missing columns are no reason to stop.
        let text = format!("uptime 1\ncpu0 {0} {0} {0} {0}\ncpu1\ndev a: 1 2\nTCP: inuse x\n", u64::MAX);
        assert!(ShellSample::parse(text.lines()).is_some());
    }

    #[test]
    fn this_host_can_be_sampled() {
        let script = SHELL_SAMPLER.replace("sleep 1", "exit 0");
        let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
        let text = String::from_utf8_lossy(&output.stdout);
        let sample = ShellSample::parse(text.lines()).expect("a sample of this host");
        assert!(!sample.cores.is_empty() && sample.memory_total_bytes > 0, "{text}");
        assert!(text.trim_end().ends_with(SAMPLE_END), "{text}");
    }
}
