//! [`flows`]: how many connections the kernel remembers for each server.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::IpAddr;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use wavetank_driver::Clock;
use wavetank_topology::{Backend, NftBalancer};
use wavetank_units::Nanos;

/// Time limit, because the host's process does nothing else meanwhile.
const WITHIN: Nanos = Nanos::from_secs(2);
/// Memory limit for `nft`, which reads a whole map before it prints any of it. The limit allows
/// half a million connections.
const NFT_BYTES_MAX: u64 = 512 << 20;
/// Maximum length of one element or line; longer ones are not ours.
const WORD_BYTES_MAX: u64 = 1_024;
/// Tracked connections of this network namespace.
const TRACKED: &str = "/proc/thread-self/net/nf_conntrack";

/// Returns the open connections to each server, in order, as the kernel remembers them. Returns
/// `None` if that cannot be determined in time. Direct routing remembers a connection for as long
/// as the file says (`sticky`), a closed one for up to a minute.
pub(crate) fn flows(steering: &NftBalancer<'_>) -> Option<Vec<u64>> {
    let servers = steering.servers();
    match steering.flows() {
        Some(map) => remembered(&steering.table(), map, servers.len()),
        None => tracked(BufReader::new(File::open(TRACKED).ok()?), servers, Clock::starting_now()),
    }
}

/// Counts the elements of an `nft` map by their marks.
fn remembered(table: &str, map: &str, servers: usize) -> Option<Vec<u64>> {
    let clock = Clock::starting_now();
    let mut nft = Command::new("nft");
    nft.args(["list", "map"]).args(table.split(' ')).arg(map);
    let mut child = nft.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let limit = Rlimit { current: Some(NFT_BYTES_MAX), maximum: Some(NFT_BYTES_MAX) };
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // The process may have ended by now.
        let _ = prlimit(Some(pid), Resource::As, limit);
    }
    let output = child.stdout.take().expect("standard output was made a pipe when it was started");
    let counted = marks(&mut BufReader::new(Patient { pipe: output, clock }), servers);
    if counted.is_none() {
        // The process may still be reading the map.
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    counted.filter(|_| status.success())
}

/// A pipe that returns an error after a time limit.
struct Patient<P> {
    pipe: P,
    clock: Clock,
}

impl<P: Read + std::os::fd::AsFd> Read for Patient<P> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let left = WITHIN.0 - self.clock.now().0;
        let limit = Timespec { tv_sec: left.max(0) / 1_000_000_000, tv_nsec: left.max(0) % 1_000_000_000 };
        let ready = poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], Some(&limit))?;
        if left <= 0 || ready == 0 {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        self.pipe.read(bytes)
    }
}

/// Reads the marks. Elements end with their data: `… expires 4m59s : 0x00000002,`. Marks count
/// servers from 1.
fn marks(listed: &mut impl BufRead, servers: usize) -> Option<Vec<u64>> {
    let mut counts = vec![0; servers];
    let mut element = Vec::new();
    loop {
        element.clear();
        if (&mut *listed).take(WORD_BYTES_MAX).read_until(b',', &mut element).ok()? == 0 {
            return Some(counts);
        }
        let text = String::from_utf8_lossy(&element);
        let Some((_, data)) = text.rsplit_once(" : 0x") else { continue };
        let digits = data.split(|letter: char| !letter.is_ascii_hexdigit()).next().unwrap_or_default();
        let mark = usize::from_str_radix(digits, 16).ok();
        if let Some(count) = mark.and_then(|mark| counts.get_mut(mark.checked_sub(1)?)) {
            *count += 1;
        }
    }
}

/// Counts open connections in the kernel's list by the server that sends the responses. The format
/// is that of `nf_conntrack(5)`: terms, then both directions.
fn tracked(mut list: impl BufRead, servers: &[Backend], clock: Clock) -> Option<Vec<u64>> {
    let mut counts = vec![0; servers.len()];
    let mut line = Vec::new();
    loop {
        line.clear();
        if clock.now() > WITHIN {
            return None;
        }
        if (&mut list).take(WORD_BYTES_MAX).read_until(b'\n', &mut line).ok()? == 0 {
            return Some(counts);
        }
        let Some(from) = answers_from(&String::from_utf8_lossy(&line)) else { continue };
        let its = servers.iter().position(|server| (server.address, server.port) == from);
        if let Some(index) = its {
            counts[index] += 1;
        }
    }
}

/// Returns the address and port that send the responses of an open connection: the second
/// direction's source.
fn answers_from(line: &str) -> Option<(IpAddr, u16)> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == "ESTABLISHED")?;
    let address = words.by_ref().filter_map(|word| word.strip_prefix("src=")).nth(1)?.parse().ok()?;
    let port = words.find_map(|word| word.strip_prefix("sport="))?.parse().ok()?;
    Some((address, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_counted_by_their_marks() {
        let listed = "table netdev wavetank_web {\n\tmap flows {\n\t\ttypeof @nh,96,32 . @nh,160,16 . @nh,176,16 : meta mark\n\
                      \t\tsize 5000\n\t\tflags dynamic,timeout\n\t\ttimeout 5m\n\
                      \t\telements = { 0xa5c0001 . 0xafc9 . 0x50 expires 4m59s : 0x00000002,\n\
                      \t\t\t     0xa5c0001 . 0xafca . 0x50 timeout 1m expires 59s900ms : 0x00000001,\n\
                      \t\t\t     0xa5c0001 . 0xafcb . 0x50 expires 4m59s : 0x00000002, 1 . 2 . 3 : 0x00000009 }\n\t}\n}\n";
        assert_eq!(marks(&mut listed.as_bytes(), 2), Some(vec![1, 2]));
        assert_eq!(marks(&mut "table x {\n}\n".as_bytes(), 2), Some(vec![0, 0]));
    }

    #[test]
    fn a_tracked_connection_belongs_to_whom_its_answers_come_from() {
        let check = |line: &str, expected: Option<(&str, u16)>| {
            let expected = expected.map(|(address, port)| (address.parse().expect("an address"), port));
            assert_eq!(answers_from(line), expected, "{line}");
        };
        let line = "ipv4     2 tcp      6 431999 ESTABLISHED src=10.93.0.1 dst=10.93.0.10 sport=41234 dport=80 \
                    src=10.93.1.2 dst=10.93.0.10 sport=8080 dport=41234 [ASSURED] mark=0 zone=0 use=2";
        check(line, Some(("10.93.1.2", 8080)));
        check(&line.replace("ESTABLISHED", "TIME_WAIT"), None);
        let six = "ipv6     10 tcp      6 431999 ESTABLISHED src=fd00:0000:0000:0000:0000:0000:0000:0001 dst=fd00::10 \
                   sport=41234 dport=80 src=fd00:0000:0000:0001:0000:0000:0000:0002 dst=fd00::10 sport=8080 dport=41234";
        check(six, Some(("fd00:0:0:1::2", 8080)));
        check("", None);
        check("ipv4 2 tcp 6 9 ESTABLISHED src=10.93.0.1", None);
    }
}
