//! Brings cables up: both ends, and forwarding on the switch's ports.
//!
//! An interface counts as up immediately, but a kernel worker notifies the bridge some time later,
//! on a busy machine much later. Until then the bridge drops frames without counting them. A host
//! that looks for its neighbour within that time repeats the request only after a whole second.
//! Therefore a lab is complete only when all ports forward.

use std::collections::BTreeSet;
use std::fs::File;

use nix::sched::{CloneFlags, setns};
use serde_json::Value;
use wavetank_topology::{Host, Lab};
use wavetank_units::{Code, Nanos, UserError};

use super::poll_until::poll_until;
use super::tool::{Refusal, Tool};
use super::wiring;

/// Time limit; the kernel's worker runs before that even on the busiest machine.
const FORWARDS_WITHIN: Nanos = Nanos::from_secs(10);

/// Runs in the switch, with cables that lead into the namespaces of `pids`. Brings their far ends
/// up and waits until all ports forward.
pub(super) fn bring_links_up(lab: &Lab, pids: &[u32]) -> Result<(), UserError> {
    for (host, pid) in lab.hosts.iter().zip(pids) {
        far_ends(host, *pid)?;
    }
    let wanted: BTreeSet<String> = ports(lab).collect();
    let mut last = BTreeSet::new();
    let all = poll_until(FORWARDS_WITHIN, || {
        last = Tool::IP
            .output(&["-json", "-details", "link", "show"])
            .map_or_else(|_| BTreeSet::new(), |reported| forwarding(&reported));
        wanted.is_subset(&last)
    });
    if all {
        return Ok(());
    }
    let dead = wanted.difference(&last).map(String::as_str).collect::<Vec<_>>().join(", ");
    let message = format!("ports of the lab's switch do not forward after {FORWARDS_WITHIN}: {dead}");
    Err(UserError::refused(
        Code::LabNetwork,
        message,
        "the machine may be overloaded; h3i0 is eth0 of the fourth host",
    ))
}

/// Runs in a separate thread, which enters the network of process `pid`.
fn far_ends(host: &Host, pid: u32) -> Result<(), UserError> {
    let batch = wiring::far_ends_batch(host);
    let enter = || -> Result<(), UserError> {
        let path = format!("/proc/{pid}/ns/net");
        let entered = File::open(&path).and_then(|network| Ok(setns(network, CloneFlags::CLONE_NEWNET)?));
        entered.map_err(|error| {
            let message = format!("the network of `{}` cannot be entered: {path}: {error}", host.name);
            UserError::refused(
                Code::LabNetwork,
                message,
                "its process may have been killed; run `wavetank lab up` again",
            )
        })?;
        Tool::IP.batch(&batch).map_err(Refusal::into_error)
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(enter);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn ports(lab: &Lab) -> impl Iterator<Item = String> + '_ {
    lab.hosts
        .iter()
        .enumerate()
        .flat_map(|(at, host)| (0..host.interfaces.len()).map(move |place| wiring::port(at, place)))
}

/// Returns the ports that forward, from the output of `ip -json -details link`. An invalid text has
/// none.
fn forwarding(reported: &str) -> BTreeSet<String> {
    let links: Vec<Value> = serde_json::from_str(reported).unwrap_or_default();
    let forwards = |link: &&Value| link["linkinfo"]["info_slave_data"]["state"] == "forwarding";
    links.iter().filter(forwards).filter_map(|link| link["ifname"].as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reported: &str, expected: &[&str]) {
        assert_eq!(
            forwarding(reported).iter().map(String::as_str).collect::<Vec<_>>(),
            expected,
            "{reported}"
        );
    }

    #[test]
    fn only_ports_that_forward_count() {
        let port = |name: &str, state: &str| {
            format!(
                r#"{{"ifname":"{name}","linkinfo":{{"info_kind":"veth","info_slave_data":{{"state":"{state}"}}}}}}"#
            )
        };
        let bridge = r#"{"ifname":"n0","linkinfo":{"info_kind":"bridge"}}"#;
        let (up, off) = (port("h0i0", "forwarding"), port("h1i0", "disabled"));
        check(&format!("[{bridge},{up},{off}]"), &["h0i0"]);
        check("[]", &[]);
        check("nonsense", &[]);
        check(r#"{"ifname":"h0i0"}"#, &[]);
    }
}
