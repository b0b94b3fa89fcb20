//! Options of the command line, which override values of the file.
//!
//! They are applied between parsing and verifying, so that overrides are verified like the rest.
//! Options of the host (threads, engine, sources, guard) are not part of an experiment: lowering
//! takes them.

mod http;
mod load;
mod tls;

pub(crate) use load::default_phases;
use wavetank_grammar::Diagnostic;
use wavetank_plan::RunOptions;
use wavetank_units::{Code, UserError};

use crate::model::{Experiment, Phase, Template};
use crate::option_conflicts::check_conflicts;
use crate::placeless::without_span;
use crate::run_name::check_name;

/// Parses a text with templates. The error is about the text alone.
pub(crate) type TemplateParser<'a> = dyn FnMut(&str) -> Result<Template, Diagnostic> + 'a;

fn conflict(message: impl Into<String>, hint: impl Into<String>) -> UserError {
    UserError::usage(Code::Conflict, message, hint)
}

impl Experiment {
    /// Applies `options`, with `template` to parse their texts. Reports which conditions of the
    /// file they replace.
    ///
    /// # Errors
    /// Options that contradict each other or the file, and those that have no effect with a file.
    pub(crate) fn apply_overrides(
        &mut self,
        options: &RunOptions,
        template: &mut TemplateParser<'_>,
    ) -> Result<Vec<Diagnostic>, UserError> {
        check_conflicts(options)?;
        check_applicable(options)?;
        self.amend_load(options)?;
        self.amend_http(options, template)?;
        self.amend_tls(&options.tls);
        self.amend_rest(options)
    }

    fn amend_rest(&mut self, options: &RunOptions) -> Result<Vec<Diagnostic>, UserError> {
        if let Some(name) = &options.name {
            check_name(name)?;
            self.name = Some(without_span(name.clone()));
        }
        for (key, value) in &options.tags {
            self.tags.retain(|(own, _)| own != key);
            self.tags.push((key.clone(), value.clone()));
        }
        if let Some(most) = options.max_open {
            let mut any = false;
            for phase in self.own_phases_mut().filter(|phase| phase.is_open()) {
                phase.max_open = Some(most);
                any = true;
            }
            if !any {
                let hint =
                    "in a closed phase every user waits for its response: users: N limits the open requests";
                return Err(conflict("--max-open has no effect in a file without a rate", hint));
            }
        }
        self.drain = options.drain.map(without_span).or(self.drain.take());
        self.seed = options.seed.or(self.seed);
        self.open_rate = options.open_rate.or(self.open_rate);
        self.probe = options.probe.or(self.probe);
        self.truth = options.truth.or(self.truth);
        let lists = [
            ("--threshold", &mut self.thresholds, &options.thresholds),
            ("--stop", &mut self.stop, &options.stop),
        ];
        let mut notes = Vec::new();
        for (option, own, given) in lists.into_iter().filter(|(.., given)| !given.is_empty()) {
            if let Some(first) = own.first() {
                let message = format!("{option} replaces all {} of the file", own.len());
                let hint = format!("give {option} for each condition that applies");
                notes.push(Diagnostic::note(Code::ConditionsReplaced, first.place, message, hint));
            }
            *own = given.iter().cloned().map(without_span).collect();
        }
        Ok(notes)
    }

    fn own_phases_mut(&mut self) -> impl Iterator<Item = &mut Phase> {
        self.phases.iter_mut().chain(self.scenarios.iter_mut().flat_map(|scenario| &mut scenario.phases))
    }
}

/// Rejects options that the steps of a file replace, and `--once`.
fn check_applicable(options: &RunOptions) -> Result<(), UserError> {
    let steps = "method, path and body are set in the file's steps; --set changes a variable in them";
    let given = [
        ("-X", options.method.is_some(), steps),
        ("--body and --body-file", options.body.is_some(), steps),
        ("--once", options.once, "wavetank try FILE runs it once as one user"),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        Some((name, _, hint)) => Err(conflict(format!("{name} does not apply to an experiment file"), hint)),
        None => Ok(()),
    }
}
