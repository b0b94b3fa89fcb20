//! The load as text: `50 connections, 10 s, closed loop`.

use wavetank_plan::shape::Segment;
use wavetank_plan::{Action, Arrivals, Load, Phase, Plan, PopulationCurve, RateCurve, Think};
use wavetank_record::{LoadDoc, Number};
use wavetank_units::quantity::{format_grouped, show_rate, show_request_rate};
use wavetank_units::{Nanos, Sentence, phrase, sentence};

use crate::format;

/// Most phases in a line. The line counts the others, and the table of phases has all.
const PHASES_SHOWN_MAX: usize = 12;

/// Describes the load of `plan` as text and as a model. `defaults` is true if the user left
/// everything to wavetank.
pub fn load_doc(plan: &Plan, defaults: bool) -> LoadDoc {
    let judged: Vec<_> = plan.phases.iter().filter(|phase| !phase.warmup).collect();
    let model = match judged.first().map(|phase| &phase.load) {
        Some(Load::Open { .. } | Load::Trace { .. }) => "open",
        Some(Load::Closed { .. }) => "closed",
        Some(Load::Hold { .. }) => "hold",
        Some(Load::Pause) | None => "",
    };
    // Several phases are listed by name; the phase of a plain run has no useful name. Parallel
    // phases do not add up to the run's length, so they have a start.
    let alongside =
        |phase: &Phase| judged.iter().any(|other| other.start < phase.start && runs_into(other, phase.start));
    let named = |phase: &&Phase| match judged.len() {
        1 => phase_text(plan, phase),
        _ if alongside(phase) => {
            let start = format::seconds(Number(phase.start.as_secs_f64()));
            sentence!("{}: from {start} on, {}", format::cut(&phase.name), phase_text(plan, phase))
        }
        _ => sentence!("{}: {}", format::cut(&phase.name), phase_text(plan, phase)),
    };
    let several = judged.len() > 1;
    // A single further phase takes no more room than the remark that there is one more.
    let reported = if judged.len() > PHASES_SHOWN_MAX + 1 { PHASES_SHOWN_MAX } else { judged.len() };
    let mut texts: Vec<_> = judged.iter().take(reported).map(named).collect();
    if reported < judged.len() {
        texts.push(sentence!("and {} more phases", judged.len() - reported));
    }
    let warmup = plan.phases.iter().filter(|phase| phase.warmup).filter_map(|phase| phase.length);
    let joint = if several { "; " } else { ", " };
    let thought = thinking(plan, &judged).map(|time| match time {
        long if long >= Nanos::SECOND => format::seconds(Number(long.as_secs_f64())),
        short => short.to_string(),
    });
    texts.extend(thought.map(|time| sentence!("each session thinks {time}")));
    let overlaps = warmup_overlaps(plan);
    texts.extend(warmup.map(|length| {
        let length = format::seconds(Number(length.as_secs_f64()));
        if overlaps {
            sentence!("in parallel to {length} of warm-up")
        } else {
            sentence!("after {length} of warm-up")
        }
    }));
    LoadDoc { model: model.to_owned(), text: Sentence::join(texts, joint), defaults }
}

/// Whether a warm-up runs in parallel to judged load, and not before all of it.
pub(crate) fn warmup_overlaps(plan: &Plan) -> bool {
    let judged = || plan.phases.iter().filter(|phase| !phase.warmup);
    let warmups = plan.phases.iter().filter(|phase| phase.warmup);
    warmups
        .into_iter()
        .any(|warmup| judged().any(|phase| runs_into(warmup, phase.start) || runs_into(phase, warmup.start)))
}

/// Whether `phase` runs at `at` and started before.
fn runs_into(phase: &Phase, at: Nanos) -> bool {
    phase.start <= at && phase.end().is_none_or(|end| at < end)
}

fn phase_text(plan: &Plan, phase: &Phase) -> Sentence {
    let pool = phase.connections;
    let mut parts = match &phase.load {
        Load::Open { rate, arrivals, .. } => arriving(plan, phase, rate, *arrivals),
        Load::Trace { times } => {
            vec![sentence!("{} sessions at given times", format_grouped(times.len() as u64))]
        }
        Load::Closed { users, .. } if users.as_constant().is_some() && phase.open_before => {
            vec![connections(pool)]
        }
        Load::Closed { users, .. } => vec![sentence!("{} users", levels_text(users))],
        Load::Hold { connections, .. } => vec![sentence!("{} connections held", levels_text(connections))],
        Load::Pause => vec![phrase!("pause")],
    };
    let has_users = matches!(phase.load, Load::Closed { .. });
    let number = if has_users { plan.users_per_connection() } else { plan.http.pipeline };
    if number > 1 && phase.load != Load::Pause {
        parts.push(if plan.http.version.has_streams() {
            sentence!("{number} streams on each")
        } else {
            sentence!("{number} pipelined requests on each")
        });
    }
    parts.extend(phase.length.map(|length| sentence!("{}", format::seconds(Number(length.as_secs_f64())))));
    parts.extend(phase.requests_max.map(requests_at_most));
    parts.extend(phase.sessions_max.map(sessions_at_most));
    parts.extend(match &phase.load {
        Load::Open { .. } | Load::Trace { .. } if pool < phase.max_open => {
            Some(sentence!("open loop over at most {}", connections(pool)))
        }
        Load::Open { .. } | Load::Trace { .. } => Some(phrase!("open loop")),
        Load::Closed { .. } => Some(phrase!("closed loop")),
        Load::Hold { .. } | Load::Pause => None,
    });
    // Every time then includes connecting, and TLS too.
    let is_asked = !matches!(phase.load, Load::Hold { .. } | Load::Pause);
    parts.extend((!plan.http.keepalive && is_asked).then(|| phrase!("a new connection for each request")));
    Sentence::join(parts, ", ")
}

/// Describes the load of one phase without its length: `8/s at random (poisson)`, `0 to 1,000,000
/// connections held`.
pub(crate) fn load_of_phase(plan: &Plan, phase: &Phase) -> Sentence {
    match &phase.load {
        Load::Open { rate, arrivals, .. } => Sentence::join(arriving(plan, phase, rate, *arrivals), ", "),
        Load::Trace { times } => sentence!("{} sessions at given times", format_grouped(times.len() as u64)),
        Load::Closed { users, sessions_each } => {
            with_each(sentence!("{} users", levels_text(users)), *sessions_each)
        }
        Load::Hold { connections, sessions_each } => {
            with_each(sentence!("{} connections held", levels_text(connections)), *sessions_each)
        }
        Load::Pause => phrase!("pause: no new sessions"),
    }
}

/// `load` with the sessions of each user or connection.
fn with_each(load: Sentence, sessions_each: Option<u64>) -> Sentence {
    let each = sessions_each.map(|each| match each {
        1 => phrase!("1 session each"),
        each => sentence!("{each} sessions each"),
    });
    Sentence::join(std::iter::once(load).chain(each), ", ")
}

/// Returns the think time of each session of `phases`, if their loads wait for sessions. It
/// determines how often each user or connection sends. `None` if it is zero, varies, or is known
/// only at run time.
fn thinking(plan: &Plan, phases: &[&Phase]) -> Option<Nanos> {
    let waits = |phase: &&&Phase| matches!(phase.load, Load::Closed { .. } | Load::Hold { .. });
    let of = |number: u16| phases.iter().filter(waits).any(|phase| phase.mix.contains(number));
    let own = (0..).zip(&plan.scenarios).filter(|(number, _)| of(*number));
    let mut each = own.map(|(_, scenario)| {
        scenario.journey.iter().try_fold(Nanos::ZERO, |sum, action| match action {
            Action::Request(_) => Some(sum),
            Action::Think(Think::Fixed(time)) => Some(sum.after(*time)),
            _ => None,
        })
    });
    let first = each.next()??;
    (first > Nanos::ZERO && each.all(|each| each == Some(first))).then_some(first)
}

/// Returns the number of requests of a session of `phase`, which must be open. `None` if it is
/// known only at run time.
pub(crate) fn requests_each(plan: &Plan, phase: &Phase) -> Option<u64> {
    if let Load::Open { requests_each: Some(each), .. } = phase.load {
        return Some(each);
    }
    let own = (0..).zip(&plan.scenarios).filter(|(number, _)| phase.mix.contains(*number));
    let mut requests = own.map(|(_, scenario)| scenario.requests());
    let first = requests.next()??;
    requests.all(|each| each == Some(first)).then_some(first)
}

/// Describes arrivals: `5,000 req/s evenly`, or `sessions at 1,000/s evenly`, `each of 5 requests`
/// if a session has several requests. Without "sessions", a rate next to numbers of requests is
/// read as a rate of requests.
fn arriving(plan: &Plan, phase: &Phase, rate: &RateCurve, arrivals: Arrivals) -> Vec<Sentence> {
    let each = requests_each(plan, phase);
    let is_request = each == Some(1);
    let show: &dyn Fn(f64) -> String = if is_request { &show_request_rate } else { &show_rate };
    let rate = rate_in(rate, show);
    let mut parts = vec![match (is_request, arrivals) {
        (true, Arrivals::Even) => sentence!("{rate} evenly"),
        (true, Arrivals::Poisson) => sentence!("{rate} at random (poisson)"),
        (false, Arrivals::Even) => sentence!("sessions at {rate} evenly"),
        (false, Arrivals::Poisson) => sentence!("sessions at {rate} at random (poisson)"),
    }];
    parts.extend(each.filter(|each| *each > 1).map(|each| sentence!("each of {each} requests")));
    parts
}

/// Formats a rate: `5,000/s`, or both ends and the maximum of a rate that moves: `0/s to 5,000/s`,
/// `100/s to 100/s, at most 5,000/s`.
fn rate_in(rate: &RateCurve, show: &dyn Fn(f64) -> String) -> Sentence {
    let per_second = |count: u64| count as f64 / rate.per().as_secs_f64();
    let show = |count: u64| show(per_second(count));
    if let Some(constant) = rate.as_constant() {
        return sentence!("{}", show(constant.count));
    }
    moving(rate.pieces(), rate.max().count, show)
}

fn levels_text(levels: &PopulationCurve) -> Sentence {
    match levels.as_constant() {
        Some(count) => sentence!("{}", format_grouped(count)),
        None => moving(levels.pieces(), levels.max(), format_grouped),
    }
}

fn moving(pieces: &[Segment], max: u64, show: impl Fn(u64) -> String) -> Sentence {
    let (first, last) = (pieces[0].begin, pieces[pieces.len() - 1].end);
    let ends = sentence!("{} to {}", show(first), show(last));
    if max > first.max(last) { sentence!("{ends} (at most {})", show(max)) } else { ends }
}

fn sessions_at_most(n: u64) -> Sentence {
    if n == 1 { phrase!("at most 1 session") } else { sentence!("at most {} sessions", format_grouped(n)) }
}

fn requests_at_most(n: u64) -> Sentence {
    if n == 1 { phrase!("at most 1 request") } else { sentence!("at most {} requests", format_grouped(n)) }
}

fn connections(n: u64) -> Sentence {
    if n == 1 { phrase!("1 connection") } else { sentence!("{} connections", format_grouped(n)) }
}
