//! [`ConditionScope`]: what a condition names in its parentheses, looked up in the plan.

use wavetank_plan::{Key, LatencyPart, Plan, Subject};
use wavetank_units::{Sentence, phrase};

use crate::{CheckSeries, GroupSeries};

/// The part of the plan that a condition applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConditionScope {
    /// Everything.
    All,
    /// These steps, each as (scenario, step).
    Steps(Vec<(u16, u16)>),
    /// These groups, each as (scenario, group), and the steps inside them.
    Groups(Vec<(u16, u16)>, Vec<(u16, u16)>),
    /// The checks of one name, each as (scenario, step, place among the step's).
    Checks(Vec<(u16, u16, u16)>),
    /// The count with this index, in these steps.
    Count(u16, Vec<(u16, u16)>),
    /// A rendezvous, by its index.
    Place(u16),
    /// Hosts, which the plan knows nothing of.
    Hosts,
    /// The plan does not contain the thing that the condition names. The text says which thing.
    Nothing(Sentence),
}

impl ConditionScope {
    /// Resolves the names in `subject` in `plan`.
    pub(crate) fn resolve(subject: &Subject, plan: &Plan) -> Self {
        let index = |names: &[String], name: &String| {
            names.iter().position(|known| known == name).map(|index| index as u16)
        };
        match subject {
            Subject::Check(name) => {
                let checks = all_steps(plan).flat_map(|(scenario, step, it)| {
                    let named = (0_u16..).zip(&it.checks).filter(|(_, check)| check.text == *name);
                    named.map(move |(place, _)| (scenario, step, place))
                });
                let checks: Vec<_> = checks.collect();
                if checks.is_empty() {
                    Self::Nothing(phrase!("no check of that name"))
                } else {
                    Self::Checks(checks)
                }
            }
            Subject::Count(name) => match index(&plan.shared.counts, name) {
                Some(count) => {
                    let counting = all_steps(plan)
                        .filter(|(_, _, it)| it.counts.iter().any(|(counted, _)| *counted == count));
                    Self::Count(count, counting.map(|(scenario, step, _)| (scenario, step)).collect())
                }
                None => Self::Nothing(phrase!("nothing is counted under that name")),
            },
            Subject::Skew(name) => index(&plan.shared.rendezvous, name)
                .map_or_else(|| Self::Nothing(phrase!("no rendezvous of that name")), Self::Place),
            Subject::Host(..) => Self::Hosts,
            _ => subject.step().map_or(Self::All, |name| Self::steps_or_groups(subject, plan, name)),
        }
    }

    /// A step of that name, or else a group.
    fn steps_or_groups(subject: &Subject, plan: &Plan, name: &str) -> Self {
        let steps = all_steps(plan).filter(|(_, _, it)| it.name == *name);
        let steps: Vec<_> = steps.map(|(scenario, step, _)| (scenario, step)).collect();
        if !steps.is_empty() {
            return Self::Steps(steps);
        }
        let (mut groups, mut inside) = (Vec::new(), Vec::new());
        for (scenario, it) in (0_u16..).zip(&plan.scenarios) {
            for (group, _) in (0_u16..).zip(&it.groups).filter(|(_, known)| *known == name) {
                groups.push((scenario, group));
                inside.extend(it.steps_of_group(group).into_iter().map(|step| (scenario, step)));
            }
        }
        let of_service = matches!(
            subject,
            Subject::Percentile(_, LatencyPart::Service, _)
                | Subject::Mean(LatencyPart::Service, _)
                | Subject::Min(LatencyPart::Service, _)
                | Subject::Max(LatencyPart::Service, _)
        );
        match groups.is_empty() {
            true => Self::Nothing(phrase!("no step of that name")),
            false if of_service => {
                Self::Nothing(phrase!("a group is timed as a whole: it has no service time"))
            }
            false => Self::Groups(groups, inside),
        }
    }

    /// Whether requests of `key` are meant.
    pub(crate) fn includes(&self, key: Key) -> bool {
        let (scenario, step) = (key.scenario, key.step);
        match self {
            Self::All => true,
            Self::Steps(steps) | Self::Groups(_, steps) | Self::Count(_, steps) => {
                steps.contains(&(scenario, step))
            }
            Self::Checks(checks) => checks.iter().any(|&(own, its, _)| (own, its) == (scenario, step)),
            Self::Place(_) | Self::Hosts | Self::Nothing(_) => false,
        }
    }

    /// Whether the times of this group are meant.
    pub(crate) fn matches_group(&self, series: &GroupSeries) -> bool {
        matches!(self, Self::Groups(groups, _) if groups.contains(&(series.scenario, series.group)))
    }

    /// Returns the failed checks, or the counted responses, in `series`.
    pub(crate) fn counted(&self, series: &CheckSeries) -> u64 {
        let Key { scenario, step, .. } = series.key;
        match self {
            Self::Checks(checks) => {
                let own = checks.iter().filter(|&&(own, its, _)| (own, its) == (scenario, step));
                let failed =
                    |place: u16| series.checks.get(usize::from(place)).map_or(0, |check| check.failed);
                own.map(|&(_, _, place)| failed(place)).sum()
            }
            Self::Count(count, _) => series.counted(*count),
            _ => 0,
        }
    }
}

fn all_steps(plan: &Plan) -> impl Iterator<Item = (u16, u16, &wavetank_plan::Step)> {
    (0_u16..)
        .zip(&plan.scenarios)
        .flat_map(|(scenario, it)| (0_u16..).zip(&it.steps).map(move |(step, it)| (scenario, step, it)))
}
