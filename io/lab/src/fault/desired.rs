//! [`DesiredFault`]: the combined effect of all active faults on a service.

use wavetank_topology::FaultKind;
use wavetank_units::Nanos;

/// The strongest active fault of each kind; empty without faults. The effect depends only on the
/// set of active faults, not on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DesiredFault {
    /// How the service is ended, if it must not run.
    pub(super) down: Option<StopKind>,
    /// How the processes of a running service are held up.
    pub(super) pace: Throttle,
    /// The open-file limit of a running service.
    pub(super) files: Option<u64>,
}

/// How a service is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StopKind {
    /// By its own orderly stop.
    Stop,
    /// By SIGKILL to all its processes.
    Kill,
}

/// How processes are held up. The greater value is the stronger effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Throttle {
    /// The processes run freely.
    #[default]
    Full,
    /// Processes are stopped repeatedly for this duration.
    Slow(Nanos),
    /// Processes are stopped.
    Still,
}

impl DesiredFault {
    /// Combines `faults`, all of them of one service.
    pub(super) fn required_by<'f>(faults: impl Iterator<Item = &'f FaultKind>) -> Self {
        let mut wanted = Self::default();
        for fault in faults {
            match fault {
                FaultKind::Kill { .. } => wanted.down = Some(StopKind::Kill),
                FaultKind::Stop { .. } => wanted.down = wanted.down.max(Some(StopKind::Stop)),
                FaultKind::Pause { .. } => wanted.pace = Throttle::Still,
                FaultKind::Slow { delay, .. } => wanted.pace = wanted.pace.max(Throttle::Slow(*delay)),
                FaultKind::Files { limit, .. } => {
                    wanted.files = Some(wanted.files.map_or(*limit, |least| least.min(*limit)));
                }
                // These faults apply to an interface.
                FaultKind::Cut { .. } | FaultKind::Drop { .. } => {}
            }
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use wavetank_topology::FaultKind;

    use super::*;

    #[test]
    fn the_strongest_of_a_kind_counts() {
        let service = || "nginx".to_owned();
        let slow = |millis: i64| FaultKind::Slow { service: service(), delay: Nanos::from_millis(millis) };
        let files = |limit: u64| FaultKind::Files { service: service(), limit };
        let pause = || FaultKind::Pause { service: service() };
        let check = |faults: &[FaultKind], down: Option<StopKind>, pace: Throttle, files: Option<u64>| {
            let expected = DesiredFault { down, pace, files };
            assert_eq!(DesiredFault::required_by(faults.iter()), expected, "{faults:?}");
            assert_eq!(
                DesiredFault::required_by(faults.iter().rev()),
                expected,
                "the other way round: {faults:?}"
            );
        };
        check(&[], None, Throttle::Full, None);
        check(&[slow(20), slow(50)], None, Throttle::Slow(Nanos::from_millis(50)), None);
        check(&[slow(20), pause(), files(9)], None, Throttle::Still, Some(9));
        check(&[files(20), files(10), files(30)], None, Throttle::Full, Some(10));
        let (kill, stop) = (FaultKind::Kill { service: service() }, FaultKind::Stop { service: service() });
        check(std::slice::from_ref(&stop), Some(StopKind::Stop), Throttle::Full, None);
        check(
            &[kill.clone(), slow(7), stop],
            Some(StopKind::Kill),
            Throttle::Slow(Nanos::from_millis(7)),
            None,
        );
        check(
            &[kill, FaultKind::Cut { interface: "eth0".to_owned() }],
            Some(StopKind::Kill),
            Throttle::Full,
            None,
        );
    }
}
