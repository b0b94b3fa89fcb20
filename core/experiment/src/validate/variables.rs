//! Names in templates: variables, data, counts.

use std::collections::BTreeSet;
use wavetank_units::Code;

use wavetank_grammar::{Diagnostic, Diagnostics, Span};

use super::messages::unknown;
use crate::model::{DataContent, Experiment, ForEachItems, Function, Part, Step, Template, Verb};
use crate::walk::templates_in_value;

/// The position of a template, which determines the names that it can use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TemplatePosition {
    Before,
    Scenario,
    After,
}

pub(super) fn verify(experiment: &Experiment, out: &mut Diagnostics) {
    let of_run = set_by(experiment, &experiment.before);
    let all = FileScope { variables: every_variable(experiment), counts: counts(experiment) };
    check(experiment, &all, &[&experiment.before], &[], TemplatePosition::Before, out);
    for scenario in &experiment.scenarios {
        let lists = [scenario.before.as_slice(), &scenario.steps, &scenario.after];
        check(experiment, &all, &lists, &of_run, TemplatePosition::Scenario, out);
    }
    check(experiment, &all, &[&experiment.after], &of_run, TemplatePosition::After, out);
    let variables = all.variables.clone();
    let everywhere = Names { experiment, variables, all: &all, at: TemplatePosition::Scenario };
    let http = &experiment.http;
    let of_auth = http.auth.iter().flat_map(crate::model::Auth::templates);
    let of_proxy = http.proxy.iter().flat_map(crate::model::Proxy::templates);
    for template in http.headers.iter().map(|header| &header.value).chain(of_auth).chain(of_proxy) {
        everywhere.check(template, out);
    }
    let mut of_vars = Vec::new();
    experiment.vars.iter().for_each(|var| templates_in_value(&var.value, &mut of_vars));
    for template in of_vars {
        everywhere.check(template, out);
    }
    data_used(experiment, out);
}

fn set_by<'e>(experiment: &'e Experiment, steps: &'e [Step]) -> Vec<&'e str> {
    experiment.flattened(steps).into_iter().flat_map(Step::sets).collect()
}

fn every_variable(experiment: &Experiment) -> BTreeSet<&str> {
    let mut all: BTreeSet<&str> = experiment.vars.iter().map(|var| var.name.as_str()).collect();
    for (steps, _) in experiment.step_lists() {
        all.extend(set_by(experiment, steps));
    }
    all
}

fn check(
    experiment: &Experiment,
    all: &FileScope<'_>,
    lists: &[&[Step]],
    more: &[&str],
    at: TemplatePosition,
    out: &mut Diagnostics,
) {
    let mut variables: BTreeSet<&str> = experiment.vars.iter().map(|var| var.name.as_str()).collect();
    variables.extend(more);
    for steps in lists {
        variables.extend(set_by(experiment, steps));
    }
    let names = Names { experiment, variables, all, at };
    for step in lists.iter().flat_map(|steps| experiment.flattened(steps)) {
        step.templates().into_iter().for_each(|template| names.check(template, out));
        if let Verb::Each { list: ForEachItems::Variable(list), .. } = &step.verb {
            names.variable(&list.value, list.place, out);
        }
    }
}

/// The names that are set and counted anywhere in the file.
struct FileScope<'e> {
    variables: BTreeSet<&'e str>,
    counts: BTreeSet<&'e str>,
}

struct Names<'e> {
    experiment: &'e Experiment,
    variables: BTreeSet<&'e str>,
    all: &'e FileScope<'e>,
    at: TemplatePosition,
}

impl Names<'_> {
    fn check(&self, template: &Template, out: &mut Diagnostics) {
        for part in &template.parts {
            // Beyond the maximum, one mistake was reported many times.
            if out.omitted() > 0 {
                return;
            }
            self.part(part, template.place, out);
        }
    }

    fn part(&self, part: &Part, place: Span, out: &mut Diagnostics) {
        match part {
            Part::Variable(name) => self.variable(name, place, out),
            Part::Column { data, column } => self.column(data, column, place, out),
            Part::Count(name) => self.count(name, place, out),
            Part::User | Part::Session if self.at != TemplatePosition::Scenario => {
                let message = "the run's own before and after do not belong to a user or a session";
                out.push(Diagnostic::error(
                    Code::TemplatePlace,
                    place,
                    message,
                    "a variable of vars:, or ${uuid()}",
                ));
            }
            Part::Call(Function::Pick(ways)) => ways.iter().for_each(|way| self.check(way, out)),
            Part::Call(Function::Base64(text)) => self.check(text, out),
            Part::Call(Function::HmacSha256 { key, message }) => {
                self.check(key, out);
                self.check(message, out);
            }
            _ => {}
        }
    }

    fn variable(&self, name: &str, place: Span, out: &mut Diagnostics) {
        if self.variables.contains(name) {
            return;
        }
        let mut diagnostic =
            unknown(Code::VariableUnknown, "variable", name, place, self.variables.iter().copied());
        if self.all.variables.contains(name) {
            diagnostic.message = format!("nothing sets `{name}` in this journey");
            "a variable belongs to the session that set it; extract: or set: it here"
                .clone_into(&mut diagnostic.hint);
        } else if self.experiment.data.iter().any(|data| data.name == name) {
            diagnostic.hint = format!("use a column of the data: ${{{name}.COLUMN}}");
        } else if self.variables.is_empty() {
            diagnostic.hint =
                format!("vars: {{{name}: VALUE}}, or extract: {{{name}: json $.path}} in an earlier step");
        }
        out.push(diagnostic);
    }

    fn column(&self, data: &str, column: &str, place: Span, out: &mut Diagnostics) {
        let all = &self.experiment.data;
        let Some(source) = all.iter().find(|source| source.name == data) else {
            out.push(unknown(
                Code::DataUnknown,
                "data",
                data,
                place,
                all.iter().map(|source| source.name.as_str()),
            ));
            return;
        };
        let columns = match &source.content {
            DataContent::Rows { columns, .. } => columns,
            DataContent::File(file) => &file.columns,
        };
        if !columns.is_empty() && !columns.iter().any(|known| known == column) {
            out.push(unknown(
                Code::ColumnUnknown,
                "column",
                column,
                place,
                columns.iter().map(String::as_str),
            ));
        }
        if self.at != TemplatePosition::Scenario {
            let message = "rows belong to sessions, but this is outside of a session";
            out.push(Diagnostic::error(
                Code::TemplatePlace,
                place,
                message,
                "write the value here, or under vars:",
            ));
        }
    }

    fn count(&self, name: &str, place: Span, out: &mut Diagnostics) {
        if !self.all.counts.contains(name) {
            out.push(unknown(Code::CountUnknown, "count", name, place, self.all.counts.iter().copied()));
        } else if self.at != TemplatePosition::After {
            let message = format!("the count of `{name}` is known only after the load");
            out.push(Diagnostic::error(Code::TemplatePlace, place, message, "use it in the run's after:"));
        }
    }
}

fn counts(experiment: &Experiment) -> BTreeSet<&str> {
    let lists = experiment.step_lists().into_iter();
    let requests = lists.flat_map(|(steps, _)| experiment.flattened(steps)).filter_map(Step::request);
    requests.flat_map(|request| &request.counts).map(|(name, _)| name.value.as_str()).collect()
}

/// Reports rows that are never used.
fn data_used(experiment: &Experiment, out: &mut Diagnostics) {
    let mut used: Vec<&str> = Vec::new();
    let lists = experiment.step_lists().into_iter();
    let mut templates: Vec<&Template> =
        lists.flat_map(|(steps, _)| experiment.flattened(steps)).flat_map(Step::templates).collect();
    templates.extend(experiment.http.headers.iter().map(|header| &header.value));
    templates.extend(experiment.http.auth.iter().flat_map(crate::model::Auth::templates));
    for template in templates {
        template.parts.iter().for_each(|part| columns_in(part, &mut used));
    }
    for source in experiment.data.iter().filter(|source| !used.contains(&source.name.as_str())) {
        let message = format!("nothing uses the data `{}`", source.name);
        out.push(Diagnostic::warning(
            Code::DataUnused,
            source.place,
            message,
            format!("${{{}.COLUMN}}", source.name),
        ));
    }
}

fn columns_in<'e>(part: &'e Part, used: &mut Vec<&'e str>) {
    let mut inside = |template: &'e Template| template.parts.iter().for_each(|part| columns_in(part, used));
    match part {
        Part::Column { data, .. } => used.push(data),
        Part::Call(Function::Pick(ways)) => ways.iter().for_each(inside),
        Part::Call(Function::Base64(text)) => inside(text),
        Part::Call(Function::HmacSha256 { key, message }) => {
            inside(key);
            inside(message);
        }
        _ => {}
    }
}
