//! [`Hosts`]: a lab's hosts as threads, each in its own namespaces, and one thread as the switch.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use nix::sched::{CloneFlags, unshare};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use wavetank_lab::{LabTag, net};
use wavetank_testkit::netns::NetNs;
use wavetank_topology::Lab;

use crate::networks::plan::FILE;

type Job = Box<dyn FnOnce() + Send>;

/// A lab with its networks only. Everything ends with its threads.
pub(crate) struct Hosts {
    rooms: Vec<Room>,
    switch: Room,
}

/// A thread with its own namespaces that runs jobs one after the other.
struct Room {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    id: u32,
}

impl Hosts {
    /// Creates the networks of `lab`; `None`, recorded as skipped, if this process may not.
    pub(crate) fn of(test: &str, lab: &Lab) -> Option<Self> {
        if !NetNs::available(test) {
            return None;
        }
        net::check(lab, FILE).expect("the lab fits this machine");
        let mark = LabTag::generate(&lab.name).expect("a name");
        let made = Self { rooms: lab.hosts.iter().map(|_| Room::new()).collect(), switch: Room::new() };
        let ids: Vec<u32> = made.rooms.iter().map(|room| room.id).collect();
        let (plan, owner) = (lab.clone(), mark.clone());
        made.switch.does(move || net::connect(&plan, &owner, &ids)).expect("connected");
        for (host, room) in made.rooms.iter().enumerate() {
            let (plan, owner) = (lab.clone(), mark.clone());
            room.does(move || net::configure_host(&plan, host, &owner, FILE)).expect("furnished");
        }
        Some(made)
    }

    /// Runs `work` in the host with that index in the lab.
    pub(crate) fn inside<T: Send + 'static>(
        &self,
        host: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        self.rooms[host].does(work)
    }

    /// Runs `work` in the switch.
    pub(crate) fn in_switch<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        self.switch.does(work)
    }
}

impl Room {
    fn new() -> Self {
        let (jobs, todo) = sync_channel::<Job>(1);
        let (report, reported) = sync_channel(1);
        let thread = std::thread::spawn(move || work_off(&todo, &report));
        let id = reported.recv().expect("the thread has its namespaces");
        Self { jobs: Some(jobs), thread: Some(thread), id }
    }

    fn does<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (report, reported) = sync_channel(1);
        let job: Job = Box::new(move || {
            let _ = report.send(work());
        });
        self.jobs.as_ref().expect("alive until dropped").send(job).expect("the thread takes jobs");
        reported.recv().expect("the job came to its end")
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Starts like the process of a host: nothing is shared with the machine, and it has its own
/// `/run`.
fn work_off(todo: &Receiver<Job>, report: &SyncSender<u32>) {
    unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS).expect("asked for by `available`");
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).expect("private mounts");
    mount("wavetank", "/run", "tmpfs", MountFlags::empty(), None).expect("an own /run");
    let id = rustix::thread::gettid().as_raw_nonzero().get();
    report.send(u32::try_from(id).expect("positive")).expect("the caller waits");
    while let Ok(job) = todo.recv() {
        job();
    }
}

/// Returns the output of `program` in the namespaces of the calling thread; it must succeed.
pub(crate) fn printed(program: &str, arguments: &[&str]) -> String {
    let output = std::process::Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}
