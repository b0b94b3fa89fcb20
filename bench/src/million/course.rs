//! [`ConnectionTimeline`]: how the connections opened, stayed and closed, from the counts of the
//! kernel and the target alone.

use super::snapshot::{Snapshot, Used};
use crate::stats::median;

/// Width in seconds of the windows that are compared with the first one.
const WINDOW_S: usize = 5;

/// The evaluation of all samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ConnectionTimeline {
    /// Most connections in one sample.
    pub(super) most: u64,
    /// Seconds from the last sample without a connection to the first with all. `None` if not all
    /// were ever open.
    pub(super) opening_s: Option<f64>,
    /// Connections opened in each whole second of that time.
    pub(super) opened: Vec<f64>,
    /// The time while all were open.
    pub(super) kept: Option<Kept>,
    /// Seconds from the last sample with all connections to the first with none.
    pub(super) closing_s: Option<f64>,
    /// Connections left after each whole second of that time.
    pub(super) going: Vec<u64>,
    /// Seconds from the last sample without a response of the target to the first with as many
    /// responses as connections.
    pub(super) answering_s: Option<f64>,
}

/// The time from the first sample with all connections to the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Kept {
    /// Duration in seconds.
    pub(super) seconds: f64,
    /// Fewest connections by the kernel's count.
    pub(super) lowest_kernel: u64,
    /// Fewest connections by the target's count.
    pub(super) lowest_target: u64,
    /// Number of samples in this time.
    pub(super) looks: usize,
    /// Number of those samples in which the two counts differed.
    pub(super) differing: usize,
    /// Most resident user memory, of the load and of the target.
    pub(super) resident: (u64, u64),
    /// Share of one CPU, of the load and of the target.
    pub(super) cpu: (f64, f64),
    /// Share of one CPU that the whole machine used, including the kernel's work for other
    /// programs.
    pub(super) machine_cpu: f64,
}

impl ConnectionTimeline {
    /// Evaluates the samples `looks`, in order, with `planned` connections.
    pub(super) fn from_samples(looks: &[Snapshot], planned: u64) -> Self {
        let all = |look: &Snapshot| look.kernel >= planned && look.target.open >= planned;
        let full = looks.iter().position(all);
        let full_last = looks.iter().rposition(all);
        // Opening starts at the last sample before the first one with a connection. The program
        // start before it does not count.
        let begin = looks.iter().position(|look| look.kernel > 0).map_or(0, |place| place.saturating_sub(1));
        let coming = full.map(|full| &looks[begin..=full]);
        let between = |from: &Snapshot, to: &Snapshot| to.at_s - from.at_s;
        Self {
            most: looks.iter().map(|look| look.kernel).max().unwrap_or(0),
            opening_s: full.map(|full| between(&looks[begin], &looks[full])),
            opened: coming.map(opened_by_second).unwrap_or_default(),
            kept: full.zip(full_last).and_then(|(first, last)| Kept::from_samples(&looks[first..=last])),
            closing_s: full_last.and_then(|last| {
                let gone = looks[last..].iter().find(|look| look.kernel == 0)?;
                Some(between(&looks[last], gone))
            }),
            going: full_last.map(|last| left_by_second(&looks[last..])).unwrap_or_default(),
            answering_s: looks.iter().position(|look| look.answers > 0).and_then(|some| {
                let all = looks.iter().find(|look| look.answers >= planned)?;
                Some(between(&looks[some.saturating_sub(1)], all))
            }),
        }
    }

    /// Returns the median of the openings per second in the first five seconds, and the lowest such
    /// median of any five seconds. With fewer than five seconds, the window is all of them.
    pub(super) fn paces(&self) -> Option<(f64, f64)> {
        let width = WINDOW_S.min(self.opened.len()).max(1);
        let medians: Option<Vec<f64>> =
            self.opened.windows(width).map(|window| median(window.to_vec())).collect();
        let medians = medians?;
        Some((*medians.first()?, medians.iter().copied().fold(f64::INFINITY, f64::min)))
    }
}

impl Kept {
    /// Evaluates the samples of that time. Returns `None` for a single sample.
    fn from_samples(looks: &[Snapshot]) -> Option<Self> {
        let (first, last) = (looks.first()?, looks.last()?);
        let seconds = last.at_s - first.at_s;
        if seconds <= 0.0 {
            return None;
        }
        let most = |of: fn(&Snapshot) -> Used| looks.iter().map(|look| of(look).resident).max().unwrap_or(0);
        let share = |of: fn(&Snapshot) -> f64| (of(last) - of(first)) / seconds;
        Some(Self {
            seconds,
            lowest_kernel: looks.iter().map(|look| look.kernel).min()?,
            lowest_target: looks.iter().map(|look| look.target.open).min()?,
            looks: looks.len(),
            differing: looks.iter().filter(|look| differ(look)).count(),
            resident: (most(|look| look.client), most(|look| look.server)),
            cpu: (share(|look| look.client.cpu_s), share(|look| look.server.cpu_s)),
            machine_cpu: share(|look| look.machine_s),
        })
    }
}

/// Returns whether the counts of kernel and target differ. The kernel also counts the connection on
/// which the load asks the target for its count, which the target leaves out.
fn differ(look: &Snapshot) -> bool {
    look.kernel != look.target.open && look.kernel != look.target.open + 1
}

/// Returns the connections opened in each whole second since the first sample, interpolated
/// linearly between samples.
fn opened_by_second(looks: &[Snapshot]) -> Vec<f64> {
    let Some((first, last)) = looks.first().zip(looks.last()) else { return Vec::new() };
    let at = |instant: f64| {
        let after = looks.iter().position(|look| look.at_s >= instant)?;
        let (from, to) = (looks[after.saturating_sub(1)], looks[after]);
        let part = if to.at_s > from.at_s { (instant - from.at_s) / (to.at_s - from.at_s) } else { 1.0 };
        Some(from.kernel as f64 + (to.kernel as f64 - from.kernel as f64) * part)
    };
    let seconds = (last.at_s - first.at_s) as usize;
    let levels: Vec<f64> = (0..=seconds).map_while(|second| at(first.at_s + second as f64)).collect();
    levels.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Returns the connections left after each whole second since the first sample, until none is left.
fn left_by_second(looks: &[Snapshot]) -> Vec<u64> {
    let begin = looks.first().map_or(0.0, |look| look.at_s);
    let mut left: Vec<u64> = Vec::new();
    for look in looks {
        if look.at_s - begin >= (left.len() + 1) as f64 && left.last() != Some(&0) {
            left.push(look.kernel);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::million::target_poller::Standing;

    /// Samples every half second, from (kernel, target, answers).
    fn looks(counts: &[(u64, u64, u64)]) -> Vec<Snapshot> {
        let of = |(place, &(kernel, open, answers)): (usize, &(u64, u64, u64))| {
            let at_s = place as f64 / 2.0;
            let used = |resident, cpu_s| Used { resident, cpu_s };
            Snapshot {
                at_s,
                kernel,
                target: Standing { open, accepted: open, answers: 0 },
                answers,
                client: used(kernel * 10, at_s * 0.3),
                server: used(open * 5, at_s * 0.2),
                machine_s: at_s * 0.6,
            }
        };
        counts.iter().enumerate().map(of).collect()
    }

    #[test]
    fn coming_staying_and_going_are_distinguished() {
        let counts = [
            (0, 0, 0),
            (0, 0, 0),
            (20, 18, 0),
            (40, 40, 0),
            (70, 70, 0),
            (81, 80, 5),
            (79, 80, 40),
            (80, 80, 90),
            (30, 30, 90),
            (0, 0, 90),
        ];
        let course = ConnectionTimeline::from_samples(&looks(&counts), 80);
        assert_eq!(course.most, 81);
        assert_eq!(course.going, [0]);
        assert_eq!(course.opening_s, Some(2.0));
        assert_eq!(course.opened, [40.0, 41.0]);
        assert_eq!(course.closing_s, Some(1.0));
        assert_eq!(course.answering_s, Some(1.5));
        let kept = course.kept.expect("all were open");
        assert!((kept.seconds - 1.0).abs() < 1e-9 && (kept.machine_cpu - 0.6).abs() < 1e-9);
        assert!((kept.cpu.0 - 0.3).abs() < 1e-9 && (kept.cpu.1 - 0.2).abs() < 1e-9);
        assert_eq!((kept.lowest_kernel, kept.lowest_target, kept.differing, kept.looks), (79, 80, 1, 3));
        assert_eq!(kept.resident, (810, 400));
    }

    #[test]
    fn what_never_came_about_is_nothing() {
        let course = ConnectionTimeline::from_samples(&looks(&[(0, 0, 0), (40, 40, 1), (0, 0, 1)]), 80);
        assert_eq!((course.most, course.opening_s, course.closing_s), (40, None, None));
        assert!(course.kept.is_none() && course.answering_s.is_none() && course.paces().is_none());
        assert_eq!(ConnectionTimeline::from_samples(&[], 80), ConnectionTimeline::default());
    }

    #[test]
    fn the_slowest_five_seconds_are_found() {
        let paces = |opened: &[f64]| {
            ConnectionTimeline { opened: opened.to_vec(), ..ConnectionTimeline::default() }.paces()
        };
        assert_eq!(paces(&[25.0, 25.0, 26.0, 25.0, 25.0, 3.0, 4.0, 5.0, 30.0]), Some((25.0, 5.0)));
        assert_eq!(paces(&[10.0, 20.0]), Some((15.0, 15.0)));
        assert_eq!(paces(&[]), None);
    }
}
