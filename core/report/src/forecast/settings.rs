//! Settings in force, and whether the user chose them.

use std::collections::BTreeSet;

use wavetank_capacity::forecast::Forecast;
use wavetank_capacity::size::Setting;
use wavetank_plan::constants::MAX_OPEN;
use wavetank_plan::{Close, HttpVersion, Load, MaxOpenLimit, Phase, Plan};
use wavetank_record::engine_name;
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_clock, show_rate};

/// All settings that a file may leave out.
pub(super) fn settings(plan: &Plan, given: &BTreeSet<&'static str>) -> Vec<Setting> {
    let http = &plan.http;
    let holds = plan.phases.iter().any(|phase| matches!(phase.load, Load::Hold { .. }));
    let yes = |value: bool| if value { "yes" } else { "no" }.to_owned();
    let expect: Vec<String> = http.expect.0.iter().map(|(low, high)| format!("{low} to {high}")).collect();
    let version = match http.version {
        HttpVersion::Http10 => "1.0",
        HttpVersion::Http11 => "1.1",
        HttpVersion::Http2 => "2",
        HttpVersion::Http3 => "3",
    };
    let in_flight = if http.version.has_streams() { "http.streams" } else { "http.pipeline" };
    let close = match http.close {
        Close::Fin => "fin",
        Close::Rst => "rst",
    };
    let held = if holds { "held connections end immediately" } else { "" };
    let each = http.requests_per_connection.map_or_else(|| "any number".to_owned(), format_grouped);
    let all: [(&'static str, String, &str); 13] = [
        (
            "http.timeout",
            show_clock(http.timeout),
            "from the start of the request; includes connect, TLS and answer",
        ),
        ("http.connect_timeout", show_clock(http.connect_timeout), "inside the timeout"),
        ("http.version", version.to_owned(), ""),
        ("http.keepalive", yes(http.keepalive), ""),
        ("http.requests_per_connection", each, ""),
        (in_flight, http.pipeline.to_string(), ""),
        ("http.close", close.to_owned(), held),
        ("http.expect", expect.join(" or "), ""),
        ("http.cookies", yes(http.cookies), ""),
        ("drain", show_clock(plan.drain), "the longest timeout, 30s at least"),
        ("open_rate", show_rate(plan.open_rate.as_per_second()), "connections opened before a phase"),
        ("late_tolerance", show_short_time(plan.late_tolerance), ""),
        ("seed", plan.seed.to_string(), ""),
    ];
    let mut settings: Vec<Setting> = all
        .into_iter()
        .map(|(name, value, why)| Setting { name, value, given: given.contains(name), why: why.to_owned() })
        .collect();
    settings.push(Setting {
        name: "engine",
        value: engine_name(plan.engine).to_owned(),
        given: false,
        why: "the best available on this host".to_owned(),
    });
    settings
}

/// Explains where a phase's `max_open` comes from.
pub(super) fn max_open_why(phase: &Phase, forecast: &Forecast) -> String {
    let this_host = |what: &str| format!("limited by this host's {what}");
    match phase.max_open_by {
        MaxOpenLimit::Files => return this_host("files"),
        MaxOpenLimit::Memory => return this_host("memory"),
        MaxOpenLimit::Sources => return this_host("source ports"),
        MaxOpenLimit::Plan => {}
    }
    let longest = phase.mix.parts().iter().filter_map(|part| forecast.scenarios.get(usize::from(part.0)));
    let longest = longest.map(|scenario| scenario.longest).max().unwrap_or(Nanos::ZERO);
    let most = match &phase.load {
        Load::Open { rate, .. } => rate.max(),
        Load::Trace { .. } => return "all arrivals".to_owned(),
        Load::Closed { .. } => return "its users".to_owned(),
        Load::Hold { .. } => return "its connections".to_owned(),
        Load::Pause => return String::new(),
    };
    let product = u128::from(most.count) * u128::from(longest.0.unsigned_abs());
    let natural =
        u64::try_from(product.div_ceil(u128::from(most.per.0.unsigned_abs().max(1)))).unwrap_or(u64::MAX);
    match phase.max_open {
        own if own == natural => format!("rate × {}, the longest a session may take", show_clock(longest)),
        own if Some(own) == phase.sessions_max => "all possible sessions".to_owned(),
        MAX_OPEN => "the highest default".to_owned(),
        // The mean plus a margin that a Poisson process never exceeds.
        own if own
            >= phase.end().and_then(|end| phase.sessions_between(phase.start, end)).unwrap_or(u64::MAX) =>
        {
            "all sessions".to_owned()
        }
        _ => "as given".to_owned(),
    }
}

fn show_short_time(length: Nanos) -> String {
    if length.0 % 1_000_000 == 0 && length < Nanos::SECOND {
        format!("{}ms", length.0 / 1_000_000)
    } else if length < Nanos::SECOND {
        format!("{}us", length.0 / 1_000)
    } else {
        show_clock(length)
    }
}
