//! [`ServiceFault`]: what faults do to one service at present.

use std::io;

use wavetank_plan::UserError;

use super::desired::{DesiredFault, StopKind, Throttle};
use super::failed;
use super::fd_limit::FdLimits;
use super::processes::{PidHandle, any_alive, frozen, kill, resume};
use super::slow::Slowdown;
use crate::service::Services;

/// It is made what the faults under way want together, whenever one of them begins or ends.
#[derive(Debug)]
pub(super) struct ServiceFault {
    host: String,
    pub(super) service: String,
    /// Whether the service was ended, and has not been seen to be up since.
    pub(super) down: bool,
    hold: Hold,
    limits: FdLimits,
}

/// How processes are held up.
#[derive(Debug)]
enum Hold {
    None,
    Slow(Slowdown),
    Still(Vec<PidHandle>),
}

impl ServiceFault {
    /// On a service that runs free.
    pub(super) fn for_service(host: &str, service: &str) -> Self {
        let (host, service) = (host.to_owned(), service.to_owned());
        Self { host, service, down: false, hold: Hold::None, limits: FdLimits::default() }
    }

    /// Makes the service do what is wanted of it; it is felt as soon as this returns.
    ///
    /// # Errors
    /// What kept it from being done.
    pub(super) fn apply(&mut self, wanted: &DesiredFault, services: &mut Services) -> Result<(), UserError> {
        // One that did not come up in time may have come up since, whole or in part.
        let is_down = self.down && !any_alive(&services.pids(&self.service));
        match wanted.down {
            Some(_) if is_down => return Ok(()),
            Some(how) => return self.take_down(how, services),
            None => {}
        }
        if is_down {
            // One that does not come up is still down, and may be tried again by another fault and its end.
            services.start_one(&self.service)?;
        }
        self.down = false;
        let roots = services.pids(&self.service);
        self.hold_up(wanted, &roots).map_err(|error| failed(&self.host, &error))
    }

    /// Its processes go on.
    pub(super) fn resume(&mut self) {
        self.hold.resume();
    }

    fn take_down(&mut self, how: StopKind, services: &mut Services) -> Result<(), UserError> {
        // A thread that lets processes go again and again must not meddle. What stands still is killed as it stands, and
        // hears of an orderly end only when it goes on.
        if how == StopKind::Stop || !matches!(self.hold, Hold::Still(_)) {
            self.hold.resume();
        }
        let ended = match how {
            StopKind::Kill => kill(&services.pids(&self.service)).map_err(|error| failed(&self.host, &error)),
            StopKind::Stop => services.stop_one(&self.service),
        };
        self.hold.resume();
        ended?;
        // Whoever is started next has limits of its own.
        (self.down, self.limits) = (true, FdLimits::default());
        Ok(())
    }

    /// Processes are held up and limited as is wanted. What does not work leaves them free.
    fn hold_up(&mut self, wanted: &DesiredFault, roots: &[u32]) -> io::Result<()> {
        let limited = self.limits.apply_to(roots, wanted.files);
        if self.hold.pace() == wanted.pace {
            return limited;
        }
        self.hold.resume();
        self.hold = match wanted.pace {
            Throttle::Full => Hold::None,
            Throttle::Slow(delay) => Hold::Slow(Slowdown::begin(roots.to_vec(), delay)?),
            Throttle::Still => Hold::Still(frozen(roots)?),
        };
        limited
    }
}

impl Hold {
    const fn pace(&self) -> Throttle {
        match self {
            Self::None => Throttle::Full,
            Self::Slow(slow) => Throttle::Slow(slow.delay),
            Self::Still(_) => Throttle::Still,
        }
    }

    fn resume(&mut self) {
        match std::mem::replace(self, Self::None) {
            Self::None => {}
            Self::Slow(slow) => slow.end(),
            Self::Still(held) => resume(&held),
        }
    }
}
