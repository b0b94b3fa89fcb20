//! Replies to the requests of other processes. They are shown once, and are in no record.

use wavetank_control::ControlReply;
use wavetank_fleet::ChangeRefused;
use wavetank_plan::{LoadChange, LoadChangeError, Plan};
use wavetank_units::{Nanos, sanitize};

/// Longest text of a mark, in bytes.
pub(super) const MARK_BYTES_MAX: usize = 1_000;

/// What the last line of a run's view says.
pub(super) const KEYS: &str =
    "Ctrl-C ends the run and reports · from another terminal: wavetank set rate=…, event, stop";

/// The command that shows what a run does.
const LOOK: &str = "look at it: wavetank status";

/// The load has its new value from `at` on.
pub(super) fn changed(text: &str, at: Nanos) -> ControlReply {
    ControlReply::Accepted(format!("{text}, from {at} on"))
}

/// The run ends, and open requests have this long.
pub(super) fn stopping(drain: Option<Nanos>) -> ControlReply {
    ControlReply::Accepted(match drain {
        Some(drain) => format!("stopping; open requests have at most {drain} to end"),
        None => "stopping; open requests are cut".to_owned(),
    })
}

/// The time is marked.
pub(super) fn marked(at: Nanos) -> ControlReply {
    ControlReply::Accepted(format!("marked at {at}"))
}

/// The text of a mark is not one line of text.
pub(super) fn bad_mark() -> ControlReply {
    let hint = format!("use one line of at most {MARK_BYTES_MAX} bytes");
    rejected("cannot mark the time: the text is empty, too long or has control characters", &hint)
}

/// A search chooses its own load.
pub(super) fn search() -> ControlReply {
    rejected("cannot change the load: a search chooses it", "wait until the search has ended, or stop it")
}

/// The search ends before its next run.
pub(super) fn stopping_search() -> ControlReply {
    ControlReply::Accepted("stopping; the search reports what it has found".to_owned())
}

/// No run takes the mark.
pub(super) fn between_runs() -> ControlReply {
    rejected("cannot mark the time: the search is between two runs", "repeat the command in a second")
}

/// There is no load to change: not yet, or not any more.
pub(super) fn no_load(ending: bool) -> ControlReply {
    let why = if ending { "the run is ending" } else { "the load has not started" };
    rejected(&format!("cannot change the load: {why}"), LOOK)
}

/// The plan cannot take the change.
pub(super) fn unchanged(error: &LoadChangeError) -> ControlReply {
    rejected(&format!("cannot change the load: {error}"), &hint(error))
}

/// The plan has no phase with this name.
pub(super) fn no_phase(name: &str, plan: &Plan) -> ControlReply {
    let names: Vec<&str> = plan.phases.iter().map(|phase| phase.name.as_str()).collect();
    let message = format!("cannot change the load: there is no phase `{}`", sanitize(name));
    rejected(&message, &format!("name one of: {}", sanitize(&names.join(", "))))
}

/// The agents were not ordered to change their load.
pub(super) fn not_ordered(refused: ChangeRefused) -> ControlReply {
    match refused {
        ChangeRefused::TooLate | ChangeRefused::Busy => {
            rejected("cannot change the load: the agents are busy", "repeat the command")
        }
        ChangeRefused::NotRunning => rejected("cannot change the load: it has ended", LOOK),
    }
}

fn hint(error: &LoadChangeError) -> String {
    match error {
        LoadChangeError::NotActive(..) | LoadChangeError::OtherKind(..) => {
            "set `rate=`, `users=` or `connections=`, as the phase has it".to_owned()
        }
        LoadChangeError::Ambiguous(_) => "name one of them with --phase".to_owned(),
        LoadChangeError::TooMany(LoadChange::Connections(_), _, most) => {
            format!("set `connections={most}` or less")
        }
        LoadChangeError::TooMany(_, _, most) => {
            format!("set `users={most}` or less; for more, plan a phase with more users")
        }
        LoadChangeError::Recorded(_) | LoadChangeError::TooManyPieces(_) => {
            "stop the run, and start one with another load".to_owned()
        }
    }
}

fn rejected(message: &str, hint: &str) -> ControlReply {
    ControlReply::Rejected { message: message.to_owned(), hint: hint.to_owned() }
}
