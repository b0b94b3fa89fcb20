//! [`ServiceFault`]: the current effect of faults on one service.

use std::io;

use wavetank_units::UserError;

use super::desired::{DesiredFault, StopKind, Throttle};
use super::failed;
use super::fd_limit::FdLimits;
use super::processes::{PidHandle, any_alive, frozen, kill, resume};
use super::slow::Slowdown;
use crate::service::Services;

/// The fault state of one service. It is updated whenever one of the active faults starts or ends.
#[derive(Debug)]
pub(super) struct ServiceFault {
    host: String,
    pub(super) service: String,
    /// Whether the service was ended and has not been seen up since.
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
    /// Returns the state without faults.
    pub(super) fn for_service(host: &str, service: &str) -> Self {
        let (host, service) = (host.to_owned(), service.to_owned());
        Self { host, service, down: false, hold: Hold::None, limits: FdLimits::default() }
    }

    /// Puts the service into the required state, which is effective on return.
    ///
    /// # Errors
    /// The reason why it could not be done.
    pub(super) fn apply(&mut self, wanted: &DesiredFault, services: &mut Services) -> Result<(), UserError> {
        // A service that did not come up in time may have come up since, completely or in part.
        let is_down = self.down && !any_alive(&services.pids(&self.service));
        match wanted.down {
            Some(_) if is_down => return Ok(()),
            Some(how) => return self.take_down(how, services),
            None => {}
        }
        if is_down {
            // A service that does not come up is still down. Another fault and its end may retry.
            services.start_one(&self.service)?;
        }
        self.down = false;
        let roots = services.pids(&self.service);
        self.hold_up(wanted, &roots).map_err(|error| failed(&self.host, &error))
    }

    /// Resumes its processes.
    pub(super) fn resume(&mut self) {
        self.hold.resume();
    }

    fn take_down(&mut self, how: StopKind, services: &mut Services) -> Result<(), UserError> {
        // The thread that resumes processes periodically must not interfere. Stopped processes are
        // killed while stopped; for an orderly end they must be resumed first.
        if how == StopKind::Stop || !matches!(self.hold, Hold::Still(_)) {
            self.hold.resume();
        }
        services.ends_on_purpose(&self.service);
        let ended = match how {
            StopKind::Kill => kill(&services.pids(&self.service)).map_err(|error| failed(&self.host, &error)),
            StopKind::Stop => services.stop_one(&self.service),
        };
        self.hold.resume();
        ended?;
        // The next processes have their own limits.
        (self.down, self.limits) = (true, FdLimits::default());
        Ok(())
    }

    /// Holds up and limits processes as required. On an error they run freely.
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
