//! Paths that contain the response time, such as `/delay/100` and `/sleep100`.

use wavetank_grammar::{Diagnostic, Diagnostics};
use wavetank_plan::constants::TIMEOUT;
use wavetank_plan::{SettingNames, delay_in_path};
use wavetank_units::{Code, Nanos};

use crate::Step;
use crate::model::{Experiment, Request, RequestHead};

const WORDS: [&str; 4] = ["delay", "sleep", "wait", "slow"];
/// Longer than a day is not a delay.
const SECONDS_MAX: u64 = 86_400;

pub(super) fn verify(experiment: &Experiment, out: &mut Diagnostics) {
    let general = experiment.http.timeout.as_ref().map(|timeout| timeout.value);
    for (step, request) in requests(experiment) {
        let timeout = request.timeout.as_ref().map(|at| at.value).or(general).unwrap_or(TIMEOUT);
        let Some(answer) = answer_time(request).filter(|answer| *answer >= timeout) else { continue };
        let place = request.timeout.as_ref().map_or(step.place, |timeout| timeout.place);
        let message =
            format!("`{}` seems to take {answer}, but timeout is {timeout}", request.display_name());
        let longer = (answer.0 / 1_000_000_000 * 3 / 2).max(1);
        let hint = match experiment.setting_names {
            SettingNames::Options => format!("--timeout {longer}s"),
            SettingNames::Keys => format!("http: {{timeout: {longer}s}}"),
        };
        out.push(Diagnostic::warning(Code::TimeoutShort, place, message, hint));
    }
}

/// Returns the longest response time in a path.
pub(super) fn longest_answer(experiment: &Experiment) -> Option<Nanos> {
    requests(experiment).filter_map(|(_, request)| answer_time(request)).max()
}

fn requests(experiment: &Experiment) -> impl Iterator<Item = (&Step, &Request)> {
    let steps = experiment.step_lists().into_iter().flat_map(|(steps, _)| experiment.flattened(steps));
    steps.filter_map(|step| Some((step, step.request()?)))
}

fn answer_time(request: &Request) -> Option<Nanos> {
    let RequestHead::Http { url, .. } = &request.head else { return None };
    // The built-in server understands its own paths exactly.
    if let Some(delay) = delay_in_path(url.as_fixed()?) {
        return Some(delay);
    }
    let path = url.as_fixed()?.to_ascii_lowercase();
    let word = WORDS.iter().find_map(|word| Some(path.find(word)? + word.len()))?;
    let digits: String = path[word..]
        .trim_start_matches(['/', '=', '-', '_'])
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let seconds: u64 = digits.parse().ok().filter(|seconds| (1..=SECONDS_MAX).contains(seconds))?;
    let rest = &path[word..];
    let millis = rest.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).starts_with("ms");
    Some(if millis { Nanos::from_millis(seconds as i64) } else { Nanos::from_secs(seconds as i64) })
}
