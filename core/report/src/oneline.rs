//! [`oneline`]: the report in one line.

use wavetank_record::{Blame, RunRecord, Status};

use crate::cut_short::cut_short_text;
use crate::format;
use crate::lag_part::has_lag_part;
use crate::text::measured;
use crate::threshold_state::is_running;

/// The run in one line, ending in a newline: verdict and its reason, rate, p50, p99, failures and
/// the limit.
pub fn oneline(record: &RunRecord) -> String {
    let verdict = &record.verdict;
    let mut parts = vec![format::verdict_name(record)];
    // What ended the run early says the same as its headline.
    let says_why = record.cut_short.as_ref().is_some_and(|cut_short| cut_short.why == verdict.headline);
    if verdict.status != Status::Pass && !is_running(record) && !says_why {
        parts.push(format::headline(record));
    }
    parts.extend(cut_short_text(record));
    if record.requests.offered > 0 || parts.len() == 1 {
        parts.extend(measured(record));
    }
    parts.push(match verdict.blame {
        Blame::None if has_lag_part(record) || is_running(record) => "limit not determined".to_owned(),
        Blame::None => "no limit reached".to_owned(),
        Blame::Unknown => "limit unknown".to_owned(),
        blame => format!("limit {}", blame.name()),
    });
    // A headline may be of several lines, such as a program's message.
    parts.join(" · ").lines().collect::<Vec<_>>().join(" ") + "\n"
}
