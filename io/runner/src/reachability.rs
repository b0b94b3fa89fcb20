//! [`find_unreachable`]: whether this host reaches the targets of a plan, before it takes part in a
//! run.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use wavetank_plan::{Plan, SourcesPlan};
use wavetank_store::os_error_text;
use wavetank_units::{address_text, unix_path};

/// Longest time for all connections. An agent that says nothing for 3 s would count as lost.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(2);
/// Most addresses of one target that are tried, as in a probe.
const ADDRESSES_TRIED_MAX: usize = 8;
/// Most addresses in all, each of which takes a thread.
const THREADS_MAX: usize = 64;

/// Returns a line for each target of `plan` without an address to which this host can connect.
///
/// With source addresses of its own, the plan decides the way to a target, so nothing is tried.
pub(super) fn find_unreachable(plan: &Plan) -> Vec<String> {
    if plan.sources != SourcesPlan::default() {
        return Vec::new();
    }
    let time_max = Duration::from_nanos(plan.http.connect_timeout.0.unsigned_abs()).min(CONNECT_TIME_MAX);
    let tried = |target| plan.connect_addresses(target).iter().take(ADDRESSES_TRIED_MAX).copied();
    let all: BTreeSet<SocketAddr> =
        plan.targets.iter().flat_map(tried).filter(|address| unix_path(*address).is_none()).collect();
    let failures: Vec<(SocketAddr, String)> = thread::scope(|scope| {
        let tries: Vec<_> = all
            .into_iter()
            .take(THREADS_MAX)
            .map(|address| (address, scope.spawn(move || TcpStream::connect_timeout(&address, time_max))))
            .collect();
        let failure = |(address, thread): (SocketAddr, thread::ScopedJoinHandle<'_, _>)| {
            let result: std::io::Result<TcpStream> = thread.join().ok()?;
            result.err().map(|error| (address, os_error_text(&error).to_lowercase()))
        };
        tries.into_iter().filter_map(failure).collect()
    });
    let reason = |address: SocketAddr| failures.iter().find(|(failed, _)| *failed == address);
    let unreachable = |target| {
        let reasons: Option<Vec<String>> = tried(target)
            .map(|address| reason(address).map(|(_, why)| format!("{}: {why}", address_text(address))))
            .collect();
        reasons.filter(|reasons| !reasons.is_empty()).map(|reasons| reasons.join(", "))
    };
    let line =
        |reasons| format!("cannot connect to {reasons} (check routes and firewalls, or use --no-probe)");
    plan.targets.iter().filter_map(unreachable).map(line).collect::<BTreeSet<_>>().into_iter().collect()
}
