//! The load in words: `50 connections, 10 s, closed loop`.

use wavetank_plan::quantity::{show_count, show_rate};
use wavetank_plan::{Arrivals, Load, Phase, Plan};
use wavetank_record::{LoadDoc, Number};

use crate::units;

/// What `plan` asks for, in words and as a model; `defaults` if the user left it all to wavetank.
pub fn load_doc(plan: &Plan, defaults: bool) -> LoadDoc {
    let judged: Vec<_> = plan.phases.iter().filter(|phase| !phase.warmup).collect();
    let model = match judged.first().map(|phase| phase.load) {
        Some(Load::Open { .. }) => "open",
        Some(Load::Closed { .. }) => "closed",
        None => "",
    };
    let mut texts: Vec<_> = judged.iter().map(|phase| phase_text(plan, phase)).collect();
    let warmup = plan.phases.iter().filter(|phase| phase.warmup).filter_map(|phase| phase.length);
    texts.extend(
        warmup.map(|length| format!("after {} of warm-up", units::seconds(Number(length.as_secs_f64())))),
    );
    LoadDoc { model: model.to_owned(), text: texts.join(", "), defaults }
}

fn phase_text(plan: &Plan, phase: &Phase) -> String {
    let pool = phase.connections;
    let mut parts = match phase.load {
        Load::Open { rate, arrivals } => vec![format!(
            "{} {}",
            show_rate(rate.as_per_second()),
            match arrivals {
                Arrivals::Even => "evenly",
                Arrivals::Poisson => "at random (poisson)",
            }
        )],
        Load::Closed { .. } => vec![connections(pool)],
    };
    if plan.http.pipeline > 1 {
        parts.push(format!("{} requests at once on each", plan.http.pipeline));
    }
    parts.extend(phase.length.map(|length| units::seconds(Number(length.as_secs_f64()))));
    parts.extend(phase.requests_max.map(requests_at_most));
    parts.push(match phase.load {
        Load::Open { .. } if pool < phase.max_open => format!("open loop over at most {}", connections(pool)),
        Load::Open { .. } => "open loop".to_owned(),
        Load::Closed { .. } => "closed loop".to_owned(),
    });
    parts.join(", ")
}

fn requests_at_most(n: u64) -> String {
    if n == 1 { "at most 1 request".to_owned() } else { format!("at most {} requests", show_count(n)) }
}

fn connections(n: u64) -> String {
    if n == 1 { "1 connection".to_owned() } else { format!("{} connections", show_count(n)) }
}
