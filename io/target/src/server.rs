//! [`Server`]: the threads of a running server.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use wavetank_driver::{
    Clock, Driver, DriverConfig, Epoll, Errno, ListenerId, ReplySocket, StartFault, StartReporter, Started,
    Tls, Uring, Waker, spawn,
};
use wavetank_plan::{EngineChoice, FileTables, SPREAD};
use wavetank_quic::QuicListener;
use wavetank_shop::Shop;
use wavetank_units::{Code, Nanos, UserError};

use crate::filler::filler;
use crate::shared::Shared;
use crate::startup_error::cannot_start;
use crate::udp_echo::UdpEcho;
use crate::worker::Worker;
use crate::{ServeOptions, Truth};

/// Maximum number of threads. More than any machine has CPUs would be a typing error.
const THREADS_MAX: u32 = 1_024;

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    /// Those of raw TCP come last.
    addresses: Vec<SocketAddr>,
    /// The number of the others.
    http: usize,
    /// Those of UDP.
    udp: Vec<SocketAddr>,
    /// Those of HTTP/3.
    http3: Vec<SocketAddr>,
    shared: Arc<Shared>,
    /// By thread number.
    threads: Vec<(JoinHandle<()>, Waker)>,
    /// The threads of the shop's database, and of UDP.
    keepers: Vec<JoinHandle<()>>,
}

/// Starts serving. When this returns, connections are accepted at [`Server::addresses`].
///
/// Fails with exit 2 on invalid options. Fails with exit 5 if the host does not allow it: the port
/// is taken, the address is not one of this host, permission is missing, or the limit on open files
/// is reached.
#[expect(clippy::needless_pass_by_value, reason = "a caller has no further use for the options")]
pub fn start(options: ServeOptions) -> Result<Server, UserError> {
    match options.engine {
        EngineChoice::Uring => start_on::<Uring>(&options),
        EngineChoice::Epoll | EngineChoice::Auto => start_on::<Epoll>(&options),
    }
}

/// Like [`start`], on a given driver.
fn start_on<D: Driver + 'static>(options: &ServeOptions) -> Result<Server, UserError> {
    let threads = check(options)?;
    for &address in options.listen.iter().chain(&options.tcp) {
        check_free(address)?;
    }
    // Initialized now: if a thread's process were killed while initializing it, others would wait
    // for it forever.
    filler();
    let clock = Clock::starting_now();
    // Started before the others: those may work in processes, which cannot start threads in this
    // one.
    let all = threads + options.http3.len() as u32;
    let (shop, mut keepers) = Shop::open(&options.shop, all, clock)?;
    let shared = Arc::new(Shared::new((all, options.udp.len()), clock, options.freeze, shop));
    let udp = start_udp(&options.udp, all, &shared, &mut keepers).inspect_err(|_| shared.stop())?;
    let addresses = [&options.listen[..], &options.tcp].concat();
    let http = options.listen.len();
    let http3 = Vec::new();
    let mut server = Server { addresses, http, udp, http3, shared, threads: Vec::new(), keepers };
    let sockets = options.connections.div_ceil(u64::from(threads));
    let sockets = u32::try_from(sockets + sockets / SPREAD).unwrap_or(u32::MAX);
    let setup = DriverConfig { clock, features: options.features, sockets };
    for thread in 0..threads {
        // If the kernel picks the port, all later threads use the port of the first one.
        server.add_thread::<D>(thread, setup, options)?;
    }
    for (thread, &address) in (threads..).zip(&options.http3) {
        server.add_http3_thread(thread, setup, options, address)?;
    }
    Ok(server)
}

impl Server {
    /// Returns the addresses it listens on, in the order of the options, with the actual ports.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses[..self.http]
    }

    /// Returns the addresses of raw TCP.
    pub fn tcp_addresses(&self) -> &[SocketAddr] {
        &self.addresses[self.http..]
    }

    /// Returns the addresses of UDP.
    pub fn udp_addresses(&self) -> &[SocketAddr] {
        &self.udp
    }

    /// Returns the addresses of HTTP/3.
    pub fn http3_addresses(&self) -> &[SocketAddr] {
        &self.http3
    }

    /// Returns the counts so far.
    pub fn truth(&self) -> Truth {
        self.shared.truth()
    }

    /// Returns a message for each thread with a process that ended too early. Such a thread serves
    /// no client any more.
    pub fn crashes(&self) -> Vec<String> {
        self.shared.crashes()
    }

    /// Returns why the server stopped on its own, if it did: a thread could no longer wait for
    /// events on this host.
    pub fn fault(&self) -> Option<UserError> {
        self.shared.fault().map(|errno| {
            let hint = match errno.symbol() {
                Some("EAGAIN" | "ENOMEM" | "ENOBUFS") => {
                    "the kernel is short of memory: use fewer connections, or give this host or container more memory"
                }
                _ => "use --engine epoll",
            };
            UserError::refused(Code::NoDriver, format!("the server cannot go on: waiting failed: {errno}"), hint)
        })
    }

    /// Returns why a client could not be accepted since the start, if this happened. The call is
    /// cheap.
    pub fn accept_failure(&self) -> Option<Errno> {
        self.shared.accept_failure()
    }

    /// Returns the first error of the shop's database, if there was one.
    pub fn database_fault(&self) -> Option<&str> {
        self.shared.shop.fault()
    }

    /// Resets the counts and the freeze, like `POST /truth/reset`.
    pub fn reset_truth(&self) {
        self.shared.reset();
    }

    /// Closes all connections and ends all threads. Returns when that is done.
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
        let (listen, tcp) = (self.addresses().to_vec(), self.tcp_addresses().to_vec());
        let options = ServeOptions { listen, tcp, ..options.clone() };
        let files = options.files;
        let life = move |start| serve::<D>(&shared, thread, &setup, &options, start);
        let crashed = move |crash| of_crash.crashed(thread, crash);
        let Started { handle, waker, value } =
            spawn(format!("serve-{thread}"), files, life, crashed).map_err(no_thread)?;
        self.addresses = value;
        self.shared.shop.set_waker(thread, waker.clone());
        self.threads.push((handle, waker));
        Ok(())
    }

    /// Starts a thread that serves HTTP/3. A connection belongs to the socket, not to a thread, so
    /// an address has one thread.
    fn add_http3_thread(
        &mut self,
        thread: u32,
        setup: DriverConfig,
        options: &ServeOptions,
        address: SocketAddr,
    ) -> Result<(), UserError> {
        let (shared, of_crash) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
        let options = ServeOptions { listen: vec![address], tcp: Vec::new(), ..options.clone() };
        let life = move |start| serve_http3(&shared, thread, &setup, &options, start);
        let crashed = move |crash| of_crash.crashed(thread, crash);
        let Started { handle, waker, value } =
            spawn(format!("serve-{thread}"), FileTables::Shared, life, crashed).map_err(no_thread)?;
        self.http3.push(value);
        self.shared.shop.set_waker(thread, waker.clone());
        self.threads.push((handle, waker));
        Ok(())
    }

    fn end(&mut self) {
        self.shared.stop();
        for (_, waker) in &self.threads {
            waker.wake();
        }
        for (thread, (handle, _)) in (0..).zip(self.threads.drain(..)) {
            // A thread with a killed process may never end: it shared the allocator with that
            // process, and the allocator may be locked forever.
            if !self.shared.is_gone(thread) {
                // A panic has been printed by its thread already.
                drop(handle.join());
            }
        }
        self.shared.shop.close();
        // No response is lost, since no thread is left that waits for one.
        self.keepers.drain(..).for_each(|keeper| drop(keeper.join()));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts a thread for each address of UDP. Returns the addresses with the actual ports.
fn start_udp(
    addresses: &[SocketAddr],
    threads: u32,
    shared: &Arc<Shared>,
    keepers: &mut Vec<JoinHandle<()>>,
) -> Result<Vec<SocketAddr>, UserError> {
    let mut bound = Vec::new();
    for (thread, &address) in (threads..).zip(addresses) {
        let failed =
            |error: std::io::Error| cannot_listen(address, Errno(error.raw_os_error().unwrap_or_default()));
        let socket = ReplySocket::bind(address).map_err(failed)?;
        bound.push(socket.socket().local_addr().map_err(failed)?);
        keepers.push(UdpEcho::start(socket, Arc::clone(shared), shared.thread_counts(thread))?);
    }
    Ok(bound)
}

/// The main function of a thread. The driver is made here because some drivers belong to the thread
/// that made them.
fn serve<D: Driver>(
    shared: &Arc<Shared>,
    thread: u32,
    setup: &DriverConfig,
    options: &ServeOptions,
    start: StartReporter<Vec<SocketAddr>, UserError>,
) {
    let addresses = [&options.listen[..], &options.tcp].concat();
    let (driver, waker, mut listeners, bound) = match listen::<D>(setup, &addresses) {
        Ok(made) => made,
        Err(error) => return start.failed(error),
    };
    let raw = listeners.split_off(options.listen.len());
    // `done` returns `false` only if the starting thread has died.
    match &options.tls {
        None => {
            if start.done(waker, bound) {
                Worker::new(driver, Arc::clone(shared), setup, options, thread, raw)
                    .run(&shared.thread_counts(thread));
            }
        }
        Some(tls) => {
            // Done before the start is reported, since it takes a while.
            let driver = Tls::wrap(driver, None, Some(Arc::clone(tls)));
            if start.done(waker, bound) {
                Worker::new(driver, Arc::clone(shared), setup, options, thread, raw)
                    .run(&shared.thread_counts(thread));
            }
        }
    }
}

/// The main function of a thread that serves HTTP/3.
fn serve_http3(
    shared: &Arc<Shared>,
    thread: u32,
    setup: &DriverConfig,
    options: &ServeOptions,
    start: StartReporter<SocketAddr, UserError>,
) {
    let address = options.listen[0];
    let made = options.tls.as_ref().ok_or(Errno(libc::EPROTONOSUPPORT)).and_then(|tls| {
        let mut driver = QuicListener::with_tls(setup.clock, tls)?;
        let (_, bound) = driver.listen(address)?;
        let waker = driver.waker()?;
        Ok((driver, waker, bound))
    });
    match made {
        Ok((driver, waker, bound)) => {
            if start.done(waker, bound) {
                Worker::new(driver, Arc::clone(shared), setup, options, thread, Vec::new())
                    .run(&shared.thread_counts(thread));
            }
        }
        Err(errno) => start.failed(cannot_listen(address, errno)),
    }
}

/// A driver with its listeners and their addresses.
type Listening<D> = (D, Waker, Vec<ListenerId>, Vec<SocketAddr>);

fn listen<D: Driver>(setup: &DriverConfig, addresses: &[SocketAddr]) -> Result<Listening<D>, UserError> {
    let mut driver = D::new(setup).map_err(no_driver)?;
    let waker = driver.waker().map_err(no_driver)?;
    let (mut listeners, mut bound) = (Vec::new(), Vec::new());
    for &address in addresses {
        let (listener, actual) = driver.listen(address).map_err(|errno| cannot_listen(address, errno))?;
        listeners.push(listener);
        bound.push(actual);
    }
    Ok((driver, waker, listeners, bound))
}

/// Checks the options. Returns the number of threads.
fn check(options: &ServeOptions) -> Result<u32, UserError> {
    if options.listen.is_empty() {
        return Err(UserError::usage(
            Code::NoAddress,
            "there is no address to listen on",
            "name one: --listen 127.0.0.1:8080",
        ));
    }
    if !options.http3.is_empty() && options.tls.is_none() {
        let hint = "add --tls, or --tls-cert and --tls-key";
        let message = "HTTP/3 always uses TLS, and this server does not";
        return Err(UserError::usage(Code::Conflict, message, hint));
    }
    if let Some((at, length)) = options.freeze
        && (at < Nanos::ZERO || length <= Nanos::ZERO)
    {
        let hint = "use for example --freeze 300ms --freeze-at 2s";
        let message = "a freeze must start at or after the first request, and be longer than zero";
        return Err(UserError::usage(Code::Freeze, message, hint));
    }
    let cpus = thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(1));
    match options.threads.unwrap_or(cpus) {
        threads @ 1..=THREADS_MAX => Ok(threads),
        threads => {
            let message = format!("cannot serve with {threads} threads");
            let hint = format!("use 1 to {THREADS_MAX}; this machine has {cpus} CPUs");
            Err(UserError::usage(Code::Threads, message, hint))
        }
    }
}

/// Checks that no other process uses the port. The threads share their ports, so the kernel would
/// also share them with another process without an error.
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
            Code::PortInUse,
            format!("find the process with `ss -ltnp sport = :{port}`, or use another port"),
        ),
        Some("EACCES" | "EPERM") => (
            Code::NoPermission,
            "ports below 1024 need root or net.ipv4.ip_unprivileged_port_start".to_owned(),
        ),
        Some("EADDRNOTAVAIL") => (
            Code::NoSuchAddress,
            "list the addresses of this host with `ip -brief address`; 0.0.0.0 listens on all".to_owned(),
        ),
        Some("EMFILE" | "ENFILE") => (Code::NoFiles, "raise the limit on open files: `ulimit -n`".to_owned()),
        _ => (Code::CannotListen, "use for example --listen 127.0.0.1:8080".to_owned()),
    };
    UserError::refused(code, format!("cannot listen on {address}: {errno}"), hint)
}

fn no_driver(errno: Errno) -> UserError {
    let (code, hint) = match errno.symbol() {
        // Rings of io_uring are locked memory.
        Some("ENOMEM") => {
            (Code::NoMemory, "raise the limit on locked memory, `ulimit -l`, or use --engine epoll")
        }
        _ => (Code::NoFiles, "raise the limit on open files: `ulimit -n`"),
    };
    UserError::refused(code, format!("cannot create an event driver: {errno}"), hint)
}

fn no_thread(fault: StartFault<UserError>) -> UserError {
    let why = match fault {
        StartFault::Reported(error) => return error,
        StartFault::Refused(errno) => errno.to_string(),
        StartFault::Crashed(crash) => crash.to_string(),
    };
    cannot_start(&why)
}
