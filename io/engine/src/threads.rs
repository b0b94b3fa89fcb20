//! [`LoadThreads`]: the load threads of one host: start, commands and join.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use wavetank_driver::{
    Clock, Crash, Driver, DriverConfig, Epoll, Errno, Features, StartFault, StartReporter, Started, Tls,
    TlsClient, Uring, Waker, WallClock, fine_timers, pin_to, spawn_in,
};
use wavetank_journey::Journeys;
use wavetank_pace::Partition;
use wavetank_plan::{EngineChoice, HttpVersion, Plan};
use wavetank_quic::Quic;
use wavetank_tunnel::Tunnels;
use wavetank_units::Nanos;

use crate::connection_demand::{ConnectionDemand, SlotCounts};
use crate::connections::Connections;
use crate::exchange::Exchanges;
use crate::load_config::LoadConfig;
use crate::load_namespace::ThreadPlacement;
use crate::messages::{Command, Message};
use crate::preconnect::Preconnect;
use crate::rendezvous::{FleetRelease, RendezvousTable, WaitingUsers};
use crate::rendezvous_waiters::RendezvousWaiters;
use crate::requests::Requests;
use crate::sessions::{Sessions, UniqueRows};
use crate::sleeper::HybridSleep;
use crate::sources::{SourcePorts, Sources};
use crate::thread_limits::Limits;
use crate::users::Users;
use crate::worker::{Worker, WorkerParts};

/// Messages that may wait for the controlling thread before further ones are kept back.
const MESSAGES_MAX: usize = 256;
/// Commands that may wait for a thread.
const COMMANDS_MAX: usize = 16;

/// The load threads of one host; see the module documentation. Dropping it ends the threads.
pub struct LoadThreads {
    threads: Vec<LoadThread>,
    messages: Receiver<Message>,
    rendezvous: Arc<RendezvousTable>,
}

struct LoadThread {
    commands: SyncSender<Command>,
    waker: Waker,
    handle: JoinHandle<()>,
}

impl LoadThreads {
    /// Starts the plan's threads on the CPUs of `load_config` (one each if the numbers are equal).
    ///
    /// They open the connections needed before the load, report [`Message::Ready`] when that is
    /// done, and wait for [`Command::Start`]. With several namespaces, threads are dealt out over
    /// them in turn.
    ///
    /// # Errors
    /// If the kernel refuses a driver, a thread, or a thread's namespace.
    pub fn prepare(
        plan: &Arc<Plan>,
        share: Partition,
        clock: Clock,
        load_config: &LoadConfig,
    ) -> Result<Self, StartFault<Errno>> {
        let (sender, messages) = sync_channel(MESSAGES_MAX);
        let count = u64::from(plan.threads);
        let prepared = clock.now();
        let requests = Arc::new(Requests::render(&load_config.journeys));
        let wall_zero_ms = wall_zero_ms(clock);
        let rendezvous = Arc::new(RendezvousTable::new(plan, share, count));
        let rows = UniqueRows::new(plan, share);
        let mut limits = Limits::split(plan, share, count);
        // The value is complete from the first thread on. If a later thread fails, dropping it ends
        // the earlier ones.
        let threads = Vec::with_capacity(plan.threads as usize);
        let mut this = Self { threads, messages, rendezvous: Arc::clone(&rendezvous) };
        for thread in 0..plan.threads {
            let (commands, inbox) = sync_channel(COMMANDS_MAX);
            let number = u16::try_from(thread).expect("the plan limits threads");
            let placement = ThreadPlacement::new(thread, plan.threads, load_config.namespaces.len());
            let namespace = load_config.namespaces.get(placement.namespace);
            let thread_config = ThreadConfig {
                features: load_config.features,
                plan: Arc::clone(plan),
                requests: Arc::clone(&requests),
                journeys: load_config.journeys.clone(),
                wall_zero_ms,
                rendezvous: Arc::clone(&rendezvous),
                rows: rows.clone(),
                thread: number,
                share: share.split(count, u64::from(thread)),
                sleeper: HybridSleep::for_thread(plan.threads as usize, load_config.cpus.len()),
                cpu: cpu(load_config, plan.threads, thread, placement),
                ports: namespace.map_or(&load_config.ports, |namespace| &namespace.ports).clone(),
                sources: share.split(placement.of, placement.among),
                tls: load_config.tls.clone(),
                limits: limits.pop().expect("one for each thread"),
                clock,
                prepared,
                commands: inbox,
                messages: sender.clone(),
            };
            let failed = sender.clone();
            let crashed = move |crash: Crash| {
                // If the receiver is gone, no process needs the message.
                let _ = failed.send(Message::Failed(number, crash.to_string()));
            };
            let thread_main = ThreadConfig::thread_main(plan.engine);
            let (network, name) =
                (namespace.map(|namespace| namespace.network.clone()), format!("load-{thread}"));
            let Started { handle, waker, .. } =
                spawn_in(network, name, plan.files, move |start| thread_main(thread_config, start), crashed)?;
            this.threads.push(LoadThread { commands, waker, handle });
        }
        Ok(this)
    }

    /// Returns the longest time that opening connections ahead of the load may take, if this host
    /// keeps up. Each opening ends by its timeout, whatever the target does.
    pub fn opening_time_max(plan: &Plan) -> Nanos {
        Preconnect::time_max(plan)
    }

    /// Sends a command to every thread.
    #[expect(clippy::needless_pass_by_value, reason = "callers create the command for this call")]
    pub fn broadcast(&self, command: Command) {
        for thread in &self.threads {
            // A full queue means that the thread's loop has stopped. It is detected by its silence.
            let _ = thread.commands.try_send(command.clone());
            thread.waker.wake();
        }
    }

    /// Returns the users that wait at rendezvous, if users of other hosts wait there as well.
    pub fn waiting(&self) -> Vec<WaitingUsers> {
        self.rendezvous.waiting()
    }

    /// Releases users that wait for those of other hosts.
    pub fn release(&self, release: &FleetRelease) {
        self.rendezvous.release(release);
        for thread in &self.threads {
            thread.waker.wake();
        }
    }

    /// The number of threads.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Whether there are no threads.
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Returns the next message, waiting at most `wait`. `None`: no message arrived, or no thread
    /// is left.
    pub fn message(&self, wait: Duration) -> Option<Message> {
        self.messages.recv_timeout(wait).ok()
    }

    /// Waits for the threads to end, after each has sent [`Message::Finished`] or
    /// [`Message::Failed`].
    pub fn join(mut self) {
        for thread in std::mem::take(&mut self.threads) {
            drop(thread.commands);
            thread.waker.wake();
            // A panic of a load thread aborts the process in release builds; in debug builds it was
            // printed.
            let _ = thread.handle.join();
        }
    }
}

/// Runs one load thread with the whole plan, on `driver` and in the caller's thread.
///
/// For tests and benches: without source addresses and TLS. It returns after the command to finish.
/// With `spins`, the thread spins ahead of exact instants, as one with its own CPU does.
pub fn run_here<D: Driver>(
    driver: D,
    plan: &Arc<Plan>,
    spins: bool,
    commands: Receiver<Command>,
    messages: SyncSender<Message>,
) -> Result<(), Errno> {
    let load_config = LoadConfig::plain(plan).expect("the caller has compiled the plan");
    let clock = driver.clock();
    let thread_config = ThreadConfig {
        features: load_config.features,
        plan: Arc::clone(plan),
        requests: Arc::new(Requests::render(&load_config.journeys)),
        journeys: load_config.journeys,
        wall_zero_ms: wall_zero_ms(clock),
        rendezvous: Arc::new(RendezvousTable::new(plan, Partition::WHOLE, 1)),
        rows: UniqueRows::new(plan, Partition::WHOLE),
        thread: 0,
        share: Partition::WHOLE,
        sleeper: if spins { HybridSleep::spinning() } else { HybridSleep::for_thread(2, 1) },
        cpu: None,
        ports: load_config.ports,
        sources: Partition::WHOLE,
        tls: None,
        limits: Limits::split(plan, Partition::WHOLE, 1).pop().expect("one thread was requested"),
        clock,
        prepared: driver.now(),
        commands,
        messages,
    };
    thread_config.worker(driver).run()
}

/// Returns the CPU to which a thread is pinned, if any: one of its namespace, or its own if there
/// is one CPU for each thread. Otherwise the kernel places the threads.
fn cpu(load_config: &LoadConfig, threads: u32, thread: u32, placement: ThreadPlacement) -> Option<u32> {
    let of_namespace =
        load_config.namespaces.get(placement.namespace).map_or(&[][..], |namespace| &namespace.cpus);
    if let [_, ..] = of_namespace {
        return of_namespace.get(placement.among as usize % of_namespace.len()).copied();
    }
    (load_config.cpus.len() == threads as usize)
        .then(|| load_config.cpus.get(thread as usize).copied())
        .flatten()
}

/// Returns the milliseconds since 1970 at the clock's zero.
pub(crate) fn wall_zero_ms(clock: Clock) -> u64 {
    let zero = WallClock::unix_ns().saturating_sub(clock.now().0);
    (zero / 1_000_000).max(0).unsigned_abs()
}

impl Drop for LoadThreads {
    fn drop(&mut self) {
        for thread in self.threads.drain(..) {
            // A thread that can receive no more commands ends at its next check.
            drop(thread.commands);
            thread.waker.wake();
        }
    }
}

/// The main function of a load thread on one driver.
type ThreadMain = fn(ThreadConfig, StartReporter<(), Errno>);

/// The resources of one load thread.
struct ThreadConfig {
    features: Features,
    plan: Arc<Plan>,
    /// Rendered once for all threads: bodies may be large.
    requests: Arc<Requests>,
    /// The thread's own copy, because some compiled parts have their own memory.
    journeys: Journeys,
    wall_zero_ms: u64,
    /// The rendezvous of users of all threads.
    rendezvous: Arc<RendezvousTable>,
    /// The unique rows that all threads draw from.
    rows: UniqueRows,
    thread: u16,
    share: Partition,
    sleeper: HybridSleep,
    cpu: Option<u32>,
    ports: SourcePorts,
    /// The thread's share of the (address, port) pairs of its namespace.
    sources: Partition,
    /// The TLS client, if TLS is used.
    tls: Option<Arc<TlsClient>>,
    limits: Limits,
    clock: Clock,
    prepared: Nanos,
    commands: Receiver<Command>,
    messages: SyncSender<Message>,
}

impl ThreadConfig {
    /// Returns the main function of a load thread on `engine`.
    fn thread_main(engine: EngineChoice) -> ThreadMain {
        match engine {
            EngineChoice::Uring => Self::run_on::<Uring>,
            EngineChoice::Epoll | EngineChoice::Auto => Self::run_on::<Epoll>,
        }
    }

    /// Runs on a driver of this kind. The TLS layer is added only if TLS is used, so that other
    /// runs do not pay for it.
    fn run_on<D: Driver>(mut self, start: StartReporter<(), Errno>) {
        let setup = DriverConfig { clock: self.clock, features: self.features, sockets: self.slots().all() };
        // Some drivers belong to the thread that created them.
        let driver = D::new(&setup);
        if self.plan.uses_tunnels() {
            let (tls, streams) = (self.tls.take(), Some(self.plan.http.pipeline));
            let driver = driver.map(|inner| Tunnels::wrap(Tls::wrap(inner, tls, None), streams));
            return self.run_worker(driver, start);
        }
        match self.tls.take() {
            None => self.run_worker(driver, start),
            Some(client) if self.plan.http.version == HttpVersion::Http3 => {
                self.run_worker(driver.and_then(|inner| Quic::wrap(inner, Some(client))), start);
            }
            Some(client) => {
                self.run_worker(driver.map(|inner| Tls::wrap(inner, Some(client), None)), start);
            }
        }
    }

    fn run_worker<D: Driver>(self, driver: Result<D, Errno>, start: StartReporter<(), Errno>) {
        let (thread, messages) = (self.thread, self.messages.clone());
        let made = driver.and_then(|driver| driver.waker().map(|waker| (driver, waker)));
        let (driver, waker) = match made {
            Ok(made) => made,
            Err(errno) => return start.failed(errno),
        };
        fine_timers();
        if let Some(cpu) = self.cpu {
            // Running on another CPU is no reason to fail.
            let _ = pin_to(cpu);
        }
        // Created before the thread reports its start, so that its own memory is not counted for
        // its connections.
        let worker = self.worker(driver);
        if !start.done(waker, ()) {
            return;
        }
        if let Err(errno) = worker.run() {
            // If the receiver is gone, no process needs the message.
            let _ = messages.send(Message::Failed(thread, errno.to_string()));
        }
    }

    /// Returns the expected number of connections of this thread.
    fn slots(&self) -> SlotCounts {
        let first_slots = Users::first_slots(&self.plan, self.share);
        let own = first_slots.last().copied().unwrap_or(0);
        let tracks = self.plan.tracks();
        let held = tracks.iter().zip(first_slots.windows(2)).filter(|(track, _)| track.hold);
        let held = held.map(|(_, slots)| slots[1] - slots[0]).sum();
        let mine = |count: u64| u32::try_from(self.share.count_below(count)).unwrap_or(u32::MAX);
        let all = ConnectionDemand::for_plan(&self.plan);
        SlotCounts { own, held, pool: mine(all.shared), guests: mine(all.own) }
    }

    fn worker<D: Driver>(self, driver: D) -> Worker<D> {
        let slots = self.slots();
        let Self {
            plan,
            requests,
            journeys,
            wall_zero_ms,
            rendezvous,
            rows,
            thread,
            share,
            sleeper,
            ports,
            sources,
            limits,
            prepared,
            commands,
            messages,
            ..
        } = self;
        let sessions = Sessions::new(Arc::clone(&plan), journeys, share, rows, wall_zero_ms);
        let users = Users::new(&plan, share, limits.sessions);
        let connections = Connections::new(
            driver,
            Arc::clone(&plan),
            requests,
            // Threads start at different addresses of a target with several.
            Sources::new(&plan, &ports, sources, usize::from(thread)),
            slots,
        );
        let exchanges = Exchanges::new(connections, Arc::clone(&plan), limits.max_open);
        Worker::new(WorkerParts {
            exchanges,
            prepared,
            plan,
            thread,
            share,
            users,
            sessions,
            gathering: RendezvousWaiters::new(rendezvous),
            sleeper,
            commands,
            messages,
        })
    }
}
