//! [`LoadThreadUsage`]: load threads of this process that send from another network namespace, such
//! as a lab host's, and those of agents on a lab host.
//!
//! As threads of one program, those of this process are in no control group of that host, although
//! they do that host's work.

use std::fs;
use std::path::{Path, PathBuf};

use crate::network::number;
use crate::process_tree::descendants;
use crate::{parse, read};

/// The name prefix of load threads, which is followed by their number.
const NAME: &str = "load-";
/// Nanoseconds per tick: `USER_HZ` is 100 on every current Linux architecture except Alpha.
const NS_PER_TICK: u64 = 10_000_000;

/// The load threads in one namespace. They are looked up once, because all of them exist before the
/// load starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadThreadUsage {
    threads: Vec<SendingThread>,
}

/// One load thread, or the process that does its work if it has its own file table.
#[derive(Clone, Debug)]
struct SendingThread {
    /// Its folder in `/proc`.
    folder: PathBuf,
    /// The single CPU that it is pinned to, if any.
    cpu: Option<usize>,
    used: ThreadUse,
}

/// CPU time of a thread in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the names end with their unit")]
pub(crate) struct ThreadUse {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    /// Time for which it was ready to run and waited for a CPU; 0 if the kernel does not count it.
    pub(crate) waited_ns: u64,
}

impl ThreadUse {
    /// Returns user and kernel time together.
    pub(crate) const fn all_ns(self) -> u64 {
        self.user_ns + self.system_ns
    }
}

impl LoadThreadUsage {
    /// Returns the load threads in the namespace of process `pid`.
    pub(crate) fn other_threads_of(pid: u32) -> Self {
        let Some(there) = number(&format!("/proc/{pid}/ns/net")) else { return Self::default() };
        let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Self::default() };
        let tasks = tasks.filter_map(|task| Some(task.ok()?.path()));
        let all = tasks.filter(|task| is_load_thread(task)).flat_map(|task| {
            let children = read::text(task.join("children")).unwrap_or_default();
            let own: Vec<PathBuf> = children
                .split_whitespace()
                .map(|child| Path::new("/proc").join(child).join("task").join(child))
                .filter(|child| is_load_thread(child))
                .collect();
            own.into_iter().chain([task])
        });
        let network = |thread: &Path| number(&thread.join("ns/net").to_string_lossy());
        let there = all.filter(|thread| network(thread) == Some(there));
        Self { threads: there.map(SendingThread::new).collect() }
    }

    /// Returns the load threads of process `pid` and its descendants, such as those of an agent.
    pub(crate) fn threads_under(pid: u32) -> Self {
        let tasks = |pid: u32| fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
        let all = descendants(pid).flat_map(tasks).filter_map(|task| Some(task.ok()?.path()));
        Self { threads: all.filter(|task| is_load_thread(task)).map(SendingThread::new).collect() }
    }

    /// Samples each thread now. An ended thread keeps the usage of its last sample.
    pub(crate) fn sample(&mut self) {
        for thread in &mut self.threads {
            thread.used = thread_use(&thread.folder).unwrap_or(thread.used);
        }
    }

    /// Returns their total usage.
    pub(crate) fn used(&self) -> ThreadUse {
        let add = |sum: ThreadUse, one: &SendingThread| ThreadUse {
            user_ns: sum.user_ns + one.used.user_ns,
            system_ns: sum.system_ns + one.used.system_ns,
            waited_ns: sum.waited_ns + one.used.waited_ns,
        };
        self.threads.iter().fold(ThreadUse::default(), add)
    }

    /// Returns the nanoseconds that the threads have used of CPU number `cpu`. Returns `None` if
    /// one of them may run on several CPUs, because its usage is not counted per CPU.
    pub(crate) fn used_of(&self, cpu: usize) -> Option<u64> {
        let own = |thread: &SendingThread| {
            let on = thread.cpu?;
            Some(if on == cpu { thread.used.all_ns() } else { 0 })
        };
        self.threads.iter().map(own).sum()
    }
}

impl SendingThread {
    fn new(folder: PathBuf) -> Self {
        let status = read::text(folder.join("status")).unwrap_or_default();
        let used = thread_use(&folder).unwrap_or_default();
        Self { cpu: only_cpu(&status), folder, used }
    }
}

fn is_load_thread(task: &Path) -> bool {
    let name = read::text(task.join("comm")).unwrap_or_default();
    name.trim_end().strip_prefix(NAME).is_some_and(|number| number.parse::<u16>().is_ok())
}

/// Returns what a thread has used; `None` if it has ended. The value is exact to the nanosecond
/// where the kernel counts that (first number of `schedstat`), and split in the ratio of the ticks.
/// The second number of `schedstat` is the time on the run queue.
fn thread_use(folder: &Path) -> Option<ThreadUse> {
    let [user, system] =
        parse::process_ticks(&read::text(folder.join("stat"))?)?.map(|ticks| ticks * NS_PER_TICK);
    let schedstat = read::text(folder.join("schedstat")).unwrap_or_default();
    let mut numbers = schedstat.split_whitespace().map(str::parse::<u64>);
    let all = numbers.next().and_then(Result::ok);
    let waited_ns = numbers.next().and_then(Result::ok).unwrap_or(0);
    let all = all.filter(|all| *all > 0).unwrap_or(user + system);
    let system_ns = system.min(all);
    Some(ThreadUse { user_ns: all - system_ns, system_ns, waited_ns })
}

/// Returns the CPU in `Cpus_allowed_list` of a `status`, if it is a single one.
fn only_cpu(status: &str) -> Option<usize> {
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::sync::mpsc::sync_channel;
    use std::thread;

    use super::*;

    #[test]
    fn one_cpu_is_distinguished_from_several() {
        let check = |list: &str, expected| {
            let status =
                format!("Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t{list}\nMems_allowed:\t1\n");
            assert_eq!(only_cpu(&status), expected, "{list}");
        };
        check("3", Some(3));
        check("0-3", None);
        check("0,2", None);
        assert_eq!(only_cpu(""), None);
    }

    #[test]
    fn load_threads_in_this_network_are_found_by_name_and_count_their_work() {
        let (report, done) = sync_channel(1);
        let (go, goes) = sync_channel::<()>(1);
        let work = move || {
            while goes.recv().is_ok() {
                black_box((0..20_000_000_u64).fold(0, |sum, number| sum ^ number.wrapping_mul(0x9E37_79B9)));
                if report.send(()).is_err() {
                    return;
                }
            }
        };
        let sender = thread::Builder::new().name("load-7".to_owned()).spawn(work).expect("a thread");
        let _other = thread::Builder::new().name("loader".to_owned()).spawn(|| ()).expect("a thread");
        // The thread has its name once it has done something.
        go.send(()).expect("it waits");
        done.recv().expect("it works");
        let mut threads = LoadThreadUsage::other_threads_of(std::process::id());
        assert_eq!(threads.threads.len(), 1, "{threads:?}");
        assert_eq!(LoadThreadUsage::threads_under(std::process::id()).threads.len(), 1, "{threads:?}");
        let before = threads.used();
        // The loop is bounded by work: this many iterations take several kernel ticks on any
        // machine.
        for _ in 0..1_000 {
            go.send(()).expect("it waits");
            done.recv().expect("it works");
            threads.sample();
            if threads.used().all_ns() > before.all_ns() {
                break;
            }
        }
        let used = threads.used();
        assert!(used.all_ns() > before.all_ns(), "{before:?} {used:?}");
        threads.threads[0].cpu = None;
        assert_eq!(threads.used_of(0), None, "it runs wherever it likes");
        threads.threads[0].cpu = Some(1);
        assert_eq!((threads.used_of(0), threads.used_of(1)), (Some(0), Some(used.all_ns())));
        drop(go);
        sender.join().expect("it ends");
        threads.sample();
        assert_eq!(threads.used(), used, "what has ended stays as it was");
        assert_eq!(LoadThreadUsage::other_threads_of(u32::MAX).used(), ThreadUse::default());
    }
}
