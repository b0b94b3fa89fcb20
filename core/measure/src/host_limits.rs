//! [`LimitUse`]: how much of a limited resource a host used during a run.

use wavetank_units::Nanos;

/// The most that a host used of one resource, and what it used of it before the load.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitUse {
    /// `cpu`, `cpu_core`, `memory`, `files`, `ports`, `link`, `conntrack`, `tcp_memory`,
    /// `time_wait` or `orphans`.
    pub resource: String,
    /// Which of several: the destination of `ports`, the interface of `link`. Otherwise empty.
    pub of: String,
    /// Used before the load.
    pub before: f64,
    /// The most that was used: CPUs, bytes, bits per second or a number.
    pub used: f64,
    /// The limit, in the same unit.
    pub max: f64,
    /// When that was.
    pub at: Nanos,
}

impl LimitUse {
    /// Returns the used share of the limit, 0 to 1 or slightly more.
    pub fn share(&self) -> f64 {
        if self.max > 0.0 { self.used / self.max } else { 0.0 }
    }

    /// Returns how many times the load would use all of it, if usage grows linearly with the load
    /// from what it was before. `None`: the load used none of it, or it
    /// was full before.
    pub fn load_factor(&self) -> Option<f64> {
        let (grown, free) = (self.used - self.before, self.max - self.before);
        (grown > 0.0 && free > 0.0).then(|| (free / grown).max(1.0))
    }
}

/// Samples over which a sustained share is averaged.
const SUSTAINED: usize = 3;

/// The highest mean of a share over three consecutive samples, so that a single second does not
/// count as a limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SustainedShare {
    recent: [f64; SUSTAINED],
    seen: usize,
    most: Option<(f64, Nanos)>,
}

impl SustainedShare {
    pub(crate) fn add(&mut self, share: f64, at: Nanos) {
        self.recent[self.seen % SUSTAINED] = share;
        self.seen += 1;
        let known = &self.recent[..self.seen.min(SUSTAINED)];
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        // Means over fewer samples only count until there are three.
        if self.seen <= SUSTAINED || self.most.is_none_or(|(most, _)| mean > most) {
            self.most = Some((mean, at));
        }
    }

    pub(crate) const fn most(&self) -> Option<(f64, Nanos)> {
        self.most
    }
}

/// What was used of one resource over a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LevelUse {
    pub(crate) before: u64,
    pub(crate) used: u64,
    pub(crate) max: u64,
    pub(crate) at: Nanos,
}

impl LevelUse {
    pub(crate) const fn first(used: u64, max: u64, at: Nanos) -> Self {
        Self { before: used, used, max, at }
    }

    pub(crate) fn add(&mut self, used: u64, max: u64, at: Nanos) {
        if used > self.used {
            (self.used, self.at) = (used, at);
        }
        self.max = max;
    }

    pub(crate) fn named(&self, resource: &str) -> LimitUse {
        LimitUse {
            resource: resource.to_owned(),
            of: String::new(),
            before: self.before as f64,
            used: self.used as f64,
            max: self.max as f64,
            at: self.at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_before_the_load_does_not_grow_with_it() {
        let check = |before: f64, used: f64, share: f64, factor: Option<f64>| {
            let (resource, of) = ("memory".to_owned(), String::new());
            let limit = LimitUse { resource, of, before, used, max: 100.0, at: Nanos::ZERO };
            assert!((limit.share() - share).abs() < 1e-9, "{limit:?}");
            assert_eq!(limit.load_factor(), factor, "{limit:?}");
        };
        check(0.0, 50.0, 0.5, Some(2.0));
        check(40.0, 60.0, 0.6, Some(3.0));
        check(40.0, 40.0, 0.4, None);
        check(0.0, 120.0, 1.2, Some(1.0));
        check(100.0, 110.0, 1.1, None);
    }

    #[test]
    fn a_share_must_last_three_samples() {
        let most = |shares: &[f64]| {
            let mut sustained = SustainedShare::default();
            for (second, share) in (1..).zip(shares) {
                sustained.add(*share, Nanos::from_secs(second));
            }
            sustained.most()
        };
        assert_eq!(most(&[]), None);
        assert_eq!(most(&[0.5]), Some((0.5, Nanos::from_secs(1))));
        assert_eq!(most(&[0.5, 1.0]), Some((0.75, Nanos::from_secs(2))));
        assert_eq!(most(&[0.0, 1.0, 0.5]), Some((0.5, Nanos::from_secs(3))));
        assert_eq!(most(&[0.25, 0.25, 1.0, 0.25, 0.25]), Some((0.5, Nanos::from_secs(3))));
        assert_eq!(most(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), Some((1.0, Nanos::from_secs(6))));
    }
}
