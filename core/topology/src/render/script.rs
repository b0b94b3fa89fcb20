//! [`ConfigWriter`]: a configuration while it is being written.

use wavetank_grammar::{Diagnostic, Span};
use wavetank_units::Code;

use crate::{Rendered, Service};

/// A configuration while it is being written. The user may leave out *tuned* directives
/// (`without`). *Needed* directives cannot be left out, because nothing would run without them.
pub(super) struct ConfigWriter<'a> {
    rendered: Rendered,
    service: &'a Service,
    without: &'a [String],
    /// The directives that can be left out, in the order of the file.
    tuned: Vec<String>,
    depth: usize,
    /// The end of a directive.
    end: &'static str,
}

impl<'a> ConfigWriter<'a> {
    /// Creates an empty file with this name. Directives end with `end`.
    pub(super) fn new(path: &str, service: &'a Service, without: &'a [String], end: &'static str) -> Self {
        Self { rendered: Rendered::new(path), service, without, tuned: Vec::new(), depth: 0, end }
    }

    /// Writes a comment on its own line.
    pub(super) fn remark(&mut self, text: &str) {
        for line in text.lines() {
            self.put(&format!("# {line}"), None);
        }
    }

    /// Writes a directive that is required.
    pub(super) fn needed(&mut self, directive: &str, why: &str, origin: Option<Span>) {
        self.reason(why, origin);
        let end = self.end;
        self.put(&format!("{directive}{end}"), origin);
    }

    /// Writes a directive that belongs to the previous one and needs no separate reason.
    pub(super) fn also(&mut self, directive: &str, origin: Option<Span>) {
        self.needed(directive, "", origin);
    }

    /// Writes the directive `name` with its value, unless the user leaves it out.
    pub(super) fn tuned(&mut self, name: &str, value: &str, why: &str, origin: Option<Span>) {
        if self.is_directive_kept(name) {
            self.needed(&format!("{name} {value}"), why, origin);
        }
    }

    /// Writes a directive that follows from a key of the file.
    pub(super) fn directive_from_key(&mut self, name: &str, value: &str, why: &str, key: &str) {
        self.tuned(name, value, why, Some(self.service.place_of(key)));
    }

    /// Whether `name` is kept: a directive, or an argument of a required one.
    pub(super) fn is_directive_kept(&mut self, name: &str) -> bool {
        if !self.tuned.iter().any(|one| one == name) {
            self.tuned.push(name.to_owned());
        }
        !self.without.iter().any(|left_out| left_out == name)
    }

    /// Writes a block on one line, or anything else with its own end.
    pub(super) fn block(&mut self, text: &str, origin: Option<Span>) {
        self.put(text, origin);
    }

    /// Writes the start of a block or section and indents the following lines.
    pub(super) fn open(&mut self, head: &str, origin: Option<Span>) {
        self.put(head, origin);
        self.depth += 1;
    }

    /// Ends a block. `tail` closes it if the language requires that.
    pub(super) fn close(&mut self, tail: &str) {
        self.depth -= 1;
        if !tail.is_empty() {
            self.put(tail, None);
        }
    }

    /// Returns the file, if every directive to leave out occurred in it.
    pub(super) fn finish(self) -> Result<Rendered, Diagnostic> {
        let Self { rendered, service, without, tuned, .. } = self;
        match without.iter().find(|left_out| !tuned.contains(left_out)) {
            None => Ok(rendered),
            Some(unknown) => Err(Diagnostic::error(
                Code::LabWithout,
                service.place_of("without"),
                format!("`{unknown}` is not a directive that can be left out of `{}`", service.name),
                format!("one of: {}", tuned.join(", ")),
            )),
        }
    }

    fn reason(&mut self, why: &str, origin: Option<Span>) {
        for line in why.lines() {
            self.put(&format!("# {line}"), origin);
        }
    }

    fn put(&mut self, line: &str, origin: Option<Span>) {
        let line = format!("{:1$}{line}", "", self.depth * 4);
        self.rendered.line(&line, origin);
    }
}
