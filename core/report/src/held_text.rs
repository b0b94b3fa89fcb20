//! Connections that were held, in lines of text.

use wavetank_record::{HeldDoc, RunRecord};

use crate::page::Page;
use crate::units::{exact, seconds};

/// Plateaus that have a line of their own.
const PLATEAUS_TOLD: usize = 4;

/// Whether the run had phases that hold connections.
pub(crate) fn is_holding(record: &RunRecord) -> bool {
    record.phases.iter().any(|phase| phase.connections.is_some())
}

/// The lines `held`, which the text of a run with hold phases opens with; none of any other run.
pub(crate) fn add_held(page: &mut Page, record: &RunRecord) {
    if !is_holding(record) {
        return;
    }
    let connections = &record.connections;
    let named = record.held.len() > 1;
    for (number, held) in record.held.iter().take(PLATEAUS_TOLD).enumerate() {
        page.parts(if number == 0 { "held" } else { "" }, &plateau_parts(held, named));
    }
    if record.held.len() > PLATEAUS_TOLD {
        page.sentence(
            "",
            &format!("{} more plateaus in `held` of --format json", record.held.len() - PLATEAUS_TOLD),
        );
    }
    if record.held.is_empty() {
        let most =
            format!("at most {} of {} planned at once", exact(connections.peak), exact(connections.planned));
        page.parts("held", &[most, "no phase held a constant number".to_owned()]);
    }
    let mut parts = vec![
        format!("opened {}", exact(connections.opened)),
        format!("lost {}", exact(connections.lost)),
        format!("re-opened {}", exact(connections.reopened)),
    ];
    let troubles = [
        ("failed", connections.failed),
        ("begun late", connections.late),
        ("never opened", connections.opening),
        ("open at the end", connections.open),
    ];
    parts.extend(troubles.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {}", exact(*n))));
    page.parts("", &parts);
}

fn plateau_parts(held: &HeldDoc, named: bool) -> Vec<String> {
    let phase = if named { format!("{}: ", held.phase) } else { String::new() };
    vec![format!(
        "{phase}lowest second {} of {} planned (at {})",
        exact(held.lowest),
        exact(held.planned),
        seconds(held.lowest_at_s)
    )]
}
