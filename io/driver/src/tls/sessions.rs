//! [`SessionCache`]: the sessions that connections of one thread may resume.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use wavetank_plan::TlsResume;

use crate::driver::DialTls;

/// Tickets kept for each user: servers usually send two, and a user has one connection after the
/// other.
const USER_TICKETS_MAX: usize = 2;
/// Tickets kept for all connections of a thread: the number that may be opened at the same time.
const SHARED_TICKETS_MAX: usize = 1_024;
/// Caches kept. Users beyond this number do a full handshake each time.
const CACHES_MAX: usize = 1 << 20;

/// The sessions of one thread, by server name and user. The library looks them up by server name
/// only, so the user is set before each call of it.
#[derive(Debug)]
pub(super) struct SessionCache {
    resume: TlsResume,
    current: AtomicU64,
    /// The number of certificates that servers have shown.
    shown: AtomicU64,
    /// Never contended: only one thread uses it.
    caches: Mutex<HashMap<u64, Cache>>,
}

#[derive(Debug, Default)]
struct Cache {
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    /// Oldest first.
    tickets: VecDeque<Tls13ClientSessionValue>,
}

impl SessionCache {
    /// Returns an empty cache for one thread.
    pub(super) fn new(resume: TlsResume) -> Self {
        Self { resume, current: AtomicU64::new(0), shown: AtomicU64::new(0), caches: Mutex::default() }
    }

    /// Selects the connection of the library calls that follow.
    #[inline]
    pub(super) fn select_connection(&self, dial: DialTls) {
        let session = if self.resume == TlsResume::User { dial.session } else { 0 };
        self.current.store(u64::from(dial.name) << 32 | u64::from(session), Ordering::Relaxed);
    }

    /// Counts a certificate that a server has shown.
    pub(super) fn count_certificate(&self) {
        self.shown.fetch_add(1, Ordering::Relaxed);
    }

    /// Drops the sessions of this user with each of the first `names` servers.
    pub(super) fn forget(&self, session: u32, names: usize) {
        if self.resume != TlsResume::User {
            return;
        }
        let mut caches = self.caches();
        for name in 0..names as u64 {
            caches.remove(&(name << 32 | u64::from(session)));
        }
    }

    fn caches(&self) -> MutexGuard<'_, HashMap<u64, Cache>> {
        self.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, of: impl FnOnce(&mut Cache) -> Option<T>) -> Option<T> {
        self.caches().get_mut(&self.current.load(Ordering::Relaxed)).and_then(of)
    }

    fn write(&self, with: impl FnOnce(&mut Cache)) {
        if self.resume == TlsResume::Never {
            return;
        }
        let mut caches = self.caches();
        let key = self.current.load(Ordering::Relaxed);
        if caches.len() < CACHES_MAX || caches.contains_key(&key) {
            with(caches.entry(key).or_default());
        }
    }
}

/// The sessions that connections of QUIC of one thread may resume.
#[derive(Clone, Debug)]
pub struct QuicSessions {
    cache: Arc<SessionCache>,
    names: usize,
}

impl QuicSessions {
    pub(super) const fn new(cache: Arc<SessionCache>, names: usize) -> Self {
        Self { cache, names }
    }

    /// Selects the sessions of this connection for the calls of the library that follow.
    pub fn select(&self, dial: DialTls) {
        self.cache.select_connection(dial);
    }

    /// Whether the selected connection can ask for a session to be resumed.
    pub fn has_ticket(&self) -> bool {
        self.cache.read(|cache| (!cache.tickets.is_empty()).then_some(())).is_some()
    }

    /// The number of certificates that servers have shown so far. A handshake that resumes a
    /// session shows none.
    pub fn certificates_shown(&self) -> u64 {
        self.cache.shown.load(Ordering::Relaxed)
    }

    /// Drops the sessions of this user number.
    pub fn forget(&self, session: u32) {
        self.cache.forget(session, self.names);
    }
}

impl ClientSessionStore for SessionCache {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.write(|cache| cache.group = Some(group));
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.read(|cache| cache.group)
    }

    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.write(|cache| cache.tls12 = Some(value));
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.read(|cache| cache.tls12.clone())
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.read(|cache| cache.tls12.take());
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        let most = if self.resume == TlsResume::User { USER_TICKETS_MAX } else { SHARED_TICKETS_MAX };
        self.write(|cache| {
            // The server decides how many tickets it sends; the newest are kept.
            if cache.tickets.len() >= most {
                cache.tickets.pop_front();
            }
            cache.tickets.push_back(value);
        });
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.read(|cache| cache.tickets.pop_back())
    }
}
