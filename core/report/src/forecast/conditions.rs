//! Thresholds, and what is already known against them.

use wavetank_capacity::forecast::{ConditionForecast, Forecast};
use wavetank_plan::{Plan, implicit_thresholds};
use wavetank_record::OutlookDoc;

/// Returns thresholds, stop conditions, and implicit thresholds.
pub(super) fn conditions(plan: &Plan, forecast: &Forecast) -> Vec<OutlookDoc> {
    let thresholds = plan
        .thresholds
        .iter()
        .map(|one| ("threshold", one, ConditionForecast::for_threshold(one, plan, forecast)));
    let stop =
        plan.stop.iter().map(|one| ("stop", one, ConditionForecast::for_stop_condition(one, plan, forecast)));
    let mut all: Vec<OutlookDoc> =
        thresholds.chain(stop).map(|(kind, one, outlook)| doc(kind, &one.text, outlook)).collect();
    all.extend(
        implicit_thresholds(plan).into_iter().map(|one| doc("implicit", &one.text, ConditionForecast::Open)),
    );
    all
}

fn doc(kind: &str, expr: &str, outlook: ConditionForecast) -> OutlookDoc {
    let (word, why, hint) = match outlook {
        ConditionForecast::Open => ("open", String::new(), String::new()),
        ConditionForecast::Unreachable(why, hint) => ("unreachable", why, hint),
        ConditionForecast::Undecided(why, hint) => ("undecided", why, hint),
        ConditionForecast::Doubtful(why, hint) => ("doubtful", why, hint),
    };
    OutlookDoc { expr: expr.to_owned(), kind: kind.to_owned(), outlook: word.to_owned(), why, hint }
}
