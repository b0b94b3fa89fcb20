//! [`Sessions`]: the clients of a server, and what each expects.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wavetank_netbench::{DataHeader, DataKind, FlowResult, NetSettings, SessionKey, UdpResult};
use wavetank_units::Nanos;

/// Most events that are kept until they are printed. Further ones are dropped.
const EVENTS_MAX: usize = 256;

/// The sessions of a server, by their numbers.
pub(crate) struct Sessions {
    peers_max: usize,
    by_number: Mutex<HashMap<u64, Arc<Session>>>,
    events: Mutex<Vec<String>>,
}

/// A client that has proved that it has the token.
pub(crate) struct Session {
    pub(crate) number: u64,
    pub(crate) key: SessionKey,
    pub(crate) peer: IpAddr,
    /// Set when the session ends.
    pub(crate) stop: AtomicBool,
    test: Mutex<Test>,
    active: AtomicUsize,
    /// Notified when a data thread ends.
    ended: Condvar,
    ended_lock: Mutex<()>,
}

/// The current test.
#[derive(Default)]
pub(crate) struct Test {
    number: u32,
    /// Data connections that may still come, by their numbers; `None`: any number of short ones.
    open: Option<Vec<u32>>,
    duration: Nanos,
    flows: Vec<FlowResult>,
    udp: Option<UdpResult>,
    /// Set when datagrams of the test are to end.
    udp_stop: Arc<AtomicBool>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is complete before the lock is released, so a panic leaves a valid value.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    pub(crate) fn new(peers_max: usize) -> Self {
        Self { peers_max, by_number: Mutex::default(), events: Mutex::default() }
    }

    /// Adds a session; `None` if there are as many as there may be.
    pub(crate) fn add(&self, number: u64, key: SessionKey, peer: IpAddr) -> Option<Arc<Session>> {
        let mut sessions = lock(&self.by_number);
        if sessions.len() >= self.peers_max || sessions.contains_key(&number) {
            return None;
        }
        let session = Arc::new(Session {
            number,
            key,
            peer,
            stop: AtomicBool::new(false),
            test: Mutex::default(),
            active: AtomicUsize::new(0),
            ended: Condvar::new(),
            ended_lock: Mutex::default(),
        });
        sessions.insert(number, Arc::clone(&session));
        Some(session)
    }

    pub(crate) fn find(&self, number: u64) -> Option<Arc<Session>> {
        lock(&self.by_number).get(&number).cloned()
    }

    /// Ends a session and its threads.
    pub(crate) fn end(&self, session: &Session) {
        session.end();
        lock(&self.by_number).remove(&session.number);
    }

    pub(crate) fn end_all(&self) {
        lock(&self.by_number).values().for_each(|session| session.end());
    }

    pub(crate) fn event(&self, text: String) {
        let mut events = lock(&self.events);
        if events.len() < EVENTS_MAX {
            events.push(text);
        }
    }

    pub(crate) fn take_events(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.events))
    }
}

impl Session {
    fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
        lock(&self.test).udp_stop.store(true, Ordering::Relaxed);
    }

    /// Starts a test. `streams` of 0 are connections that end after a byte.
    ///
    /// # Errors
    /// A short reason, if the test is not possible.
    pub(crate) fn expect(&self, number: u32, streams: u32, millis: u64) -> Result<(), String> {
        if streams > 2 * NetSettings::STREAMS_MAX {
            return Err(format!("at most {} streams", NetSettings::STREAMS_MAX));
        }
        let open = (streams > 0).then(|| (0..streams).collect());
        self.start(number, open, millis).map(drop)
    }

    /// Starts a test of datagrams. Returns what says that they are to end.
    pub(crate) fn expect_udp(&self, number: u32, millis: u64) -> Result<Arc<AtomicBool>, String> {
        self.start(number, Some(Vec::new()), millis)
    }

    fn start(&self, number: u32, open: Option<Vec<u32>>, millis: u64) -> Result<Arc<AtomicBool>, String> {
        let duration = Nanos::from_millis(i64::try_from(millis).unwrap_or(i64::MAX / 1_000_000));
        if duration > NetSettings::DURATION_MAX {
            return Err(format!("at most {}", NetSettings::DURATION_MAX));
        }
        if !self.wait_idle(Duration::from_secs(5)) {
            return Err("the test before has not ended".to_owned());
        }
        let mut test = lock(&self.test);
        if number <= test.number {
            return Err("the test has a number of an earlier one".to_owned());
        }
        *test = Test { number, open, duration, ..Test::default() };
        Ok(Arc::clone(&test.udp_stop))
    }

    /// Takes a data connection into the current test. Returns its duration; `None` if the test
    /// does not expect it.
    pub(crate) fn admit(&self, header: &DataHeader) -> Option<Nanos> {
        let mut test = lock(&self.test);
        if header.test != test.number || self.stop.load(Ordering::Relaxed) {
            return None;
        }
        match (&mut test.open, header.kind) {
            (None, DataKind::Connect) => {}
            (Some(open), DataKind::Upload | DataKind::Download | DataKind::Echo) => {
                let at = open.iter().position(|&stream| stream == header.stream)?;
                open.swap_remove(at);
            }
            _ => return None,
        }
        Some(test.duration)
    }

    /// Counts a data thread as active while the returned value exists.
    pub(crate) fn activate(self: &Arc<Self>) -> Active {
        self.active.fetch_add(1, Ordering::SeqCst);
        Active(Arc::clone(self))
    }

    pub(crate) fn add_flow(&self, test: u32, flow: FlowResult) {
        let mut current = lock(&self.test);
        if current.number == test {
            current.flows.push(flow);
        }
    }

    pub(crate) fn set_udp(&self, test: u32, result: UdpResult) {
        let mut current = lock(&self.test);
        if current.number == test {
            current.udp = Some(result);
        }
    }

    /// Asks datagrams to end, waits for the threads of a test, and returns its results.
    pub(crate) fn collect(
        &self,
        number: u32,
        wait: Duration,
    ) -> Option<(Vec<FlowResult>, Option<UdpResult>)> {
        lock(&self.test).udp_stop.store(true, Ordering::Relaxed);
        self.wait_idle(wait);
        let mut test = lock(&self.test);
        (test.number == number).then(|| (std::mem::take(&mut test.flows), test.udp.take()))
    }

    /// Waits until no data thread is active. Returns whether that is so.
    fn wait_idle(&self, wait: Duration) -> bool {
        let guard = lock(&self.ended_lock);
        let is_active = |(): &mut ()| self.active.load(Ordering::SeqCst) > 0;
        let waited = self.ended.wait_timeout_while(guard, wait, is_active);
        waited.is_ok_and(|(_, timeout)| !timeout.timed_out())
    }
}

/// A data thread of a session.
pub(crate) struct Active(Arc<Session>);

impl Drop for Active {
    fn drop(&mut self) {
        let _guard = lock(&self.0.ended_lock);
        self.0.active.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.notify_all();
    }
}
