//! [`ImpactTracker`]: measures the effect of the plan's events on clients, second by second.
//!
//! An interval is judged when it arrives, with what is known at that time: when an event was
//! carried out and when it was reverted. Both are reported before any interval that ends later,
//! live as well as from an archive, so both give the same result.

use std::collections::VecDeque;

use wavetank_plan::{Phase, Plan};
use wavetank_units::Nanos;

use crate::{ClientWindow, Impact, Interval, PhaseWindows, Recovery};

/// A shorter interval, for example one at the end of a phase, has too few requests to be judged
/// alone.
const SECOND_MIN: Nanos = Nanos::from_millis(500);

/// Tracks client-side results around events. Costs nothing if the plan has no events.
#[derive(Clone, Debug)]
pub(crate) struct ImpactTracker {
    /// The phases of the open loop, by number.
    open: Vec<u16>,
    /// The other phases that send requests.
    closed: Vec<Phase>,
    /// Whether the plan has events.
    wanted: bool,
    /// The latest intervals, enough for the baseline of the next event.
    recent: VecDeque<Second>,
    watches: Vec<Watch>,
}

/// One sealed interval, in short.
#[derive(Clone, Debug)]
struct Second {
    from: Nanos,
    end: Nanos,
    seen: ClientWindow,
    demand: Demand,
    /// It was worse than usual because of an event.
    hurt: bool,
}

/// The demand in a second, to which the done requests are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Demand {
    /// Requests on a schedule.
    Requests(f64),
    /// Users or connections that send again after a response.
    Users(f64),
}

/// The baseline: the worst results of the seconds before an event.
#[derive(Clone, Debug, Default)]
struct Usual {
    share: f64,
    p99: Option<u64>,
    lost: u64,
    /// Done per demand: of requests, and of users.
    done: [Option<f64>; 2],
}

#[derive(Clone, Debug)]
struct Watch {
    impact: Impact,
    usual: Option<Usual>,
    /// End of the last second that was worse.
    last_bad: Option<Nanos>,
    /// How long results have been at the baseline, without a break.
    well: Nanos,
    /// Later intervals no longer count for this event.
    closed: bool,
}

impl ImpactTracker {
    /// Most events that are watched, the first ones.
    pub(crate) const WATCHES_MAX: usize = 64;
    /// Intervals kept: those of 10 s, and as many short ones as phases may end in them.
    const RECENT_MAX: usize = 32;

    pub(crate) fn new(plan: &Plan) -> Self {
        let wanted = !plan.events.is_empty();
        let numbered = (0_u16..).zip(&plan.phases).filter(|(_, phase)| wanted && !phase.warmup);
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        for (number, phase) in numbered {
            if phase.load.is_open() {
                open.push(number);
            } else if phase.load.levels().is_some() {
                closed.push(phase.clone());
            }
        }
        Self { open, closed, wanted, recent: VecDeque::new(), watches: Vec::new() }
    }

    /// Whether the plan has events, so that every second must be tracked.
    pub(crate) const fn is_enabled(&self) -> bool {
        self.wanted
    }

    /// Event number `event` of the plan was done at `at`.
    pub(crate) fn began(&mut self, event: u16, at: Nanos) {
        if self.wanted && self.watches.len() < Self::WATCHES_MAX {
            let impact = Impact { event, from: at, ..Impact::default() };
            let watch = Watch { impact, usual: None, last_bad: None, well: Nanos::ZERO, closed: false };
            self.watches.push(watch);
        }
    }

    /// Event number `event` of the plan failed.
    pub(crate) fn failed(&mut self, event: u16) {
        self.watches.retain(|watch| watch.impact.event != event);
    }

    /// Event number `event` of the plan was reverted at `at`.
    pub(crate) fn ended(&mut self, event: u16, at: Nanos) {
        let own = self.watches.iter_mut().rev().find(|watch| watch.impact.event == event);
        if let Some(watch) = own {
            watch.impact.until = Some(at);
        }
    }

    pub(crate) fn add(&mut self, interval: &Interval, spans: &PhaseWindows) {
        if !self.wanted || !spans.in_window(interval) {
            return;
        }
        let seen = ClientWindow::from_interval(interval, spans);
        let demand = self.demand(interval, &seen, spans);
        let mut second = Second { from: interval.from, end: interval.end(), seen, demand, hurt: false };
        for watch in &mut self.watches {
            second.hurt |= watch.add(&second, &self.recent);
        }
        if self.recent.len() >= Self::RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(second);
    }

    /// The impact of each event, in the order in which they were carried out.
    pub(crate) fn all(&self) -> Vec<Impact> {
        self.watches.iter().map(Watch::impact).collect()
    }

    fn demand(&self, interval: &Interval, seen: &ClientWindow, spans: &PhaseWindows) -> Demand {
        if self.open.iter().any(|&phase| spans.in_phase(phase, interval)) {
            return Demand::Requests(seen.counters.offered as f64);
        }
        let users: u64 = self.closed.iter().filter_map(|phase| phase.users_at(interval.from)).sum();
        Demand::Users(users as f64 * interval.len.as_secs_f64())
    }
}

impl Demand {
    const fn kind(self) -> usize {
        match self {
            Self::Requests(_) => 0,
            Self::Users(_) => 1,
        }
    }

    const fn amount(self) -> f64 {
        match self {
            Self::Requests(amount) | Self::Users(amount) => amount,
        }
    }
}

impl Usual {
    fn of<'a>(seconds: impl Iterator<Item = &'a Second>) -> Self {
        let mut usual = Self::default();
        for second in seconds.filter(|second| second.is_whole()) {
            usual.share = usual.share.max(second.seen.failed_share());
            usual.p99 = usual.p99.max(second.seen.response.percentile(99.0));
            usual.lost = usual.lost.max(second.seen.lost);
            let demand = second.demand.amount();
            if demand > 0.0 {
                let ratio = second.seen.counters.done as f64 / demand;
                let least = &mut usual.done[second.demand.kind()];
                *least = Some(least.map_or(ratio, |least| least.min(ratio)));
            }
        }
        usual
    }

    /// Whether the results of `second` are worse than the baseline.
    fn is_worse(&self, second: &Second) -> bool {
        let seen = &second.seen;
        let failing = seen.failed_share() > self.share + Impact::SHARE_SLACK;
        let slow = match (self.p99, seen.response.percentile(99.0)) {
            (Some(usual), Some(now)) => {
                let slack = Impact::SLOWER_MIN.0.unsigned_abs();
                now > usual.saturating_mul(Impact::SLOWER).max(usual.saturating_add(slack))
            }
            _ => false,
        };
        let least = self.done[second.demand.kind()].map(|ratio| ratio * second.demand.amount());
        let starving = least.is_some_and(|least| (seen.counters.done as f64) < Impact::DONE_SHARE * least);
        failing || slow || starving || seen.lost > self.lost
    }
}

impl Second {
    fn is_whole(&self) -> bool {
        self.seen.time >= SECOND_MIN
    }
}

impl Watch {
    /// Whether the second was worse than usual.
    fn add(&mut self, second: &Second, recent: &VecDeque<Second>) -> bool {
        let impact = &mut self.impact;
        if self.closed || second.end <= impact.from {
            return false;
        }
        let usual = self.usual.get_or_insert_with(|| {
            let from = impact.from;
            let begin = from.after(Nanos(-Impact::BEFORE.0));
            let near = || recent.iter().filter(move |one| one.from >= begin && one.end <= from);
            // Seconds affected by an earlier event are not part of the baseline.
            let usually = near().any(|one| !one.hurt);
            let ahead = || near().filter(move |one| !(usually && one.hurt));
            ahead().for_each(|one| impact.before.merge(&one.seen));
            Usual::of(ahead())
        });
        let over = impact.until.is_some_and(|until| until <= second.from);
        if over {
            impact.after.merge(&second.seen);
        } else {
            impact.during.merge(&second.seen);
        }
        if !second.is_whole() {
            return false;
        }
        let worse = usual.is_worse(second);
        if worse {
            impact.hurt = impact.hurt.after(second.seen.time);
            self.last_bad = Some(second.end);
            self.well = Nanos::ZERO;
        } else {
            self.well = self.well.after(second.seen.time);
        }
        self.closed = over && self.well >= Impact::WELL && impact.after.time >= Impact::WELL;
        worse
    }

    fn impact(&self) -> Impact {
        let mut impact = self.impact.clone();
        let seen = impact.during.time.after(impact.after.time) > Nanos::ZERO;
        impact.recovery = match (self.last_bad, impact.until) {
            (None, _) if seen => Recovery::Unhurt,
            (None, _) => Recovery::Unknown,
            (Some(_), _) if self.well < Impact::WELL => Recovery::Never,
            (Some(bad), Some(until)) if bad > until => Recovery::After(length(until, bad)),
            (Some(bad), _) => Recovery::During(length(impact.from, bad)),
        };
        impact
    }
}

/// The time between two instants, which may come from a damaged file.
fn length(from: Nanos, until: Nanos) -> Nanos {
    Nanos(i64::try_from(until.since(from)).unwrap_or(i64::MAX))
}
