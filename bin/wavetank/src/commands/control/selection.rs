//! [`select`]: the running run that a command is about.

use wavetank_control::client;
use wavetank_record::LiveDoc;
use wavetank_units::{Code, UserError, sanitize};

use wavetank_runner::run_folder;

/// Returns the running runs of this user, by id.
pub(super) fn running() -> Result<Vec<LiveDoc>, UserError> {
    let folder = run_folder();
    client::running(&folder).map_err(|error| {
        let path = folder.path().display().to_string();
        let message = format!("cannot read `{}`: {error}", sanitize(&path));
        UserError::usage(Code::RunsUnreadable, message, "check its owner and permissions")
    })
}

/// Returns the run with this id, id's beginning or name; without a name the only run.
pub(super) fn select(named: Option<&str>) -> Result<LiveDoc, UserError> {
    select_from(running()?, named)
}

fn select_from(mut runs: Vec<LiveDoc>, named: Option<&str>) -> Result<LiveDoc, UserError> {
    let all = list(&runs);
    if let Some(named) = named {
        if let Some(exact) = runs.iter().position(|run| run.id == named) {
            return Ok(runs.swap_remove(exact));
        }
        runs.retain(|run| run.name == named || (!named.is_empty() && run.id.starts_with(named)));
    }
    match (runs.len(), named) {
        (1, _) => Ok(runs.remove(0)),
        (0, None) => Err(none("no run of this user is running".to_owned(), "start one: wavetank run URL")),
        (0, Some(named)) => {
            let hint = match all.as_str() {
                "" => "no run of this user is running; stored runs: wavetank runs list".to_owned(),
                all => format!("running: {all}"),
            };
            Err(none(format!("no running run is called `{}`", sanitize(named)), hint))
        }
        (count, _) => {
            let hint = format!("name one by its id: {}", list(&runs));
            Err(UserError::usage(Code::AmbiguousRun, format!("{count} runs are running"), hint))
        }
    }
}

/// The run has ended since it was listed.
pub(super) fn ended(run: &LiveDoc, error: &std::io::Error) -> UserError {
    let message = format!("cannot reach run {}: {error}", sanitize(&run.id));
    let hint = match &run.archive {
        Some(folder) => format!("if it has ended: wavetank report {}", sanitize(folder)),
        None => "check whether it is still running: wavetank status".to_owned(),
    };
    UserError::usage(Code::NotRunning, message, hint)
}

fn none(message: String, hint: impl Into<String>) -> UserError {
    UserError::usage(Code::NotRunning, message, hint)
}

fn list(runs: &[LiveDoc]) -> String {
    let named = runs.iter().map(|run| format!("{} ({})", sanitize(&run.id), sanitize(&run.name)));
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(runs: &[(&str, &str)], named: Option<&str>, expected: Result<&str, &str>) {
        let run = |(id, name): &(&str, &str)| LiveDoc {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            ..LiveDoc::default()
        };
        let found = select_from(runs.iter().map(run).collect(), named);
        let found = found.map(|run| run.id).map_err(|error| error.to_string());
        match expected {
            Ok(id) => assert_eq!(found.as_deref(), Ok(id)),
            Err(part) => assert!(found.as_ref().is_err_and(|error| error.contains(part)), "{found:?}"),
        }
    }

    #[test]
    fn a_run_is_selected_by_id_beginning_or_name() {
        let two = [("3f81aa", "shop"), ("3f9000", "login")];
        check(&two, Some("3f81aa"), Ok("3f81aa"));
        check(&two, Some("3f81"), Ok("3f81aa"));
        check(&two, Some("login"), Ok("3f9000"));
        check(&two[..1], None, Ok("3f81aa"));
        check(&two, Some("3f"), Err("2 runs are running"));
        check(&two, None, Err("name one by its id: 3f81aa (shop), 3f9000 (login)"));
        check(&two, Some("nothing"), Err("running: 3f81aa (shop), 3f9000 (login)"));
        check(&two, Some(""), Err("no running run is called ``"));
        check(&[], None, Err("no run of this user is running"));
        check(&[], Some("a\u{1b}[2J"), Err("stored runs: wavetank runs list"));
        // An id that is the beginning of another one.
        check(&[("3f", "a"), ("3f0", "b")], Some("3f"), Ok("3f"));
    }
}
