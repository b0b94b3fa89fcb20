//! [`calibration_margin`]: compares the load that a plan asks for with the calibrated limits of the
//! host.

use wavetank_capacity::calibration::{HostRates, RateDemand};
use wavetank_capacity::forecast::Forecast;
use wavetank_plan::{HostFacts, Plan};
use wavetank_record::{
    CalibrationDoc, CalibrationMarginDoc, CalibrationsDoc, Number, PerSecondDoc, engine_name,
};
use wavetank_units::quantity::show_share;
use wavetank_units::quantity::{show_rate, show_request_rate};

use crate::forecast::format::list;
use crate::format::time;

/// A calibration older than this is stale. Kernels, settings and neighbours change without any name
/// for the change.
const DAYS_MAX: u64 = 30;
const DAY_S: u64 = 86_400;
/// Share of a host's capacity that is safe to plan with. Above it lag grows, and a small
/// disturbance is already too much.
const SAFE: f64 = 0.8;

/// The stored calibrations, as far as they can be read.
#[derive(Clone, Copy, Debug)]
pub enum CalibrationLookup<'a> {
    /// There is no calibration file.
    Nothing,
    /// The file is damaged; the text is the reason, in one line.
    Damaged(&'a str),
    /// The file with these calibrations.
    Of(&'a CalibrationsDoc),
}

/// Compares `plan` with what is known of `host`. `now_s` is in seconds since 1970, `version` is the
/// version of this program.
pub fn calibration_margin(
    (plan, host): (&Plan, &HostFacts),
    known: CalibrationLookup<'_>,
    version: &str,
    now_s: u64,
) -> CalibrationMarginDoc {
    let asked = RateDemand::from_plan(plan, &Forecast::for_plan(plan));
    let number = |value: f64| Number((value * 1e3).round() / 1e3);
    let per_second = |asked: RateDemand| PerSecondDoc {
        requests: asked.requests.map(number),
        connections: asked.connections.map(number),
        handshakes: asked.handshakes.map(number),
    };
    let mut doc = CalibrationMarginDoc { asked: per_second(asked), ..CalibrationMarginDoc::default() };
    let all = match known {
        CalibrationLookup::Nothing => return none(doc, "this host is not calibrated".to_owned()),
        CalibrationLookup::Damaged(why) => {
            return CalibrationMarginDoc {
                state: "damaged".to_owned(),
                why: why.to_owned(),
                hint: CURE.to_owned(),
                ..doc
            };
        }
        CalibrationLookup::Of(all) => &all.calibrations,
    };
    let engine = engine_name(plan.engine);
    let own = |one: &&CalibrationDoc| one.host.hostname == host.hostname;
    let Some(one) = all.iter().rev().filter(own).find(|one| one.engine == engine) else {
        let others: Vec<String> = all.iter().map(|one| one.host.hostname.clone()).collect();
        let why = match all.iter().find(own) {
            Some(one) => {
                format!("this host is calibrated with {} only, but the plan uses {engine}", one.engine)
            }
            None if others.is_empty() => "this host is not calibrated".to_owned(),
            None => format!("this host, {}, is not calibrated; others are: {}", host.hostname, some(&others)),
        };
        return none(doc, why);
    };
    let stale = staleness(one, host, version, now_s);
    (doc.state, doc.why) = match stale {
        None => ("fresh".to_owned(), String::new()),
        Some(why) => ("stale".to_owned(), why),
    };
    let here = plan.targets.iter().flat_map(|target| plan.connect_addresses(target)).any(|address| {
        let ip = address.ip().to_canonical();
        ip.is_loopback() || host.addresses.contains(&ip)
    });
    let open = plan.phases.iter().any(|phase| phase.load.is_open());
    let able = able(one, here, open);
    let basis = if here && one.target.layout != "elsewhere" { "measured" } else { "alone" };
    doc.measured_at.clone_from(&one.measured_at);
    basis.clone_into(&mut doc.basis);
    doc.able = per_second(RateDemand {
        requests: Some(able.requests),
        connections: Some(able.connections),
        handshakes: Some(able.handshakes),
    });
    let share = asked.share(&able);
    doc.share = Some(number(share));
    doc.hint = hint(share, doc.state == "stale");
    doc
}

const CURE: &str = "wavetank calibrate measures what this host can do, in a minute";

fn none(doc: CalibrationMarginDoc, why: String) -> CalibrationMarginDoc {
    CalibrationMarginDoc { state: "none".to_owned(), why, hint: CURE.to_owned(), ..doc }
}

/// Returns the calibrated rates of the host: with the target on the same host (`here`), or alone.
/// For a plan with arrivals on a schedule (`open`), the rate of requests is scaled to what the open
/// model reached.
fn able(one: &CalibrationDoc, here: bool, open: bool) -> HostRates {
    let figure = |figure: &wavetank_record::ThroughputDoc| {
        if here && figure.against == "own" { figure.measured.0 } else { figure.alone.0 }
    };
    let part = if open && one.requests.measured.0 > 0.0 && one.open_per_s.0 > 0.0 {
        (one.open_per_s.0 / one.requests.measured.0).min(1.0)
    } else {
        1.0
    };
    HostRates {
        requests: figure(&one.requests) * part,
        connections: figure(&one.connections),
        handshakes: figure(&one.handshakes_full),
    }
}

/// Lists the circumstances of the calibration that have changed since; `None` if all are the same.
fn staleness(one: &CalibrationDoc, host: &HostFacts, version: &str, now_s: u64) -> Option<String> {
    let mut others = Vec::new();
    let mut differs = |what: &str, then: &str, now: &str| {
        if then != now {
            others.push(format!("{what} {then} then, {now} now"));
        }
    };
    differs("CPUs:", &one.host.cpus.to_string(), &host.cpus.len().to_string());
    differs("CPU model:", &one.host.cpu_model, &host.cpu_model);
    differs("kernel:", &one.host.kernel, &host.kernel);
    differs("wavetank", &one.version, version);
    let age = now_s.saturating_sub(one.measured_at_s) / DAY_S;
    if age > DAYS_MAX {
        others.push(format!("it is {age} days old"));
    }
    (!others.is_empty()).then(|| others.join("; "))
}

fn hint(share: f64, stale: bool) -> String {
    if share <= SAFE {
        return if stale { CURE.to_owned() } else { String::new() };
    }
    let hosts = (share / SAFE).ceil();
    let less = show_share((SAFE / share).min(1.0));
    format!(
        "use {hosts:.0} load hosts like this one, or {less} of the load: plan with at most {} of a host",
        show_share(SAFE)
    )
}

/// Lists a few of many names.
fn some(names: &[String]) -> String {
    const FEW: usize = 3;
    if names.len() > FEW {
        format!("{} and {} more", names[..FEW].join(", "), names.len() - FEW)
    } else {
        list(names)
    }
}

/// Returns a warning for a plan that asks for more than the calibrated capacity of this host.
/// `None` if the capacity is not known or is enough.
pub fn overload(doc: &CalibrationMarginDoc) -> Option<String> {
    let share = doc.share.filter(|share| doc.state == "fresh" && share.0 > 1.0)?.0;
    let date = doc.measured_at.split('T').next().unwrap_or_default();
    Some(format!(
        "asks for {} at most, {share:.1} times what this host was calibrated at on {date}: wavetank calibrate --show",
        amounts(&doc.asked, "")
    ))
}

/// The lines of `wavetank plan`: label and sentence.
pub(crate) fn calibrated_load_lines(doc: &CalibrationMarginDoc) -> Vec<(&'static str, String)> {
    let hinted = |mut lines: Vec<(&'static str, String)>| {
        if !doc.hint.is_empty() {
            lines.push(("", format!("hint: {}", doc.hint)));
        }
        lines
    };
    match doc.state.as_str() {
        "none" => return vec![("calibrated", format!("{}: wavetank calibrate", doc.why))],
        "damaged" => return hinted(vec![("calibrated", format!("unknown: {}", doc.why))]),
        _ => {}
    }
    let date = doc.measured_at.split('T').next().unwrap_or_default();
    let basis =
        if doc.basis == "measured" { "with the target on the same host" } else { "alone, by CPU time" };
    let able = amounts(&doc.able, "");
    let stale = if doc.state == "stale" { format!(" STALE ({}):", doc.why) } else { String::new() };
    let asked = amounts(&doc.asked, " at most");
    let unknown = if doc.asked.requests.is_none() { "as many requests as answers allow" } else { "" };
    let asked: Vec<&str> = [asked.as_str(), unknown].into_iter().filter(|text| !text.is_empty()).collect();
    let asked = if asked.is_empty() { "almost nothing".to_owned() } else { asked.join(", and ") };
    let share = doc.share.unwrap_or_default().0;
    let mut lines = vec![(
        "calibrated",
        format!("{date}:{stale} {able}, {basis}; the plan asks for {asked}: {} of it", show_share(share)),
    )];
    if share > 1.0 {
        lines.push((
            "warning",
            format!("the plan asks for {share:.1} times what this host was calibrated at"),
        ));
    }
    hinted(lines)
}

/// `51,000 req/s, 1,000/s new connections`; amounts that are zero or unknown are left out.
fn amounts(doc: &PerSecondDoc, after: &str) -> String {
    let above_zero = |value: Option<Number>| value.map(|value| value.0).filter(|value| *value > 0.0);
    let mut parts: Vec<String> = above_zero(doc.requests).map(show_request_rate).into_iter().collect();
    for (value, noun) in [(doc.connections, "new connections"), (doc.handshakes, "TLS handshakes")] {
        parts.extend(above_zero(value).map(|value| format!("{} {noun}", show_rate(value))));
    }
    if parts.is_empty() { String::new() } else { format!("{}{after}", parts.join(", ")) }
}

/// Lag percentiles as text, for the table of a calibration.
pub(super) fn lag_text(p50: Number, p99: Number, p99_9: Number) -> [String; 3] {
    [format!("p50 {}", time(p50)), format!("p99 {}", time(p99)), format!("p99.9 {}", time(p99_9))]
}
