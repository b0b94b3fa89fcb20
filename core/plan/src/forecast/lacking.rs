//! [`lacking`]: what a host lacks for a plan: with one of them nothing is sent.
//!
//! A lack is what makes connections fail, which is known beforehand: no file, no pair of address and port, no memory,
//! no ring, no thread, no place in the firewall's table. What makes a run slower or riskier is told as a
//! [risk](super::risks), and does not stop it.

use super::peak::Peak;
use crate::lack::Lack;
use crate::quantity::{show_count, show_size, show_whole};
use crate::resolve::Room;
use crate::{EngineChoice, HostFacts, Plan, UserError, sources};

/// Memory that a ring of many sockets locks, in bytes: its two queues of 256 and 8,192 entries and its list of buffers
/// (measured by lowering `ulimit -l` until it could not be made: 330 KiB for two of them).
const RING_BYTES: u64 = 165 * 1_024;

/// What the host that `room` is about lacks for `plan` (exit 5), all of it; `fewer` is what asks for connections, such
/// as `hold:`.
pub fn lacking(plan: &Plan, room: &Room<'_>, fewer: &str) -> Vec<UserError> {
    let Peak { demand, users } = Peak::of(plan);
    let not_ours = sources::check_local(&plan.sources.ranges, room.host()).err();
    let mut lacks: Vec<Lack> = not_ours.into_iter().map(Lack::from).collect();
    lacks.extend(room.lacks(demand, users));
    if plan.engine == EngineChoice::Uring {
        let locked = locked(room.host(), room.rings(demand.connections), room.ends());
        lacks.extend(locked.map(Lack::from));
    }
    lacks.extend(threads(room.host(), plan.threads, "load threads").map(Lack::from));
    lacks.extend(tracked(room.host(), demand.connections));
    Lack::told(lacks, fewer)
}

/// Rings are memory that cannot be swapped, of which those without a right to it may have little; all processes of a
/// user share it.
pub(crate) fn locked(host: &HostFacts, rings: u64, ends: u64) -> Option<UserError> {
    let left = host.limits.lockable_bytes?;
    let needed = rings.saturating_mul(RING_BYTES).saturating_mul(ends);
    (needed > left).then(|| {
        let ends = if ends == 2 { ", and as many at the target on this host," } else { "" };
        UserError::refused(
            "no_locked_memory",
            format!(
                "{} rings of io_uring{ends} lock {} of memory, and this user may lock {} (ulimit -l)",
                show_whole(rings),
                show_size(needed),
                show_size(left)
            ),
            format!("as root: prlimit --pid $$ --memlock={needed}; or --engine epoll"),
        )
    })
}

/// Where files are in tables, each of which belongs to a thread, there may be many of those.
pub(crate) fn threads(host: &HostFacts, needed: u32, whose: &str) -> Option<UserError> {
    let left = host.limits.threads_left?;
    let needed = u64::from(needed);
    (needed > left).then(|| {
        UserError::refused(
            "no_threads",
            format!(
                "{} {whose} are planned, and {} more may be started here (kernel.threads-max, kernel.pid_max, \
                 pids.max of the cgroup)",
                show_whole(needed),
                show_whole(left)
            ),
            "a higher ulimit -n asks for fewer threads, --engine uring for one a CPU".to_owned(),
        )
    })
}

/// A firewall that follows connections drops the packets of those that find no room in its table.
pub(crate) fn tracked(host: &HostFacts, connections: u64) -> Option<Lack> {
    let (left, most) = host.limits.tracked?;
    // Both ends of a connection on one host are one entry.
    (connections > left).then(|| {
        let needed = most.saturating_add(connections - left);
        let error = UserError::refused(
            "no_tracking",
            format!(
                "{} connections are more than the {} that this host's firewall still has room to track",
                show_count(connections),
                show_count(left)
            ),
            format!("as root: sysctl -w net.netfilter.nf_conntrack_max={needed}"),
        );
        Lack::of_more_than(left, error)
    })
}
