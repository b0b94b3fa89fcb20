//! [`Logins`]: how many connections may be made at the same time.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::stop::Stop;

/// Limits simultaneous logins. An SSH server refuses logins beyond its `MaxStartups`.
#[derive(Debug)]
pub(crate) struct Logins {
    free: Mutex<usize>,
    changed: Condvar,
}

/// A login in progress. Another may begin when it is dropped.
#[derive(Debug)]
pub(crate) struct Login<'a>(&'a Logins);

impl Logins {
    pub(crate) fn new(max: usize) -> Self {
        Self { free: Mutex::new(max.max(1)), changed: Condvar::new() }
    }

    /// Waits until a login may begin; `None` if the end is requested first, see [`Self::wake`].
    pub(crate) fn begin(&self, stop: &Stop) -> Option<Login<'_>> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(free, |free| *free == 0 && !stop.is_stopped());
        let mut free = waited.unwrap_or_else(PoisonError::into_inner);
        if stop.is_stopped() {
            return None;
        }
        *free -= 1;
        Some(Login(self))
    }

    /// Lets waiting threads look whether the end is requested.
    pub(crate) fn wake(&self) {
        drop(self.free.lock());
        self.changed.notify_all();
    }
}

impl Drop for Login<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.changed.notify_one();
    }
}
