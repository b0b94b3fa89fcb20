//! The examples that ship are read without an error, and are those of the schema.

use crate::support;

use support::{example_names, example_text, reading};
use wavetank_grammar::{Severity, render};

#[test]
fn all_are_read() {
    for name in example_names() {
        let text = example_text(&name);
        let reading = reading(&name, text.as_bytes(), &[]);
        let shown = render(&reading.diagnostics, &name, &reading.text);
        assert!(reading.experiment.is_some(), "{name}:\n{shown}");
        let warnings = reading.diagnostics.sorted().iter().any(|one| one.severity != Severity::Note);
        assert!(!warnings, "{name}:\n{shown}");
    }
}
