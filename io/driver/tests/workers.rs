//! Threads with separate tables of files: what they share, what they do not share, and how they
//! end.
//!
//! Files are counted for the whole process, so the tests take turns.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wavetank_driver::{
    Clock, Crash, Driver, DriverConfig, Epoll, Event, Features, StartFault, StartReporter, Started, spawn,
    thread_cpu_ns,
};
use wavetank_plan::Close;
use wavetank_plan::FileTables::{self, PerProcess, PerThread, Shared};
use wavetank_units::Nanos;

/// Nothing here takes this long.
const PATIENCE: Duration = Duration::from_mins(1);

fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the kinds of file table that are available here.
fn tables() -> Vec<FileTables> {
    let found = Features::probe(Features::all());
    let mut tables = vec![Shared];
    for (feature, files) in
        [(wavetank_driver::Feature::Unshare, PerThread), (wavetank_driver::Feature::OwnProcess, PerProcess)]
    {
        if found.features.has(feature) {
            tables.push(files);
        }
    }
    tables
}

fn files() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc is mounted").count()
}

/// Returns the number of child processes, including ended ones that were not waited for.
fn children() -> usize {
    let tasks = fs::read_dir("/proc/self/task").expect("/proc is mounted");
    let of_task = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).ok();
    tasks.filter_map(|task| of_task(task.ok()?)).map(|list| list.split_whitespace().count()).sum()
}

fn no_crash(crash: Crash) {
    panic!("{crash}");
}

/// Runs an echo server on one driver until it is woken; it then sends the number of connections it
/// had.
fn echo(files: FileTables) -> (Started<SocketAddr>, Receiver<usize>) {
    let (reports, reported) = sync_channel(1);
    let life = move |start: StartReporter<SocketAddr, ()>| {
        let clock = Clock::starting_now();
        let mut driver = Epoll::new(&DriverConfig::small(clock)).expect("a driver");
        let (_, at) = driver.listen(([127, 0, 0, 1], 0).into()).expect("a free port");
        assert!(start.done(driver.waker().expect("a waker"), at));
        let mut seen = 0;
        loop {
            driver.wait(clock.now().after(Nanos::from_millis(100))).expect("waiting works");
            while let Some(event) = driver.next() {
                match event {
                    Event::Woken => {
                        reports.send(seen).expect("the test waits for it");
                        return;
                    }
                    Event::Accepted(..) => seen += 1,
                    Event::Received(conn, len) => {
                        let bytes = driver.received(len).to_vec();
                        driver.send(conn, &bytes).expect("the peer reads");
                    }
                    Event::Ended(conn, _) => driver.close(conn, Close::Fin),
                    other => panic!("heard {other:?}"),
                }
            }
        }
    };
    let started = spawn("echo".to_owned(), files, life, no_crash).expect("a thread");
    (started, reported)
}

#[test]
fn a_server_works_whatever_table_its_files_are_in() {
    use std::io::{Read, Write};
    let _turn = turn();
    for files in tables() {
        let before = self::files();
        let (Started { handle, waker, value: at }, reported) = echo(files);
        let idle = self::files();
        let mut peers: Vec<_> = (0..40).map(|_| TcpStream::connect(at).expect("it listens")).collect();
        for peer in &mut peers {
            peer.set_read_timeout(Some(PATIENCE)).expect("a positive timeout");
            peer.write_all(b"ping").expect("it reads");
            let mut back = [0; 4];
            peer.read_exact(&mut back).expect("it answers");
            assert_eq!(&back, b"ping");
        }
        let grown = self::files() - idle;
        assert_eq!(grown, if files == Shared { 80 } else { 40 }, "{files:?}: files of the server");
        drop(peers);
        waker.wake();
        assert_eq!(reported.recv_timeout(PATIENCE), Ok(40), "{files:?}");
        handle.join().expect("it came to its end");
        drop(waker);
        assert_eq!((self::files(), children()), (before, 0), "{files:?} left something behind");
    }
}

/// What a thread sees of itself.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    name: String,
    sum: u64,
    files: usize,
}

#[test]
fn memory_is_shared_and_files_are_not() {
    let _turn = turn();
    let ours: Vec<_> = (0..30).map(|_| File::open("/dev/null").expect("it is always there")).collect();
    for files in tables() {
        let numbers = Arc::new(Mutex::new(vec![1_u64; 1_000]));
        let (reports, reported): (SyncSender<Seen>, _) = sync_channel(1);
        let theirs = Arc::clone(&numbers);
        let life = move |start: StartReporter<(), ()>| {
            let driver = Epoll::new(&DriverConfig::small(Clock::starting_now())).expect("a driver");
            start.done(driver.waker().expect("a waker"), ());
            // Allocations that outlive the thread, and a destructor of thread-local storage.
            let mut numbers = theirs.lock().expect("no thread panicked");
            numbers.extend((0..100_000).map(|_| 2));
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            let list = fs::read_dir("/proc/thread-self/fd").expect("/proc is mounted");
            reports
                .send(Seen { name, sum: numbers.iter().sum(), files: list.count() })
                .expect("it is awaited");
        };
        let started = spawn("worker".to_owned(), files, life, no_crash).expect("a thread");
        let seen = reported.recv_timeout(PATIENCE).expect("the thread reports");
        started.handle.join().expect("it came to its end");
        assert_eq!((seen.name.as_str(), seen.sum), ("worker", 201_000), "{files:?}");
        assert_eq!(seen.files >= ours.len(), files == Shared, "{files:?}: {seen:?}");
        assert_eq!(numbers.lock().expect("no thread panicked").len(), 101_000);
    }
    assert!(ours.iter().all(|file| file.metadata().is_ok() && file.as_raw_fd() > 2));
}

#[test]
fn each_of_many_processes_holds_its_own() {
    let _turn = turn();
    for files in tables() {
        let servers: Vec<_> = (0..6).map(|_| echo(files)).collect();
        let expected = if files == PerProcess { 6 } else { 0 };
        assert_eq!(children(), expected, "{files:?}");
        for (Started { handle, waker, .. }, reported) in servers {
            waker.wake();
            assert_eq!(reported.recv_timeout(PATIENCE), Ok(0));
            handle.join().expect("it came to its end");
        }
        assert_eq!(children(), 0, "{files:?}");
    }
}

#[test]
fn the_result_of_a_start_arrives() {
    let _turn = turn();
    for files in tables() {
        let fails = |start: StartReporter<(), &'static str>| start.failed("no port");
        let fault = spawn("fails".to_owned(), files, fails, no_crash).expect_err("it failed");
        assert!(matches!(fault, StartFault::Reported("no port")), "{files:?}: {fault:?}");
    }
}

#[test]
fn a_process_that_is_killed_is_noticed() {
    let _turn = turn();
    if !tables().contains(&PerProcess) {
        return;
    }
    let die = || {
        let id = rustix::process::getpid();
        rustix::process::kill_process(id, rustix::process::Signal::KILL).expect("oneself may be killed");
    };
    // Before it reported the result of its start.
    let (crashed, crashes) = sync_channel(1);
    let fault = spawn(
        "dies".to_owned(),
        PerProcess,
        move |_: StartReporter<(), ()>| die(),
        move |crash| {
            crashed.send(crash.to_string()).expect("it is awaited");
        },
    );
    assert!(matches!(fault, Err(StartFault::Crashed(_))), "{fault:?}");
    assert_eq!(crashes.recv_timeout(PATIENCE).as_deref(), Ok("its process was ended by signal 9"));
    // And after that.
    let (crashed, crashes) = sync_channel(1);
    let life = move |start: StartReporter<(), ()>| {
        let driver = Epoll::new(&DriverConfig::small(Clock::starting_now())).expect("a driver");
        start.done(driver.waker().expect("a waker"), ());
        die();
    };
    let started = spawn("dies".to_owned(), PerProcess, life, move |crash| {
        crashed.send(crash.to_string()).expect("it is awaited");
    });
    let started = started.expect("it reported its start");
    assert_eq!(crashes.recv_timeout(PATIENCE).as_deref(), Ok("its process was ended by signal 9"));
    started.handle.join().expect("the thread outlives its process");
    assert_eq!(children(), 0);
}

#[test]
fn a_process_that_aborts_is_noticed() {
    let _turn = turn();
    if !tables().contains(&PerProcess) {
        return;
    }
    let (crashed, crashes) = sync_channel(1);
    let life = move |_: StartReporter<(), ()>| std::process::abort();
    let fault = spawn("aborts".to_owned(), PerProcess, life, move |crash| {
        crashed.send(crash.to_string()).expect("it is awaited");
    });
    assert!(matches!(fault, Err(StartFault::Crashed(_))), "{fault:?}");
    assert_eq!(crashes.recv_timeout(PATIENCE).as_deref(), Ok("its process was ended by signal 6"));
    assert_eq!(children(), 0);
}

#[test]
fn a_panic_in_a_process_is_one_of_its_thread() {
    let _turn = turn();
    for files in tables() {
        let life = |start: StartReporter<(), ()>| {
            let driver = Epoll::new(&DriverConfig::small(Clock::starting_now())).expect("a driver");
            start.done(driver.waker().expect("a waker"), ());
            std::panic::resume_unwind(Box::new("on purpose"));
        };
        let started = spawn("panics".to_owned(), files, life, no_crash).expect("it reported its start");
        let panic = started.handle.join().expect_err("it panicked");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"), "{files:?}");
        assert_eq!(children(), 0, "{files:?}");
    }
}

#[test]
fn a_thread_counts_its_own_cpu_time() {
    let _turn = turn();
    for files in tables() {
        let (reports, reported) = sync_channel(1);
        let life = move |start: StartReporter<(), ()>| {
            let driver = Epoll::new(&DriverConfig::small(Clock::starting_now())).expect("a driver");
            start.done(driver.waker().expect("a waker"), ());
            let before = thread_cpu_ns();
            let mut sum = 0_u64;
            // Bounded by the amount of work, not by a clock.
            for number in 0..200_000_000_u64 {
                sum = sum.wrapping_add(number * number).rotate_left(3);
                if number % 1_000_000 == 0 && thread_cpu_ns() > before + 5_000_000 {
                    break;
                }
            }
            reports.send((sum, thread_cpu_ns() - before)).expect("it is awaited");
        };
        let started = spawn("works".to_owned(), files, life, no_crash).expect("a thread");
        let (_, used) = reported.recv_timeout(PATIENCE).expect("the thread reports");
        started.handle.join().expect("it came to its end");
        assert!(used > 5_000_000, "{files:?}: {used} ns");
    }
}
