//! [`load_line`]: the load of a run of one URL in one line.

use wavetank_plan::{Arrivals, Load, Phase, Plan, RunOptions};
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_request_rate};

/// Returns the load of the measured phase of `plan`, and which options change a default.
pub(super) fn load_line(options: &RunOptions, plan: &Plan) -> String {
    plan.phases.last().map_or_else(String::new, |main| line(options, main))
}

/// `50 connections, 10 s, closed loop (defaults; -c, -d, -r change them)`.
fn line(options: &RunOptions, main: &Phase) -> String {
    let connections = match main.connections {
        1 => "1 connection".to_owned(),
        many => format!("{} connections", format_grouped(many)),
    };
    let mut parts = match &main.load {
        Load::Closed { users, .. } if users.max() > main.connections => {
            vec![format!("{} users on {connections}", format_grouped(users.max()))]
        }
        Load::Open { rate, arrivals, .. } => {
            let spaced = if *arrivals == Arrivals::Poisson { " (Poisson)" } else { "" };
            let mut parts = vec![format!("{}{spaced}", show_request_rate(rate.max().as_per_second()))];
            if main.open_before {
                parts.push(format!("pool of {connections}"));
            }
            parts
        }
        _ => vec![connections],
    };
    parts.extend(main.requests_max.map(|most| match most {
        1 => "1 request".to_owned(),
        many => format!("{} requests", format_grouped(many)),
    }));
    parts.extend(main.length.map(plain_seconds));
    parts.push(if options.rate.is_some() { "open loop" } else { "closed loop" }.to_owned());
    let given = [options.connections.is_some(), options.duration.is_some(), options.requests.is_some()];
    let advice = match (options.rate.is_some(), given) {
        _ if options.once => "",
        (false, [false, false, false]) => " (defaults; -c, -d, -r change them)",
        (_, [_, false, false]) => " (default length; -d, -n change it)",
        (false, [false, _, _]) => " (default connections; -c, -r change them)",
        _ => "",
    };
    format!("{}{advice}", parts.join(", "))
}

/// Whole seconds without decimals: `10 s`, not `10.0 s`.
fn plain_seconds(length: Nanos) -> String {
    let (whole, rest) = (length.0 / Nanos::SECOND.0, length.0 % Nanos::SECOND.0);
    if rest == 0 && whole < 120 { format!("{whole} s") } else { length.to_string() }
}
