//! [`Server`]: the threads of a server that runs.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use wavetank_driver::{
    Clock, Driver, DriverConfig, Epoll, Errno, StartFault, StartReporter, Started, Tls, Uring, Waker, spawn,
};
use wavetank_plan::{EngineChoice, Nanos, SPREAD, UserError};

use crate::outbox::filler;
use crate::shared::Shared;
use crate::shop::Shop;
use crate::worker::Worker;
use crate::{ServeOptions, Truth};

/// More threads than any machine has CPUs are a slip of the finger.
const THREADS_MAX: u32 = 1_024;

/// A server that runs. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared>,
    /// By number.
    threads: Vec<(JoinHandle<()>, Waker)>,
    /// The threads of the shop's database.
    keepers: Vec<JoinHandle<()>>,
}

/// Start serving. When this returns, connections are accepted at [`Server::addresses`].
///
/// Fails with exit 2 on senseless options, with exit 5 where this host cannot: the port is taken, the
/// address is not one of this host, permission is missing, files have run out.
#[expect(clippy::needless_pass_by_value, reason = "what a server was asked to be is nobody else's")]
pub fn start(options: ServeOptions) -> Result<Server, UserError> {
    match options.engine {
        EngineChoice::Uring => start_on::<Uring>(&options),
        EngineChoice::Epoll | EngineChoice::Auto => start_on::<Epoll>(&options),
    }
}

/// The same on any driver.
fn start_on<D: Driver + 'static>(options: &ServeOptions) -> Result<Server, UserError> {
    let threads = check(options)?;
    for &address in &options.listen {
        check_free(address)?;
    }
    // Made now: if a thread's process were killed while making it, others would wait for it for ever.
    filler();
    let clock = Clock::starting_now();
    // Before the others: they may work in processes, which cannot start threads of ours.
    let (shop, keepers) = Shop::open(&options.shop, threads, clock)?;
    let shared = Arc::new(Shared::new(threads, clock, options.freeze, shop));
    let mut server = Server { addresses: options.listen.clone(), shared, threads: Vec::new(), keepers };
    let sockets = options.connections.div_ceil(u64::from(threads));
    let sockets = u32::try_from(sockets + sockets / SPREAD).unwrap_or(u32::MAX);
    let setup = DriverConfig { clock, features: options.features, sockets };
    for thread in 0..threads {
        // Where the port was left to the kernel, the first thread's choice binds all others.
        server.add_thread::<D>(thread, setup, options)?;
    }
    Ok(server)
}

impl Server {
    /// Where it listens, in the order of the options, ports filled in.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What it has seen so far.
    pub fn truth(&self) -> Truth {
        self.shared.truth()
    }

    /// Threads whose process ended before its work did, in words: they serve nobody any more.
    pub fn crashes(&self) -> Vec<String> {
        self.shared.crashes()
    }

    /// Why the server has stopped by itself, if it has: this host gave a thread nothing more to wait with.
    pub fn fault(&self) -> Option<UserError> {
        self.shared.fault().map(|errno| {
            let hint = match errno.symbol() {
                Some("EAGAIN" | "ENOMEM" | "ENOBUFS") => {
                    "the kernel is short of memory: fewer connections, or more memory for this host or container"
                }
                _ => "--engine epoll does the same by other means",
            };
            UserError::refused("no_driver", format!("the server cannot go on: waiting failed: {errno}"), hint)
        })
    }

    /// Why clients were not accepted since the start, if that has happened. It costs next to nothing to ask.
    pub fn accept_failure(&self) -> Option<Errno> {
        self.shared.accept_failure()
    }

    /// What the shop's database said first that was no answer, if it did.
    pub fn database_fault(&self) -> Option<&str> {
        self.shared.shop.fault()
    }

    /// Count anew, and arm the freeze anew: what `POST /truth/reset` does.
    pub fn reset_truth(&self) {
        self.shared.reset();
    }

    /// Close all connections and end all threads; returns when that is done.
    pub fn stop(mut self) {
        self.end();
    }

    fn add_thread<D: Driver + 'static>(
        &mut self,
        thread: u32,
        setup: DriverConfig,
        options: &ServeOptions,
    ) -> Result<(), UserError> {
        let (shared, of_crash) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
        let options = ServeOptions { listen: self.addresses.clone(), ..options.clone() };
        let files = options.files;
        let life = move |start| serve::<D>(&shared, thread, &setup, &options, start);
        let crashed = move |crash| of_crash.crashed(thread, crash);
        let Started { handle, waker, value } =
            spawn(format!("serve-{thread}"), files, life, crashed).map_err(no_thread)?;
        self.addresses = value;
        self.shared.shop.desks().set_waker(thread, waker.clone());
        self.threads.push((handle, waker));
        Ok(())
    }

    fn end(&mut self) {
        self.shared.stop();
        for (_, waker) in &self.threads {
            waker.wake();
        }
        for (thread, (handle, _)) in (0..).zip(self.threads.drain(..)) {
            // What is left of one whose process was killed need not come to an end: the allocator it shared
            // with it may be locked for ever.
            if !self.shared.is_gone(thread) {
                // A panic has been printed by its thread; there is nothing to add.
                drop(handle.join());
            }
        }
        self.shared.shop.close();
        // Nobody's answer is lost by it: there is nobody left.
        self.keepers.drain(..).for_each(|keeper| drop(keeper.join()));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// A thread's whole life. The driver is made here because some drivers belong to the thread that made them.
fn serve<D: Driver>(
    shared: &Arc<Shared>,
    thread: u32,
    setup: &DriverConfig,
    options: &ServeOptions,
    start: StartReporter<Vec<SocketAddr>, UserError>,
) {
    let (driver, waker, bound) = match listen::<D>(setup, &options.listen) {
        Ok(made) => made,
        Err(error) => return start.failed(error),
    };
    // Nobody waits any more only if the starting thread died.
    match &options.tls {
        None => {
            if start.done(waker, bound) {
                Worker::new(driver, Arc::clone(shared), setup, options, thread)
                    .run(&shared.thread_counts(thread));
            }
        }
        Some(tls) => {
            // Before anybody is told that we listen: it takes its time.
            let driver = Tls::wrap(driver, None, Some(Arc::clone(tls)));
            if start.done(waker, bound) {
                Worker::new(driver, Arc::clone(shared), setup, options, thread)
                    .run(&shared.thread_counts(thread));
            }
        }
    }
}

fn listen<D: Driver>(
    setup: &DriverConfig,
    addresses: &[SocketAddr],
) -> Result<(D, Waker, Vec<SocketAddr>), UserError> {
    let mut driver = D::new(setup).map_err(no_driver)?;
    let waker = driver.waker().map_err(no_driver)?;
    let mut bound = Vec::with_capacity(addresses.len());
    for &address in addresses {
        bound.push(driver.listen(address).map_err(|errno| cannot_listen(address, errno))?.1);
    }
    Ok((driver, waker, bound))
}

/// Returns how many threads are wanted.
fn check(options: &ServeOptions) -> Result<u32, UserError> {
    if options.listen.is_empty() {
        return Err(UserError::usage(
            "no_address",
            "there is no address to listen on",
            "--listen 127.0.0.1:8080",
        ));
    }
    if let Some((at, length)) = options.freeze
        && (at < Nanos::ZERO || length <= Nanos::ZERO)
    {
        let hint = "for example --freeze 300ms --freeze-at 2s";
        return Err(UserError::usage(
            "freeze",
            "a freeze begins at or after the first request and lasts",
            hint,
        ));
    }
    let cpus = thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(1));
    match options.threads.unwrap_or(cpus) {
        threads @ 1..=THREADS_MAX => Ok(threads),
        threads => {
            let message = format!("{threads} threads cannot serve");
            Err(UserError::usage(
                "threads",
                message,
                format!("1 to {THREADS_MAX}; this machine has {cpus} CPUs"),
            ))
        }
    }
}

/// The threads share their ports, and would share them with another process without a word.
fn check_free(address: SocketAddr) -> Result<(), UserError> {
    match TcpListener::bind(address) {
        Ok(_) => Ok(()),
        Err(error) => Err(cannot_listen(address, Errno(error.raw_os_error().unwrap_or_default()))),
    }
}

fn cannot_listen(address: SocketAddr, errno: Errno) -> UserError {
    let port = address.port();
    let (code, hint) = match errno.symbol() {
        Some("EADDRINUSE") => (
            "port_in_use",
            format!("`ss -ltnp sport = :{port}` shows who listens there; or take another port"),
        ),
        Some("EACCES" | "EPERM") => {
            ("no_permission", "ports below 1024 need root or net.ipv4.ip_unprivileged_port_start".to_owned())
        }
        Some("EADDRNOTAVAIL") => (
            "no_such_address",
            "`ip -brief address` shows the addresses of this host; 0.0.0.0 is all".to_owned(),
        ),
        Some("EMFILE" | "ENFILE") => ("no_files", "raise the limit on open files: `ulimit -n`".to_owned()),
        _ => ("cannot_listen", "for example --listen 127.0.0.1:8080".to_owned()),
    };
    UserError::refused(code, format!("cannot listen on {address}: {errno}"), hint)
}

fn no_driver(errno: Errno) -> UserError {
    let (code, hint) = match errno.symbol() {
        // Rings of io_uring are locked memory.
        Some("ENOMEM") => {
            ("no_memory", "raise the limit on locked memory, `ulimit -l`, or take --engine epoll")
        }
        _ => ("no_files", "raise the limit on open files: `ulimit -n`"),
    };
    UserError::refused(code, format!("cannot make a driver: {errno}"), hint)
}

fn no_thread(fault: StartFault<UserError>) -> UserError {
    let why = match fault {
        StartFault::Told(error) => return error,
        StartFault::Refused(errno) => errno.to_string(),
        StartFault::Crashed(crash) => crash.to_string(),
    };
    cannot_start(&why)
}

/// A thread of the server that the kernel gave no place.
pub(crate) fn cannot_start(why: &str) -> UserError {
    UserError::refused(
        "no_threads",
        format!("cannot start a thread: {why}"),
        "fewer --threads, or a higher `ulimit -u`",
    )
}
