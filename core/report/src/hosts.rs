//! The part of the record about sampled hosts.

use wavetank_measure::{HostPeaks, HostSample, HostStats, Observations, Totals};
use wavetank_record::{EnvironmentDoc, HostUseDoc, Number};

use crate::limits::{LoadThreads, limit_docs};

/// The role of a host that sends the load.
const LOAD: &str = "load";
/// The role of a host under test.
const SERVER: &str = "server";

/// Returns the sampled hosts: this one, unless it is the machine under a lab, and others in the
/// topology's order; hosts that it does not name follow by name. `requests` is the number of
/// requests sent while they were sampled.
pub(crate) fn hosts(
    environment: &EnvironmentDoc,
    (observed, totals): (&Observations, &Totals),
    requests: u64,
) -> Vec<HostUseDoc> {
    let own = Some(LoadThreads::of_one_host(totals));
    let this = observed.this_host().and_then(|book| host(book, LOAD.to_owned(), own, requests));
    let known = environment.lab.as_ref().map_or(&[][..], |lab| &lab.hosts);
    let place =
        |book: &&HostStats| known.iter().position(|host| host.name == book.name()).unwrap_or(known.len());
    let mut books: Vec<&HostStats> = observed.other_hosts().iter().collect();
    // Which agent of a fleet reported first is chance.
    books.sort_by_key(|book| (place(book), book.name()));
    let role = |book: &HostStats| {
        if let Some(host) = known.iter().find(|host| host.name == book.name()) {
            return Some(host.role.clone());
        }
        // Outside of a lab, other hosts are those of a fleet, or under test.
        let role = if book.sends_load() { LOAD } else { SERVER };
        environment.lab.is_none().then(|| role.to_owned())
    };
    let others = books.into_iter().filter_map(|book| {
        host(book, role(book).unwrap_or_default(), agent_threads(observed, totals, book), requests)
    });
    this.into_iter().chain(others).collect()
}

/// Returns the load threads of the fleet's host `book`; `None` for any other host.
fn agent_threads(observed: &Observations, totals: &Totals, book: &HostStats) -> Option<LoadThreads> {
    let is_agent = |book: &&HostStats| book.is_machine() && book.sends_load();
    let mut names: Vec<_> = observed.other_hosts().iter().filter(is_agent).map(HostStats::name).collect();
    names.sort_unstable();
    let number = names.iter().position(|name| *name == book.name())?;
    // Agents are numbered by their names. Without samples of all, it is not known which is which.
    let agents = totals.threads.iter().map(|thread| usize::from(thread.agent) + 1).max().unwrap_or(0);
    (agents == names.len()).then(|| LoadThreads::of_agent(totals, number))
}

/// Returns one host; `None` if it was sampled only once, because one sample shows no change.
fn host(book: &HostStats, role: String, threads: Option<LoadThreads>, requests: u64) -> Option<HostUseDoc> {
    let (before, last) = (book.before()?, book.last()?);
    let seconds = last.at.since(before.at) as f64 / 1e9;
    if seconds <= 0.0 {
        return None;
    }
    let HostPeaks { cpu, hottest_core, net_in_bits_per_s, net_out_bits_per_s, .. } = *book.peaks();
    let grown = |of: fn(&HostSample) -> u64| of(last).saturating_sub(of(before));
    // A real machine counts the time of its CPUs; that of processes is only this one's.
    let is_machine = last.cpus_milli == 0;
    let of_cpus = last.cpu_since(before).unwrap_or(0.0) * book.cpus() * seconds;
    let of_group = grown(|sample| sample.cpu_user_ns.saturating_add(sample.cpu_system_ns)) as f64 / 1e9;
    let cpu_s = if is_machine { rounded(of_cpus, 1e6) } else { of_group };
    let sends = role == LOAD;
    let load_s = grown(|sample| sample.cpu_load_ns) as f64 / 1e9;
    Some(HostUseDoc {
        name: book.name().to_owned(),
        role,
        seconds: Number(seconds),
        cpus: Number(book.cpus()),
        cpu: last.cpu_since(before).map(share),
        cpu_max: cpu.map(share),
        hottest_core_max: hottest_core.map(share),
        cpu_s: Number(cpu_s),
        cpu_load_s: (sends || load_s > 0.0).then_some(Number(load_s)),
        cpu_us_per_request: (requests > 0).then(|| Number(rounded(cpu_s * 1e6 / requests as f64, 1e3))),
        memory_max_bytes: book.peaks().mem_used_bytes,
        memory_all_bytes: last.mem_all_bytes,
        established_max: book.peaks().tcp_established,
        accept_queue_max: book.peaks().accept_queue,
        listen_overflows: grown(|sample| sample.listen_overflows),
        in_bytes: grown(|sample| sample.net_in_bytes),
        out_bytes: grown(|sample| sample.net_out_bytes),
        in_bits_per_s_max: Number(net_in_bits_per_s.unwrap_or(0.0).round()),
        out_bits_per_s_max: Number(net_out_bits_per_s.unwrap_or(0.0).round()),
        limits: limit_docs(book, threads),
    })
}

/// A share to a hundredth of a percent; samples are some microseconds off the second.
fn share(share: f64) -> Number {
    Number(rounded(share.min(1.0), 1e4))
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
