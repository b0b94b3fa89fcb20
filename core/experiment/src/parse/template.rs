//! Parses text with `${…}` into parts.

use wavetank_grammar::{Diagnostic, Node, Span};
use wavetank_units::Code;

use super::{Parser, TreeReader as _, unquoted_chars};
use crate::model::{Part, Template};

impl Parser<'_> {
    /// Reads a single value as a template.
    pub(crate) fn template(&mut self, node: &Node, what: &str) -> Option<Template> {
        let scalar = self.scalar(node, what)?;
        self.template_text(&scalar.text, node.place)
    }

    /// Parses a text as a template. `$${` yields the literal characters `${`.
    pub(crate) fn template_text(&mut self, text: &str, place: Span) -> Option<Template> {
        let mut template = Template { parts: Vec::new(), place };
        if let Some((foreign, name)) = foreign_template(text) {
            let message = format!("`{foreign}` is sent as it is");
            let hint = format!("if it is a template: ${{{name}}}");
            self.out.push(Diagnostic::warning(Code::TemplateForeign, place, message, hint));
        }
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            if rest[..at].ends_with('$') {
                push_text(&mut template, &rest[..at]);
                push_text(&mut template, "{");
                rest = &rest[at + 2..];
                continue;
            }
            push_text(&mut template, &rest[..at]);
            rest = &rest[at + 2..];
            let Some(end) = end_of(rest) else { return self.unclosed(place) };
            match self.part(rest[..end].trim(), place)? {
                Part::Text(text) => push_text(&mut template, &text),
                part => template.parts.push(part),
            }
            rest = &rest[end + 1..];
        }
        push_text(&mut template, rest);
        Some(template)
    }
}

/// Returns the first `{{NAME}}`, as other tools write templates, and the name in it.
fn foreign_template(text: &str) -> Option<(&str, &str)> {
    let at = text.find("{{")?;
    let end = at + text[at..].find("}}")?;
    let name = text[at + 2..end].trim().trim_start_matches('$');
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-');
    (!name.is_empty() && name.chars().all(is_name)).then(|| (&text[at..end + 2], name))
}

pub(super) fn push_text(template: &mut Template, text: &str) {
    match template.parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(before)) => before.push_str(text),
        _ => template.parts.push(Part::Text(text.to_owned())),
    }
}

/// Returns the position of the brace that closes a hole. Braces in quotes do not count.
fn end_of(text: &str) -> Option<usize> {
    unquoted_chars(text).find(|(_, letter)| *letter == '}').map(|(at, _)| at)
}
