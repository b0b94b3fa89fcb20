//! [`shortfalls`]: resources that a host lacks for a plan. With any shortfall nothing is sent.
//!
//! A shortfall makes connections fail, and it is known in advance: no file descriptor, no pair of
//! address and port, no memory, no ring, no thread, no entry in the firewall's table. A condition
//! that only makes a run slower or riskier is reported as a risk and does not stop
//! the run.

use wavetank_units::quantity::{format_grouped, show_size};
use wavetank_units::{Code, UserError};

use super::shortfall::Shortfall;
use super::{HostCapacity, Peak};
use crate::{EngineChoice, HostFacts, Plan, PlanShare, SettingNames, sources};

/// Memory that a ring of many sockets locks, in bytes: its two queues of 256 and 8,192 entries and
/// its list of buffers. It was measured by lowering `ulimit -l` until the ring could not be
/// created: 330 KiB for two rings.
const RING_BYTES: u64 = 165 * 1_024;

/// Returns everything that the host behind `room` lacks for `plan` (exit 5). `fewer` is the option
/// or key that sets the number of connections, such as `hold:`. `names` is how errors name other
/// settings.
pub fn shortfalls(plan: &Plan, room: &HostCapacity<'_>, fewer: &str, names: SettingNames) -> Vec<UserError> {
    shortfalls_of_share(plan, PlanShare::WHOLE, room, (fewer, names))
}

/// Returns everything that the host behind `room` lacks for `share` of `plan` (exit 5). Proposed
/// numbers of connections are totals of the whole plan.
pub(super) fn shortfalls_of_share(
    plan: &Plan,
    share: PlanShare,
    room: &HostCapacity<'_>,
    (fewer, names): (&str, SettingNames),
) -> Vec<UserError> {
    let Peak { demand, users } = Peak::for_share(plan, share);
    let not_ours = sources::check_local(&plan.sources.ranges, room.host()).err();
    let mut lacks: Vec<Shortfall> = not_ours.into_iter().map(Shortfall::from).collect();
    lacks.extend(room.missing(demand, users, names));
    if plan.engine == EngineChoice::Uring {
        let locked = locked_memory_shortfall(room.host(), room.rings(demand.connections), room.ends());
        lacks.extend(locked.map(Shortfall::from));
    }
    lacks.extend(threads(room.host(), plan.threads, "load threads").map(Shortfall::from));
    lacks.extend(conntrack_shortfall(room.host(), demand.connections));
    Shortfall::into_user_errors(lacks.into_iter().map(|lack| lack.of_share(share)).collect(), fewer)
}

/// Rings are memory that cannot be swapped. Users without the privilege may lock little of it, and
/// all processes of a user share the limit.
pub(super) fn locked_memory_shortfall(host: &HostFacts, rings: u64, ends: u64) -> Option<UserError> {
    let left = host.limits.lockable_bytes?;
    let needed = rings.saturating_mul(RING_BYTES).saturating_mul(ends);
    (needed > left).then(|| {
        let ends = if ends == 2 { ", and as many at the target on this host," } else { "" };
        UserError::refused(
            Code::NoLockedMemory,
            format!(
                "{} rings of io_uring{ends} lock {} of memory, and this user may lock {} (ulimit -l)",
                format_grouped(rings),
                show_size(needed),
                show_size(left)
            ),
            format!("as root: prlimit --pid $$ --memlock={needed}; or --engine epoll"),
        )
    })
}

/// Returns the shortfall of threads. There may be many of them where each has its own descriptor
/// table.
pub(super) fn threads(host: &HostFacts, needed: u32, what: &str) -> Option<UserError> {
    let left = host.limits.threads_left?;
    let needed = u64::from(needed);
    (needed > left).then(|| {
        UserError::refused(
            Code::NoThreads,
            format!(
                "{} {what} are planned, and {} more may be started here (kernel.threads-max, kernel.pid_max, \
                 pids.max of the cgroup)",
                format_grouped(needed),
                format_grouped(left)
            ),
            "a higher ulimit -n asks for fewer threads, --engine uring for one a CPU".to_owned(),
        )
    })
}

/// A firewall that follows connections drops the packets of those that find no room in its table.
pub(super) fn conntrack_shortfall(host: &HostFacts, connections: u64) -> Option<Shortfall> {
    let (left, most) = host.limits.tracked?;
    // Both ends of a connection on one host are one entry.
    (connections > left).then(|| {
        let needed = most.saturating_add(connections - left);
        let error = UserError::refused(
            Code::NoTracking,
            format!(
                "{} connections are more than the {} that this host's firewall still has room to track",
                format_grouped(connections),
                format_grouped(left)
            ),
            format!("as root: sysctl -w net.netfilter.nf_conntrack_max={needed}"),
        );
        Shortfall::exceeding(left, error)
    })
}
