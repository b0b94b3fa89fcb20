//! [`LoadThreadUsage`]: load threads of this process that send from another network namespace, a host's of a lab.
//!
//! They are in no control group of that host, being threads of one program, but they are what works there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::network::number;
use crate::{parse, read};

/// How names of load threads begin; what follows is their number.
const NAME: &str = "load-";
/// Nanoseconds of a tick: `USER_HZ` is 100 on every architecture that Linux has today but Alpha.
const NS_PER_TICK: u64 = 10_000_000;

/// The load threads in one namespace. Who they are is found out once: all of them are there before the load begins, and none
/// comes later.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadThreadUsage {
    threads: Vec<SendingThread>,
}

/// One of them, or the process in which it does its work where it has a table of files of its own.
#[derive(Clone, Debug)]
struct SendingThread {
    /// Its folder in `/proc`.
    folder: PathBuf,
    /// The CPU that it is kept on, if on one.
    cpu: Option<usize>,
    used: ThreadUse,
}

/// CPU time that a thread has used, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadUse {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

impl ThreadUse {
    /// In user code and in the kernel together.
    pub(crate) const fn all_ns(self) -> u64 {
        self.user_ns + self.system_ns
    }
}

impl LoadThreadUsage {
    /// Those in the namespace of the process `pid`.
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

    /// Look at each of them now. One that has ended stays at what it had used when it was last looked at.
    pub(crate) fn sample(&mut self) {
        for thread in &mut self.threads {
            thread.used = thread_use(&thread.folder).unwrap_or(thread.used);
        }
    }

    /// What they have used together.
    pub(crate) fn used(&self) -> ThreadUse {
        let add = |sum: ThreadUse, one: &SendingThread| ThreadUse {
            user_ns: sum.user_ns + one.used.user_ns,
            system_ns: sum.system_ns + one.used.system_ns,
        };
        self.threads.iter().fold(ThreadUse::default(), add)
    }

    /// Nanoseconds that they have used of CPU number `cpu`; `None` where one of them runs on several: nobody counts how much
    /// on which.
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

/// What a thread has used: to the nanosecond where the kernel counts that (`schedstat`: its first number), divided as ticks
/// are; `None` where it has ended.
fn thread_use(folder: &Path) -> Option<ThreadUse> {
    let [user, system] =
        parse::process_ticks(&read::text(folder.join("stat"))?)?.map(|ticks| ticks * NS_PER_TICK);
    let schedstat = read::text(folder.join("schedstat")).unwrap_or_default();
    let all = schedstat.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
    let all = all.filter(|all| *all > 0).unwrap_or(user + system);
    let system_ns = system.min(all);
    Some(ThreadUse { user_ns: all - system_ns, system_ns })
}

/// The CPU in `Cpus_allowed_list` of a `status`, if it is one and not several.
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
    fn one_cpu_is_told_from_several() {
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
        let (tell, done) = sync_channel(1);
        let (go, goes) = sync_channel::<()>(1);
        let work = move || {
            while goes.recv().is_ok() {
                black_box((0..20_000_000_u64).fold(0, |sum, number| sum ^ number.wrapping_mul(0x9E37_79B9)));
                if tell.send(()).is_err() {
                    return;
                }
            }
        };
        let sender = thread::Builder::new().name("load-7".to_owned()).spawn(work).expect("a thread");
        let _other = thread::Builder::new().name("loader".to_owned()).spawn(|| ()).expect("a thread");
        // It has its name once it has done something.
        go.send(()).expect("it waits");
        done.recv().expect("it works");
        let mut threads = LoadThreadUsage::other_threads_of(std::process::id());
        assert_eq!(threads.threads.len(), 1, "{threads:?}");
        let before = threads.used();
        // Bounded by the work: so many turns take several of the kernel's ticks on any machine.
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
