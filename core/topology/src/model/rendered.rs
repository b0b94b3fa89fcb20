//! [`Rendered`]: a generated configuration.

use wavetank_grammar::Span;

/// A file made from a lab, with the reason for each of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Its name inside the folder of its service.
    pub path: String,
    /// Its contents.
    pub text: String,
    /// For each line of `text`, the position in the topology file that caused it. `None` if only
    /// our own tuning caused it.
    pub origins: Vec<Option<Span>>,
}

impl Rendered {
    /// Creates an empty file with this name.
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), ..Self::default() }
    }

    /// Appends one line, or several of the same origin, without the newline at their end.
    pub fn line(&mut self, text: &str, origin: Option<Span>) {
        for line in text.split('\n') {
            self.text.push_str(line);
            self.text.push('\n');
            self.origins.push(origin);
        }
    }

    /// Returns the origin of line `number`, counted from 1 as in messages of programs. For a line
    /// caused by our own tuning, this is the origin of the nearest line above that the topology
    /// file caused.
    pub fn origin_of(&self, number: usize) -> Option<Span> {
        let upto = number.min(self.origins.len());
        self.origins[..upto].iter().rev().find_map(|origin| *origin)
    }
}
