//! Threads in another network namespace: only they are there, with every kind of file table.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};
use wavetank_driver::{
    Clock, Crash, Driver, DriverConfig, Epoll, Feature, Features, NetworkNamespace, StartFault,
    StartReporter, spawn_in,
};
use wavetank_plan::FileTables::{self, PerProcess, PerThread, Shared};

/// Nothing here takes this long.
const PATIENCE: Duration = Duration::from_mins(1);

/// Returns the kinds of file table that are available here.
fn tables() -> Vec<FileTables> {
    let found = Features::probe(Features::all());
    let all = [(Feature::Unshare, PerThread), (Feature::OwnProcess, PerProcess)];
    let mut tables = vec![Shared];
    tables
        .extend(all.into_iter().filter(|(feature, _)| found.features.has(*feature)).map(|(_, files)| files));
    tables
}

/// Returns the namespace of the calling thread.
fn here() -> String {
    let link = fs::read_link("/proc/thread-self/ns/net").expect("/proc is mounted");
    link.to_string_lossy().into_owned()
}

/// Returns an empty namespace and its name. Prints a note and returns `None` if none can be made.
fn elsewhere(test: &str) -> Option<(NetworkNamespace, String)> {
    let made = std::thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET)?;
        Ok::<_, nix::Error>((NetworkNamespace::current().expect("/proc is mounted"), here()))
    });
    match made.join().expect("it only asks") {
        Ok(made) => Some(made),
        Err(errno) => {
            wavetank_testkit::skip(test, &format!("no network namespace can be made here: {errno}"));
            None
        }
    }
}

fn no_crash(crash: Crash) {
    panic!("{crash}");
}

#[test]
fn a_moved_thread_is_the_only_one_moved() {
    let Some((network, name)) = elsewhere("a_moved_thread_is_the_only_one_moved") else { return };
    let before = here();
    assert_ne!(before, name);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let at = listener.local_addr().expect("it is bound");
    for files in tables() {
        let (reports, reported): (SyncSender<(String, Option<ErrorKind>)>, _) = sync_channel(1);
        let life = move |start: StartReporter<(), ()>| {
            let driver = Epoll::new(&DriverConfig::small(Clock::starting_now())).expect("a driver");
            start.done(driver.waker().expect("a waker"), ());
            // Its loopback is a different one: it is down, and nothing listens there.
            let refused = TcpStream::connect(at).err().map(|error| error.kind());
            reports.send((here(), refused)).expect("it is awaited");
        };
        let started = spawn_in(Some(network.clone()), "away".to_owned(), files, life, no_crash);
        let started = started.expect("a thread");
        let reported = reported.recv_timeout(PATIENCE).expect("the thread reports");
        assert_eq!(reported, (name.clone(), Some(ErrorKind::NetworkUnreachable)), "{files:?}");
        started.handle.join().expect("it came to its end");
        assert_eq!(here(), before, "{files:?}: only the thread went");
    }
    TcpStream::connect(at).expect("here it is listened on as before");
}

#[test]
fn what_is_no_namespace_is_refused() {
    for files in tables() {
        let no_namespace = NetworkNamespace::new(File::open("/dev/null").expect("it is always there"));
        let life = |_: StartReporter<(), ()>| panic!("it has nowhere to be");
        let fault = spawn_in(Some(no_namespace), "lost".to_owned(), files, life, no_crash);
        let fault = fault.map(drop).expect_err("there is no such place");
        assert!(matches!(fault, StartFault::Refused(errno) if errno.symbol() == Some("EINVAL")), "{fault:?}");
    }
}
