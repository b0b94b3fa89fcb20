//! Causes that several values of a whole host show: its CPUs, disks and interfaces.

use wavetank_units::{Sentence, phrase, sentence};

use super::cause::{Cause, Rank, evidence};
use super::host::{Host, Hosts, Place, seconds};
use crate::{Blame, Finding, FindingCode, format};

/// A host is out of CPU if it used 90 % in this share of its samples, and in this many.
const FULL_SHARE_MIN: f64 = 0.5;
const FULL_SAMPLES_MIN: u64 = 3;
/// Disks are judged from this many samples on: in a shorter load one other program decides.
const DISK_SAMPLES_MIN: u64 = 3;
/// One CPU limits a host if it was used to this share, and all together to no more than that.
const CORE_FULL: f64 = 0.95;
const CPUS_IDLE_MAX: f64 = 0.6;
/// Processes wait for disks if the kernel counts this share of CPU time as such.
const DISK_WAIT_MIN: f64 = 0.25;
/// A hypervisor that takes this share of CPU time is a cause.
const STEAL_MIN: f64 = 0.05;
/// From this share on the kernel drops orphans early: some count several times.
const ORPHANS_MIN: f64 = 0.25;
/// Fewer dropped packets are no cause.
const DROPS_MIN: u64 = 10;
/// Connection tracking costs much if the kernel's network work takes this share of the CPUs, which
/// are idle for no more than that share, and if it has this many entries.
const SOFTIRQ_MIN: f64 = 0.2;
const IDLE_MAX: f64 = 0.4;
const TRACKED_MIN: u64 = 1_000;

/// Returns the first such cause.
pub(super) fn causes(hosts: &Hosts<'_>) -> Vec<Cause> {
    let found =
        [drops(hosts), orphans(hosts), steal(hosts), disk(hosts), tracking(hosts), cpu(hosts), core(hosts)];
    found.into_iter().flatten().take(1).collect()
}

/// The hosts under test, without one that also sends the load: there either may have used its CPUs.
fn apart<'a>(hosts: &Hosts<'a>) -> impl Iterator<Item = Host<'a>> {
    hosts.under_test().filter(|host| host.place == Place::Other)
}

fn finding(code: FindingCode, blame: Blame, message: Sentence, evidence: Sentence, hint: Sentence) -> Cause {
    let decisive = false;
    Cause {
        rank: Rank::Pattern,
        finding: Finding { fix: Vec::new(), code, blame, decisive, message, evidence, hint },
        covers: &[],
    }
}

/// An interface dropped packets: its ring or its queue was full.
fn drops(hosts: &Hosts<'_>) -> Option<Cause> {
    let most = |host: &Host<'_>| {
        let dropped = host.activity().counters().filter(|(name, movement)| {
            let is_drop = name.ends_with(".rx_fifo") || name.ends_with(".tx_drops");
            name.starts_with("dev.") && is_drop && movement.total >= DROPS_MIN
        });
        dropped.max_by_key(|(_, movement)| movement.total).map(|(name, _)| name.to_owned())
    };
    let mut all = hosts.under_test().chain(hosts.senders());
    let (host, counter) = all.find_map(|host| Some((host, most(&host)?)))?;
    let is_sent = counter.ends_with(".tx_drops");
    let interface = counter.trim_start_matches("dev.").rsplit_once('.').map_or("", |(name, _)| name);
    let message = if is_sent {
        sentence!("{interface} of {} dropped packets that it was to send", host.name())
    } else {
        sentence!("{interface} of {} dropped packets because its ring was full", host.name())
    };
    let hint = if is_sent {
        phrase!("a longer queue (ip link set IFACE txqueuelen 10000), fq or fq_codel, or fewer bursts")
    } else {
        phrase!(
            "a longer ring (ethtool -G IFACE rx MAXIMUM), more queues (ethtool -L), or interrupts on more CPUs"
        )
    };
    let text = evidence([host.moved(&counter), hosts.clients(), host.unmoved()]);
    Some(finding(FindingCode::InterfaceDrops, Blame::Network, message, text, hint))
}

/// Returns the share of its CPU time that a host spent as `kind`, by `/proc/stat`.
fn cpu_share(host: &Host<'_>, kind: &str) -> f64 {
    let kinds = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
    let all: u64 = kinds.iter().map(|kind| host.rise(&format!("cpu.{kind}"))).sum();
    host.rise(&format!("cpu.{kind}")) as f64 / all.max(1) as f64
}

/// A hypervisor gave the CPUs of a host to others. The rules of validity are about hosts that send.
fn steal(hosts: &Hosts<'_>) -> Option<Cause> {
    let share = |host: &Host<'_>| cpu_share(host, "steal");
    let host = apart(hosts).find(|host| share(host) >= STEAL_MIN)?;
    let taken = sentence!("the hypervisor took {} of the CPU time", format::percent(share(&host)));
    Some(finding(
        FindingCode::CpuSteal,
        host.blame(),
        sentence!("{} did not get the CPU time that it asked for", host.name()),
        evidence([Some(taken), hosts.clients(), host.unmoved()]),
        phrase!("a larger or a dedicated instance, or other neighbours; do not compare this run with others"),
    ))
}

/// Many connections have no process any more and still take memory of the kernel.
fn orphans(hosts: &Hosts<'_>) -> Option<Cause> {
    let limit =
        |host: &Host<'_>| host.activity().limit("orphans").filter(|limit| limit.share() >= ORPHANS_MIN);
    let (host, limit) = hosts.under_test().find_map(|host| Some((host, limit(&host)?)))?;
    let (used, max) = (format::count(limit.used as u64), format::count(limit.max as u64));
    let many = sentence!("{used} of {max} orphans at {} s", limit.at.as_secs_f64().round());
    Some(finding(
        FindingCode::ManyOrphans,
        host.blame(),
        sentence!("{} has many connections that its programs have closed and peers have not", host.name()),
        evidence([Some(many), host.moved("TcpExt.TCPAbortOnMemory"), hosts.clients(), host.unmoved()]),
        phrase!(
            "let clients close first or read to the end; a shorter lingering close (nginx: `lingering_close`) and \
         net.ipv4.tcp_orphan_retries=1 (a file in /etc/sysctl.d keeps it after a reboot)"
        ),
    ))
}

/// Processes of a host waited for its disks.
fn disk(hosts: &Hosts<'_>) -> Option<Cause> {
    let share = |host: &Host<'_>| cpu_share(host, "iowait");
    let is_long = |host: &Host<'_>| host.activity().samples() >= DISK_SAMPLES_MIN;
    let host = hosts.under_test().find(|host| is_long(host) && share(host) >= DISK_WAIT_MIN)?;
    let waited = sentence!("CPUs waited for disks in {} of their time", format::percent(share(&host)));
    Some(finding(
        FindingCode::DiskWait,
        host.blame(),
        sentence!("processes of {} waited for its disks", host.name()),
        evidence([Some(waited), host.moved("psi.io.some_us"), hosts.clients(), host.unmoved()]),
        phrase!(
            "write less to disk: access logs off or with a buffer (nginx: `access_log … buffer=64k flush=1s`), or logs on \
         another disk"
        ),
    ))
}

/// The kernel of a host tracked each connection of the load, and its network work used the CPUs.
fn tracking(hosts: &Hosts<'_>) -> Option<Cause> {
    let is_busy =
        |host: &Host<'_>| cpu_share(host, "softirq") >= SOFTIRQ_MIN && cpu_share(host, "idle") <= IDLE_MAX;
    let tracked = |host: &Host<'_>| {
        host.activity().highest("conntrack.used").filter(|(most, _)| *most >= TRACKED_MIN && is_busy(host))
    };
    let (host, (most, at)) = apart(hosts).find_map(|host| Some((host, tracked(&host)?)))?;
    let softirq = format::percent(cpu_share(&host, "softirq"));
    let work = sentence!("network work of the kernel took {softirq} of the CPU time");
    let entries = sentence!("{} connections tracked at {} s", format::count(most), at.as_secs_f64().round());
    Some(finding(
        FindingCode::ConnectionTracking,
        host.blame(),
        sentence!("{} tracks each connection (conntrack, NAT), and its CPUs were used up", host.name()),
        evidence([Some(work), Some(entries), hosts.clients(), host.unmoved()]),
        phrase!(
            "do not track the service port (nft: `tcp dport 80 notrack` in a raw prerouting chain and the same for its \
         replies), and use the host's network or routes instead of NAT for containers (Docker: `--network host`, \
         Kubernetes: `hostNetwork: true`)"
        ),
    ))
}

/// All CPUs of a host were used.
fn cpu(hosts: &Hosts<'_>) -> Option<Cause> {
    let is_full = |host: &Host<'_>| {
        let (full, all) = (host.activity().cpu_full().samples, host.activity().samples());
        full >= FULL_SAMPLES_MIN && full as f64 >= FULL_SHARE_MIN * all as f64
    };
    let host = apart(hosts).find(is_full)?;
    let (from, to) = seconds(&host.activity().cpu_full());
    let full = host.activity().cpu_full().samples;
    let used = sentence!("used to 90 % or more in {} s, from {from} s to {to} s", format::count(full));
    Some(finding(
        FindingCode::CpuFull,
        host.blame(),
        sentence!("the CPUs of {} were fully used", host.name()),
        evidence([Some(used), hosts.clients(), host.unmoved()]),
        phrase!(
            "more CPUs or hosts, or less work for each request; a profile of the server shows where the time goes"
        ),
    ))
}

/// One CPU of a host was fully used, and the others were not.
fn core(hosts: &Hosts<'_>) -> Option<Cause> {
    let limit = |host: &Host<'_>, resource: &str| {
        host.stats.limits().into_iter().find(|one| one.resource == resource).map(|one| one.share())
    };
    let is_one = |host: &Host<'_>| {
        host.stats.cpus() > 1.0
            && limit(host, "cpu_core").is_some_and(|share| share >= CORE_FULL)
            && limit(host, "cpu").is_some_and(|share| share <= CPUS_IDLE_MAX)
    };
    let host = apart(hosts).find(is_one)?;
    let percent = |resource: &str| limit(&host, resource).map(format::percent).unwrap_or_default();
    let used = sentence!("its busiest CPU at {}, all of them at {}", percent("cpu_core"), percent("cpu"));
    Some(finding(
        FindingCode::OneCpuFull,
        host.blame(),
        sentence!("one CPU of {} was fully used while others were idle", host.name()),
        evidence([Some(used), hosts.clients(), host.unmoved()]),
        phrase!(
            "more worker processes or threads (nginx: `worker_processes auto`; HAProxy: `nbthread`), each with its own \
         listener (`reuseport`)"
        ),
    ))
}
