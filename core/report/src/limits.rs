//! What hosts used of their limits, and the limit that a higher load would reach first.

use wavetank_measure::{HostStats, LimitUse, Totals};
use wavetank_plan::THIS_HOST;
use wavetank_record::{HostLimitDoc, HostUseDoc, NearestLimitDoc, Number, RunRecord};
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_link, show_share, show_size, trimmed};

use crate::text_layout::TextLayout;

/// Resources of which a higher load does not use more in proportion, or that cost nothing when they
/// are used up.
const NEVER_NEAREST: [&str; 2] = ["time_wait", "orphans"];
/// A single CPU is a limit only if it was this busy: otherwise work moves to others.
const CORE_MIN: f64 = 0.9;
/// More than this many times the load is not computed from so little use.
const FACTOR_MAX: f64 = 1_000.0;

/// The load threads of a host.
#[derive(Clone, Copy)]
pub(crate) struct LoadThreads {
    /// Time in which they were at work, nanoseconds.
    busy_ns: u64,
    /// The highest busy share of one of them in an interval; 0 if unknown.
    busy_share_max: f64,
}

impl LoadThreads {
    /// The load threads of a run on one host.
    pub(crate) fn of_one_host(totals: &Totals) -> Self {
        let busy_ns = totals.threads.iter().map(|thread| thread.busy_ns).sum();
        Self { busy_ns, busy_share_max: totals.busy_share_max }
    }

    /// The load threads of the agent with this number, by the order of names.
    pub(crate) fn of_agent(totals: &Totals, agent: usize) -> Self {
        let own = totals.threads.iter().filter(|thread| usize::from(thread.agent) == agent);
        Self { busy_ns: own.map(|thread| thread.busy_ns).sum(), busy_share_max: 0.0 }
    }
}

/// Returns what a host used of its limits. `threads` is given for a host that sends load: its load
/// threads are then a limit, too. Time in which load threads spin does not count as used.
pub(crate) fn limit_docs(book: &HostStats, threads: Option<LoadThreads>) -> Vec<HostLimitDoc> {
    let spun = threads.map_or(0.0, |threads| spun_share(book, threads.busy_ns));
    let own = |limit: &LimitUse| {
        let mut limit = limit.clone();
        match (limit.resource.as_str(), threads) {
            ("cpu", Some(_)) => limit.used = (limit.used - spun * limit.max).max(0.0),
            // Load threads have their own figure.
            ("cpu_core", Some(_)) if spun > 0.0 => return None,
            _ => {}
        }
        Some(doc(&limit))
    };
    let thread = threads.filter(|threads| threads.busy_share_max > 0.0).map(|threads| {
        let used = threads.busy_share_max.min(1.0);
        let (resource, of) = ("load_thread".to_owned(), String::new());
        let at = book.last().map_or(Nanos::ZERO, |last| last.at);
        doc(&LimitUse { resource, of, before: 0.0, used, max: 1.0, at })
    });
    book.limits().iter().filter_map(own).chain(thread).collect()
}

/// Share of the host's CPUs with which load threads waited for the next request.
fn spun_share(book: &HostStats, busy_ns: u64) -> f64 {
    let (Some(before), Some(last)) = (book.before(), book.last()) else { return 0.0 };
    let ran = last.cpu_load_ns.saturating_sub(before.cpu_load_ns) as f64;
    let all = last.at.since(before.at) as f64 * book.cpus();
    if all > 0.0 { ((ran - busy_ns as f64) / all).max(0.0) } else { 0.0 }
}

fn doc(limit: &LimitUse) -> HostLimitDoc {
    let rounded = |value: f64| Number((value * 1e4).round() / 1e4);
    HostLimitDoc {
        resource: limit.resource.clone(),
        of: limit.of.clone(),
        before: rounded(limit.before),
        used: rounded(limit.used),
        max: rounded(limit.max),
        share: rounded(limit.share()),
        at_s: Number((limit.at.as_secs_f64() * 1e3).round() / 1e3),
        load_factor: limit.load_factor().map(|factor| Number((factor * 100.0).round() / 100.0)),
    }
}

/// Returns the limit that a higher load would reach first.
pub(crate) fn nearest(hosts: &[HostUseDoc]) -> Option<NearestLimitDoc> {
    let may_be_nearest = |limit: &&HostLimitDoc| {
        let lone_core = limit.resource == "cpu_core" && limit.share.0 < CORE_MIN;
        !lone_core && !NEVER_NEAREST.contains(&limit.resource.as_str())
    };
    let all = hosts.iter().flat_map(|host| {
        host.limits
            .iter()
            .filter(may_be_nearest)
            .filter_map(move |limit| Some((limit.load_factor?.0, host, limit)))
    });
    let (_, host, limit) = all.min_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(NearestLimitDoc { host: host.name.clone(), limit: limit.clone() })
}

/// Adds the line of the nearest limit, unless it is not known.
pub(crate) fn add_nearest(page: &mut TextLayout, record: &RunRecord) {
    if let Some(parts) = headroom(record) {
        page.parts("headroom", &parts);
    }
}

/// Returns which limit a higher load would reach first, and which load; `None` if it is not known.
pub(crate) fn headroom(record: &RunRecord) -> Option<[String; 2]> {
    let nearest = record.nearest_limit.as_ref().filter(|_| record.requests.offered > 0)?;
    Some([nearest_text(nearest), factor_text(&nearest.limit)])
}

/// `nearest limit: CPU of this host, 0.96 of 2 CPUs (48 %) at 7 s`.
fn nearest_text(nearest: &NearestLimitDoc) -> String {
    let limit = &nearest.limit;
    let host = if nearest.host == THIS_HOST { "this host" } else { nearest.host.as_str() };
    let size = |value: Number| show_size(value.0.max(0.0) as u64);
    let whole = |value: Number| format_grouped(value.0.max(0.0) as u64);
    let (what, used, max): (String, String, String) = match limit.resource.as_str() {
        "cpu" => ("CPU".to_owned(), format!("{:.2}", limit.used.0), format!("{} CPUs", limit.max.0)),
        "cpu_core" => ("one CPU".to_owned(), format!("{:.2}", limit.used.0), "1".to_owned()),
        "load_thread" => ("a load thread".to_owned(), format!("{:.2}", limit.used.0), "1".to_owned()),
        "memory" => ("memory".to_owned(), size(limit.used), size(limit.max)),
        "link" => (format!("link {}", limit.of), show_link(limit.used.0), show_link(limit.max.0)),
        "ports" => (format!("ports to {}", limit.of), whole(limit.used), whole(limit.max)),
        "files" => ("files that wavetank has open".to_owned(), whole(limit.used), whole(limit.max)),
        "conntrack" => ("tracked connections".to_owned(), whole(limit.used), whole(limit.max)),
        "tcp_memory" => ("TCP memory".to_owned(), whole(limit.used), format!("{} pages", whole(limit.max))),
        other => (other.to_owned(), whole(limit.used), whole(limit.max)),
    };
    let (share, at) = (show_share(limit.share.0.min(1.0)), limit.at_s.0.round());
    format!("nearest limit: {what} on {host}, {used} of {max} ({share}) at {at} s")
}

/// `2.1 times this load would use all of it, if use grows linearly`.
fn factor_text(limit: &HostLimitDoc) -> String {
    match limit.load_factor {
        Some(Number(factor)) if factor < 1.05 => "this load used all that was free".to_owned(),
        Some(Number(factor)) if factor <= FACTOR_MAX => {
            let times = if factor < 10.0 { format!("{factor:.1}") } else { format_grouped(factor as u64) };
            format!("{} times this load would use all of it, if use grows linearly", trimmed(&times))
        }
        _ => "this load used almost none of it".to_owned(),
    }
}
