//! [`read`]: from the file's bytes to an [`Experiment`].

use wavetank_grammar::{Diagnostic, Diagnostics, Grammar as _, Span, parse_yaml, text_of};
use wavetank_units::UserError;

use crate::grammar::MapName;
use crate::model::Experiment;
use crate::other_formats;
use crate::parse::{Variables, read_experiment};
use crate::parse_input::ParseInput;
use crate::validate::{verify, verify_references};

/// The result of parsing.
pub struct Parsed {
    /// The experiment; `None` if the diagnostics contain at least one error.
    pub experiment: Option<Experiment>,
    /// All diagnostics.
    pub diagnostics: Diagnostics,
    /// The text that spans refer to, for [`wavetank_grammar::render`].
    pub text: String,
}

/// Reads a file completely.
pub fn read(input: &ParseInput<'_>) -> Parsed {
    let mut out = Diagnostics::default();
    let text = match text_of(input.bytes, &MapName::ADVICE) {
        Ok(text) => text,
        Err(diagnostic) => {
            out.push(diagnostic);
            return Parsed { experiment: None, diagnostics: out, text: String::new() };
        }
    };
    let experiment = read_text(input, text, &mut out);
    let experiment = experiment.filter(|_| !out.has_errors());
    Parsed { experiment, diagnostics: out, text: text.to_owned() }
}

fn read_text(input: &ParseInput<'_>, text: &str, out: &mut Diagnostics) -> Option<Experiment> {
    if let Some(foreign) = other_formats::detect_in_text(input.name, text) {
        out.push(foreign);
        return None;
    }
    let (root, reported) = parse_yaml(text, &MapName::ADVICE);
    for diagnostic in reported {
        out.push(diagnostic);
    }
    let root = root?;
    if let Some(foreign) = other_formats::detect_in_tree(&root) {
        out.push(foreign);
        return None;
    }
    let vars = Variables::read(&root, input, out);
    let mut reader = vars.reader(input);
    let experiment = reader.expanded(&root).and_then(|root| read_experiment(&mut reader, &root));
    for diagnostic in reader.out.sorted() {
        out.push(diagnostic.clone());
    }
    let mut experiment = experiment?;
    if out.has_errors() {
        // Errors between parts can be found only in parts that parse.
        verify_references(&experiment, text, out);
        return None;
    }
    override_with(&mut experiment, input, &vars, out)?;
    verify(&experiment, out);
    Some(experiment)
}

/// Applies the options of `input`; their errors go into `out`.
pub(crate) fn override_with(
    experiment: &mut Experiment,
    input: &ParseInput<'_>,
    vars: &Variables,
    out: &mut Diagnostics,
) -> Option<()> {
    experiment.use_http2_for_grpc(input.options.http);
    let mut template = |text: &str| {
        let mut parser = vars.reader(input);
        parser.template_text(text, Span::default()).ok_or_else(|| parser.out.sorted()[0].clone())
    };
    match experiment.apply_overrides(input.options, &mut template) {
        Ok(notes) => notes.into_iter().for_each(|note| out.push(note)),
        Err(UserError { code, message, hint, others, .. }) => {
            out.push(Diagnostic::without_span(code, message, hint));
            for other in others {
                out.push(Diagnostic::without_span(other.code, other.message, other.hint));
            }
            return None;
        }
    }
    Some(())
}
