//! Remarks as a person reads them: place, the line itself, a hint. Understandable without colour.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::{Diagnostic, Diagnostics, Severity, Span};

/// Longer lines are not printed, because the marked place would be hard to find in them.
const LINE_CHARS_MAX: usize = 240;
/// Wide enough for every line that is shown.
const COLUMNS: usize = 300;

/// Renders all diagnostics of the file `name` with the content `text`, one below the other, and a
/// last line with their number.
pub fn render(diagnostics: &Diagnostics, name: &str, text: &str) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics.sorted() {
        out.push_str(&render_one(diagnostic, name, text));
        out.push_str("\n\n");
    }
    if diagnostics.omitted() > 0 {
        writeln!(out, "… and {} more like these\n", diagnostics.omitted()).expect("text takes everything");
    }
    match diagnostics.errors() {
        0 => {}
        1 => out.push_str("1 error\n"),
        some => writeln!(out, "{some} errors").expect("text takes everything"),
    }
    out
}

/// Renders one diagnostic with the line that it refers to.
pub fn render_one(diagnostic: &Diagnostic, name: &str, text: &str) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.as_str());
    let mut group = match diagnostic.place {
        Some(place) => at_place(Group::with_title(title), place, name, text),
        None => Group::with_title(title).element(Origin::path(name)),
    };
    if !diagnostic.hint.is_empty() {
        group = group.element(Level::HELP.with_name("hint").message(diagnostic.hint.as_str()));
    }
    Renderer::plain().term_width(COLUMNS).render(&[group])
}

fn at_place<'a>(group: Group<'a>, place: Span, name: &'a str, text: &'a str) -> Group<'a> {
    let origin = || Origin::path(name).line(place.line).char_column(place.column);
    let Some((line, from)) = line_of(text, place.start) else { return group.element(origin()) };
    if line.chars().count() > LINE_CHARS_MAX {
        return group.element(origin());
    }
    let start = place.start - from;
    // A range that continues on the next line is marked to the end of this one.
    let end = place.end.saturating_sub(from).clamp(start, line.len());
    let end = if line.is_char_boundary(end) { end } else { line.len() };
    let snippet = Snippet::source(line).line_start(place.line).path(name);
    group.element(snippet.annotation(AnnotationKind::Primary.span(start..end)))
}

/// The line that holds byte `at`, and where it begins; `None` if the text has no such byte.
fn line_of(text: &str, at: usize) -> Option<(&str, usize)> {
    if at > text.len() || !text.is_char_boundary(at) {
        return None;
    }
    let from = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let to = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    Some((text[from..to].trim_end_matches('\r'), from))
}
