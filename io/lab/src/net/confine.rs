//! Limits for a process of a lab's host in addition to its control groups: CPUs and open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use wavetank_topology::{Host, Limits};
use wavetank_units::{Code, UserError};

use crate::file_error;

/// The capability to raise limits (capabilities(7)), as a bit number of `CapEff`.
const CAP_SYS_RESOURCE: u32 = 24;

/// Restricts the calling process, and all that it starts, to the host's CPUs and number of open
/// files. It is for the host's own process and for processes that enter the host without being its
/// children.
///
/// # Errors
/// CPUs that do not exist, or more open files than this user may allow.
pub fn apply_limits(limits: &Limits) -> Result<(), UserError> {
    if let Some(cpus) = &limits.cpus {
        sched_setaffinity(None, &set(cpus)).map_err(|error| {
            let message = format!("cannot restrict the process to CPUs {cpus:?}: {error}");
            UserError::refused(Code::LabLimit, message, "`nproc` and `taskset -p $$` show the available CPUs")
        })?;
    }
    let now = getrlimit(Resource::Nofile);
    // A shell's soft limit is made for shells, so it is raised. Programs that need fewer files use
    // fewer.
    let wanted = limits.open_files.map_or(Rlimit { current: now.maximum, ..now }, |most| Rlimit {
        current: Some(most),
        maximum: Some(most),
    });
    setrlimit(Resource::Nofile, wanted).map_err(|error| {
        let message = format!("cannot limit open files to {:?}: {error}", limits.open_files);
        UserError::refused(Code::LabLimit, message, "`ulimit -Hn` shows the limit of this user")
    })
}

/// Checks whether this machine has the CPUs and the files that `host` asks for in `file`.
pub(super) fn check(host: &Host, file: &str) -> Result<(), UserError> {
    let Limits { cpus, open_files, place, .. } = &host.limits;
    let refused = |message: String, hint: &str| {
        Err(file_error::with_place(
            file,
            *place,
            UserError::refused(Code::LabLimit, message, hint.to_owned()),
        ))
    };
    let allowed = sched_getaffinity(None).ok();
    let absent = cpus.iter().flatten().find(|cpu| {
        let there = |allowed: &CpuSet| (**cpu as usize) < CpuSet::MAX_CPU && allowed.is_set(**cpu as usize);
        !allowed.as_ref().is_some_and(there)
    });
    if let Some(cpu) = absent {
        return refused(
            format!("`{}` requires CPU {cpu}, which is not available here", host.name),
            "CPUs are counted from 0; `taskset -p $$` shows the available ones",
        );
    }
    let most = files_most();
    match open_files {
        Some(wanted) if *wanted > most => refused(
            format!("`{}` requires {wanted} open files, but a process may open only {most} here", host.name),
            "raise `ulimit -Hn` or fs.nr_open, or use more processes (`copies`)",
        ),
        _ => Ok(()),
    }
}

fn set(cpus: &[u32]) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in cpus.iter().map(|cpu| *cpu as usize).filter(|cpu| *cpu < CpuSet::MAX_CPU) {
        set.set(cpu);
    }
    set
}

/// Returns the maximum number of files that this user can allow a process.
fn files_most() -> u64 {
    let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !may_raise(&status) {
        return hard;
    }
    let most = std::fs::read_to_string("/proc/sys/fs/nr_open").ok();
    most.and_then(|text| text.trim().parse().ok()).map_or(hard, |most: u64| most.max(hard))
}

/// Whether limits may be raised according to the text of `/proc/self/status`.
fn may_raise(status: &str) -> bool {
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    bits.is_some_and(|bits| bits >> CAP_SYS_RESOURCE & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_rights(status: &str, expected: bool) {
        assert_eq!(may_raise(status), expected, "{status}");
    }

    #[test]
    fn only_who_has_the_right_may_raise_limits() {
        check_rights("Name:\tx\nCapEff:\t000001ffffffffff\n", true);
        check_rights("CapEff:\t000001fffeffffff\n", false);
        check_rights("CapEff:\t0000000000000000\n", false);
        check_rights("CapEff:\tnonsense\n", false);
        check_rights("", false);
    }
}
