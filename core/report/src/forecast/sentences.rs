//! The answer of `wavetank plan` in sentences.

use wavetank_capacity::forecast::{Forecast, SessionForecast};
use wavetank_plan::Plan;
use wavetank_record::{AmountDoc, ForecastDoc, PhaseForecastDoc};
use wavetank_units::quantity::{format_grouped, show_request_rate};

use super::format::{amount, clock, counted, list};

/// Most phases listed in a sum.
const SUMMANDS_MAX: usize = 8;

/// Returns all sentences.
pub(super) fn summary(doc: &ForecastDoc, forecast: &Forecast, plan: &Plan) -> Vec<String> {
    let mut all = Vec::new();
    all.extend(arrivals(doc));
    all.extend(levels(doc, "users", "users"));
    all.extend(levels(doc, "hold", "held connections"));
    let scenarios = (0_u16..).zip(plan.scenarios.iter().zip(&forecast.scenarios));
    for (at, (scenario, own)) in scenarios {
        let which = if plan.scenarios.len() == 1 { String::new() } else { format!(" of {}", scenario.name) };
        all.extend(session(&which, at, own, plan, forecast));
    }
    all.push(end(doc, forecast, plan));
    all
}

fn judged<'d>(doc: &'d ForecastDoc, kinds: &'static [&'static str]) -> Vec<&'d PhaseForecastDoc> {
    let of_kind = |phase: &&PhaseForecastDoc| !phase.warmup && kinds.contains(&phase.kind.as_str());
    doc.phases.iter().filter(of_kind).collect()
}

/// `15,000 sessions expected (4,800 + 4,800 + 5,400; Poisson): the limits 15k, 15k, 20k are not
/// reached.`
fn arrivals(doc: &ForecastDoc) -> Option<String> {
    let open = judged(doc, &["rate", "trace"]);
    if open.is_empty() {
        return None;
    }
    let total =
        open.iter().fold(AmountDoc { least: 0, expected: Some(0), most: Some(0) }, |sum, phase| AmountDoc {
            least: sum.least + phase.sessions.least,
            expected: sum.expected.zip(phase.sessions.expected).map(|(one, other)| one + other),
            most: sum.most.zip(phase.sessions.most).map(|(one, other)| one + other),
        });
    let poisson = open.iter().any(|phase| phase.arrivals == "poisson" && !phase.sessions.is_exact());
    let single = total.is_exact() && total.least == 1;
    let noun = if single { "session" } else { "sessions" };
    let head = match total.expected {
        Some(expected) if poisson => format!("{} {noun} expected", format_grouped(expected)),
        _ => format!("{} {noun}", amount(&total)),
    };
    let summands: Vec<String> =
        open.iter().map(|phase| format_grouped(phase.sessions.expected.unwrap_or(0))).collect();
    let sum = (2..=SUMMANDS_MAX).contains(&summands.len()).then(|| summands.join(" + "));
    let aside: Vec<String> = sum.into_iter().chain(poisson.then(|| "Poisson".to_owned())).collect();
    let aside = if aside.is_empty() { String::new() } else { format!(" ({})", aside.join("; ")) };
    let caps = caps(&open);
    Some(format!("{head}{aside}{}", if caps.is_empty() { ".".to_owned() } else { format!(": {caps}.") }))
}

/// The effect of limits on numbers of sessions.
fn caps(phases: &[&PhaseForecastDoc]) -> String {
    let reached = |word: &str| -> Vec<String> {
        let own = phases.iter().filter_map(|phase| phase.cap.as_ref()).filter(|cap| cap.reached == word);
        own.map(|cap| format_grouped(cap.sessions)).collect()
    };
    let said =
        [("no", "not reached"), ("perhaps", "perhaps reached"), ("yes", "reached")].map(|(word, said)| {
            let caps = reached(word);
            match caps.len() {
                0 => String::new(),
                1 => format!("the limit {} is {said}", caps[0]),
                _ => format!("the limits {} are {said}", caps.join(", ")),
            }
        });
    said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

/// `Up to 1,000 users, as fast as answers arrive.`
fn levels(doc: &ForecastDoc, kind: &'static str, noun: &str) -> Option<String> {
    let phases: Vec<&PhaseForecastDoc> =
        doc.phases.iter().filter(|phase| !phase.warmup && phase.kind == kind).collect();
    if phases.is_empty() {
        return None;
    }
    let series = if kind == "users" { &doc.timeline.users } else { &doc.timeline.held };
    let seen = series.iter().copied().max().unwrap_or(0);
    let most = phases.iter().map(|phase| phase.level_max).fold(seen, u64::max);
    let rate = phases
        .iter()
        .map(|phase| phase.requests_per_s_max.map(|rate| rate.0))
        .reduce(|one, other| Some(one?.max(other?)));
    let sum =
        phases.iter().try_fold(0, |sum, phase| phase.requests.is_exact().then(|| sum + phase.requests.least));
    let pace = match (rate.flatten(), sum) {
        (_, Some(0)) => ", without requests".to_owned(),
        (_, Some(sum)) => format!(": {} requests in total", format_grouped(sum)),
        (Some(rate), None) => {
            format!(": at most {} if answers took no time", show_request_rate(rate))
        }
        (None, None) => ", as fast as answers arrive: only a run shows the number of requests".to_owned(),
    };
    Some(format!("Up to {} {noun}{pace}.", format_grouped(most)))
}

/// Describes a session, if it is more than one request.
fn session(which: &str, at: u16, own: &SessionForecast, plan: &Plan, forecast: &Forecast) -> Option<String> {
    let requests = AmountDoc::from(own.whole().requests);
    let open = || {
        forecast
            .judged(plan)
            .filter(|(phase, _)| phase.mix.contains(at) && phase.load.is_open())
            .collect::<Vec<_>>()
    };
    if own.is_loop() && !open().is_empty() {
        let users: u64 = open()
            .iter()
            .flat_map(|(_, phase)| phase.shares.iter().filter(|share| share.0 == at))
            .map(|share| share.1.mean.unwrap_or(share.1.least).round() as u64)
            .sum();
        let each = format_grouped(own.session.requests.least as u64);
        return Some(format!(
            "A session{which} is {each} requests without think time: this is a closed loop of up to {} users.",
            format_grouped(users)
        ));
    }
    if requests.is_exact() && requests.least <= 1 {
        return None;
    }
    let sends = counted(&requests, "request", "requests");
    let share = |phase: &wavetank_plan::Phase| {
        let own = phase.mix.parts().iter().find(|part| part.0 == at).map_or(0, |part| part.1);
        own as f64 / phase.mix.total() as f64
    };
    let rates = open().into_iter().filter_map(|(phase, own)| Some(own.sessions_per_s_max? * share(phase)));
    let peak = rates.fold(0.0, f64::max);
    let rate = match own.whole().requests.mean_or_upper() {
        Some(each) if peak > 0.0 => format!(": {}", show_request_rate(peak * each)),
        _ => String::new(),
    };
    Some(format!("A session{which} sends {sends}{rate}."))
}

/// `Ends at 50m00s; open sessions are cut off.`
fn end(doc: &ForecastDoc, forecast: &Forecast, plan: &Plan) -> String {
    let Some(end) = doc.span.load_end_s else {
        let open = plan.phases.iter().zip(&forecast.phases).filter(|(_, own)| own.ends.is_none());
        let names: Vec<String> = open.map(|(phase, _)| phase.name.clone()).collect();
        return format!("When it ends depends on the answers: {} ends with its last session.", list(&names));
    };
    let drain = doc.span.drain_s;
    if drain.0 <= 0.0 {
        return format!("Ends at {}; open sessions are cut off.", clock(end));
    }
    let latest = doc.span.end_s.unwrap_or(end);
    format!(
        "The load ends at {}; open sessions may finish until {} (drain {}), then they are cut off.",
        clock(end),
        clock(latest),
        clock(drain)
    )
}
