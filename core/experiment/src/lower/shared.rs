//! [`GlobalScope`]: names with the same meaning in all scenarios.

use wavetank_grpc::Descriptors;
use wavetank_plan::Secret;
use wavetank_units::{Code, UserError};

use super::{LowerContext, LowerError};
use crate::model::{DataContent, Experiment, Part, Step, Template, Value, Verb};
use crate::walk::templates_in_value;

/// See the module's description. Indices in these lists are the plan's numbers.
pub(super) struct GlobalScope<'e> {
    pub(super) experiment: &'e Experiment,
    pub(super) input: &'e LowerContext<'e>,
    /// Columns of each source of data.
    pub(super) columns: Vec<Vec<String>>,
    pub(super) counts: Vec<String>,
    pub(super) rendezvous: Vec<String>,
    /// The services of gRPC targets.
    pub(super) descriptors: Option<Descriptors>,
}

impl<'e> GlobalScope<'e> {
    pub(super) fn new(
        experiment: &'e Experiment,
        input: &'e LowerContext<'e>,
        descriptors: Option<Descriptors>,
    ) -> Self {
        let (mut counts, mut rendezvous) = (Vec::new(), Vec::new());
        for step in every_step(experiment) {
            match &step.verb {
                Verb::Request(request) => {
                    request.counts.iter().for_each(|(name, _)| add(&mut counts, &name.value));
                }
                Verb::Rendezvous { name, .. } => add(&mut rendezvous, &name.value),
                _ => {}
            }
        }
        let columns = (0..experiment.data.len()).map(|at| columns(experiment, input, at)).collect();
        Self { experiment, input, columns, counts, rendezvous, descriptors }
    }

    /// Returns the value of a variable of the file.
    pub(super) fn var(&self, name: &str) -> Option<&'e Value> {
        self.experiment.vars.iter().rev().find(|var| var.name == name).map(|var| &var.value)
    }

    /// Returns the value of `${secret:NAME}`.
    pub(super) fn secret(&self, name: &str) -> Result<Secret, UserError> {
        (self.input.secret)(name).ok_or_else(|| {
            let hint = format!("--secret {name}=@FILE, or the environment's WAVETANK_SECRET_{name}");
            UserError::usage(Code::SecretUnknown, format!("there is no secret {name}"), hint)
        })
    }

    /// Returns the numbers of a data source and of its column.
    pub(super) fn column(&self, data: &str, column: &str) -> Option<(u16, u16)> {
        let at = self.experiment.data.iter().position(|source| source.name == data)?;
        let column = self.columns[at].iter().position(|own| own == column)?;
        Some((u16::try_from(at).ok()?, u16::try_from(column).ok()?))
    }
}

/// Returns the index of a name in a list.
pub(super) fn index(names: &[String], name: &str) -> Option<u16> {
    u16::try_from(names.iter().position(|own| own == name)?).ok()
}

/// Adds a name unless the list contains it.
pub(super) fn add(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|own| own == name) {
        names.push(name.to_owned());
    }
}

/// Reports more entries than a plan has numbers for.
pub(super) fn too_many(what: &str) -> LowerError {
    let message = format!("more than {} {what}", u16::MAX);
    UserError::usage(Code::TooMany, message, "use a repeat or rows of data instead").into()
}

fn every_step(experiment: &Experiment) -> impl Iterator<Item = &Step> {
    experiment.step_lists().into_iter().flat_map(|(steps, _)| experiment.flattened(steps))
}

/// Returns the columns of the table. Without a table they are those that the file lists or that
/// templates use.
fn columns(experiment: &Experiment, input: &LowerContext<'_>, at: usize) -> Vec<String> {
    if let Some(Some(table)) = input.tables.get(at) {
        return table.columns().map(str::to_owned).collect();
    }
    let source = &experiment.data[at];
    let mut columns = match &source.content {
        DataContent::Rows { columns, .. } => columns.clone(),
        DataContent::File(file) => file.columns.clone(),
    };
    if columns.is_empty() {
        let mut templates: Vec<&Template> = every_step(experiment).flat_map(Step::templates).collect();
        templates.extend(experiment.http.headers.iter().map(|header| &header.value));
        templates.extend(experiment.http.auth.iter().flat_map(crate::model::Auth::templates));
        experiment.vars.iter().for_each(|var| templates_in_value(&var.value, &mut templates));
        for template in templates {
            template.parts.iter().for_each(|part| named(part, &source.name, &mut columns));
        }
    }
    columns
}

fn named(part: &Part, data: &str, columns: &mut Vec<String>) {
    use crate::model::Function::{Base64, HmacSha256, Pick};
    let mut inside = |template: &Template| {
        template.parts.iter().for_each(|part| named(part, data, columns));
    };
    match part {
        Part::Column { data: own, column } if own == data => add(columns, column),
        Part::Call(Pick(ways)) => ways.iter().for_each(inside),
        Part::Call(Base64(text)) => inside(text),
        Part::Call(HmacSha256 { key, message }) => {
            inside(key);
            inside(message);
        }
        _ => {}
    }
}
