//! [`Rendered`]: a generated configuration.

use wavetank_grammar::Span;

/// A file made from a lab, with the reason for each of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Its name inside the folder of its service.
    pub path: String,
    /// What stands in it.
    pub text: String,
    /// For each line of `text`, in their order, the place in the topology file that caused it; `None` where nothing but
    /// our own tuning did.
    pub origins: Vec<Option<Span>>,
}

impl Rendered {
    /// An empty file of that name.
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), ..Self::default() }
    }

    /// Adds one line, or several of the same origin, without the newline at their end.
    pub fn line(&mut self, text: &str, origin: Option<Span>) {
        for line in text.split('\n') {
            self.text.push_str(line);
            self.text.push('\n');
            self.origins.push(origin);
        }
    }

    /// What caused line `number`, counted from 1 as programs' messages do; where our tuning did, the nearest line above
    /// it that the topology file caused.
    pub fn origin_of(&self, number: usize) -> Option<Span> {
        let upto = number.min(self.origins.len());
        self.origins[..upto].iter().rev().find_map(|origin| *origin)
    }
}
