//! Rules on single commands.

use crate::finding::found;
use crate::{Judgement, LintContext, Verdict};

const NR_OPEN: u64 = 1_048_576;
/// `FD_SETSIZE` without the files that a program has anyway.
const SELECT_MAX: u64 = 1_022;
/// `MAX_CONCURRENCY` of ab.
const AB_MAX: u64 = 20_000;
/// `limit` in the siegerc that siege writes.
const SIEGE_MAX: u64 = 255;
/// Packages and services that distributions no longer have.
const GONE: [&str; 5] = ["piranha-gui", "piranha", "pulse", "arptables_jf", "piranha-passwd"];

/// Judges one command; `None` if no rule is about it.
pub(super) fn judge(
    program: &str,
    words: &[&str],
    command: &str,
    context: &LintContext,
) -> Option<Judgement> {
    let has = |word: &str| words.contains(&word);
    if words.iter().any(|word| GONE.contains(&word.rsplit('/').next().unwrap_or(word))) {
        let sentence = "distributions dropped Piranha, pulse and arptables_jf years ago";
        return found(
            Verdict::Obsolete,
            sentence,
            "use keepalived, with arp_ignore 1 and arp_announce 2 on servers",
        );
    }
    match program {
        "cat" if command.contains("> /proc/sys/") || command.contains(">/proc/sys/") => {
            let is_number = words.get(1).is_some_and(|word| word.parse::<u64>().is_ok());
            is_number.then(|| {
                let sentence = format!("cat reads a file called `{}`, so nothing is set", words[1]);
                Judgement::new(Verdict::Misspelt, sentence, "write sysctl -w KEY=VALUE")
            })
        }
        "ulimit" if has("-n") => ulimit(words, context),
        "ethtool" if has("-G") => found(
            Verdict::Keep,
            "read the greatest size with ethtool -g first; 1024 to 2048 usually suits caches better than 4096",
            "",
        ),
        "ethtool" => found(Verdict::Keep, "one queue for each physical core is best", ""),
        "iptables" | "ip6tables" | "-A" if has("-m") && (has("state") || has("conntrack")) => found(
            Verdict::Harmful,
            "it loads connection tracking, which every packet of the load then passes",
            "match without a state, or exempt the ports under test with notrack in a raw chain",
        ),
        "ip" if has("addr") || has("address") => address(words),
        "arptables" => found(
            Verdict::Obsolete,
            "two settings of the kernel replace it",
            "set net.ipv4.conf.all.arp_ignore=1 and net.ipv4.conf.all.arp_announce=2 before adding the address",
        ),
        "yum" if command.contains("groupinstall") && command.contains("Load Balancer") => {
            found(Verdict::Obsolete, "the group is gone since RHEL 7", "install keepalived and ipvsadm")
        }
        "chkconfig" => found(Verdict::Obsolete, "systemd replaced chkconfig", "write systemctl enable UNIT"),
        "service" => found(Verdict::Obsolete, "systemd replaced service", "write systemctl start UNIT"),
        "make" => make(command),
        "modprobe" if has("ip_vs") => {
            found(Verdict::Keep, "conn_tab_bits=20 replaces the table of 4096 entries (12 bits)", "")
        }
        "ipvsadm" if has("-A") => found(
            Verdict::Keep,
            "the scheduler mh gives both directors the same choice without synchronisation",
            "",
        ),
        "httperf" | "ab" | "siege" => load_tool(program, words),
        _ => by_text(command),
    }
}

/// Tools that open fewer connections than they are asked for, without an error from any server.
fn load_tool(program: &str, words: &[&str]) -> Option<Judgement> {
    let value = |names: &[&str]| {
        words.iter().enumerate().find_map(|(at, word)| {
            let name = names.iter().find(|name| word.starts_with(**name))?;
            let rest = word[name.len()..].trim_start_matches('=');
            let text = if rest.is_empty() { words.get(at + 1)? } else { rest };
            text.split(',').next()?.parse::<u64>().ok()
        })
    };
    let hint = "use a generator with epoll or io_uring: wavetank run URL -c N";
    match program {
        "httperf" if value(&["--num-conns", "--num-conn", "--wsess"])? > SELECT_MAX => found(
            Verdict::Capped,
            "httperf waits with select(2), so it holds at most 1,022 connections and a higher rate is not reached",
            hint,
        ),
        "ab" if value(&["-c"])? > AB_MAX => {
            found(Verdict::Rejected, "ab refuses more than 20,000 concurrent requests", hint)
        }
        "siege" if value(&["--concurrent", "-c"])? > SIEGE_MAX => found(
            Verdict::Capped,
            "siege has at most 255 users unless `limit` in its siegerc is higher",
            hint,
        ),
        _ => None,
    }
}

fn ulimit(words: &[&str], context: &LintContext) -> Option<Judgement> {
    let files: u64 = words.last()?.parse().ok()?;
    let most = context.nr_open.unwrap_or(NR_OPEN);
    if files > most {
        let sentence = format!("{files} is above fs.nr_open ({most}), so ulimit fails and the limit stays");
        return found(Verdict::Rejected, sentence, "raise fs.nr_open first, or write at most its value");
    }
    found(
        Verdict::Keep,
        "it applies to this shell only; services need LimitNOFILE= in a drop-in of the unit",
        "",
    )
}

fn address(words: &[&str]) -> Option<Judgement> {
    let device = words.iter().position(|word| *word == "dev").and_then(|at| words.get(at + 1))?;
    if let Some((link, label)) = device.split_once(':') {
        let sentence = format!("`dev {device}` is refused: `{label}` is a label, not a part of the device");
        let hint = format!("write ip addr add ADDRESS/32 dev {link} label {device}");
        return found(Verdict::Rejected, sentence, &hint);
    }
    let address = words.iter().position(|word| *word == "add").and_then(|at| words.get(at + 1))?;
    if !address.contains('/') {
        return found(Verdict::Keep, "without a length the address is a /32", "");
    }
    None
}

fn make(command: &str) -> Option<Judgement> {
    if command.contains("TARGET=linux26") || command.contains("TARGET=linux2628") {
        let sentence = "HAProxy has no such target since 2.0, and CPU affinity is built in";
        return found(Verdict::Obsolete, sentence, "write make TARGET=linux-glibc");
    }
    None
}

/// Rules that look for a text anywhere in a command.
fn by_text(command: &str) -> Option<Judgement> {
    if command.contains("TcpExt") && command.contains("print $") {
        let sentence =
            "columns of /proc/net/netstat move with the kernel, so the numbers are of other counters";
        return found(
            Verdict::Conflict,
            sentence,
            "read the column by its name: nstat -az TcpExtListenOverflows",
        );
    }
    if command.contains("numgen inc") && command.contains("fwd") && command.contains("tcp") {
        let sentence = "it picks another server for each packet, which resets TCP connections";
        return found(Verdict::Harmful, sentence, "write jhash ip saddr . tcp sport mod N");
    }
    if command.contains("ct state") {
        let sentence = "it loads connection tracking, which every packet of the load then passes";
        return found(Verdict::Harmful, sentence, "exempt the ports under test with notrack");
    }
    None
}
