//! [`read`]: from the topology file's bytes to a [`Lab`].

use wavetank_grammar::{Diagnostic, Diagnostics, FormatSignature, Node, detect_format, parse_yaml, text_of};

use crate::grammar::{Grammar as _, MapName};
use crate::parse::{Reader, read_lab};
use crate::resolve::resolve;
use crate::{Lab, MachineFacts};

/// What a reading needs; everything outside the file is handed in.
pub struct Input<'a> {
    /// The file's name, from which the lab's is taken where the file says none.
    pub name: &'a str,
    /// The file as it is.
    pub bytes: &'a [u8],
    /// What stands in a file that the topology file names, by its name as written (beginning at the topology file's
    /// folder); an error in words, such as `no such file`.
    pub files: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// What is known of the machine.
    pub machine: MachineFacts,
}

/// What came of it.
pub struct Parsed {
    /// The lab; `None` with at least one error among the remarks.
    pub lab: Option<Lab>,
    /// All remarks.
    pub diagnostics: Diagnostics,
    /// The text that places refer to, for [`wavetank_grammar::render`].
    pub text: String,
}

/// Reads a topology file completely: what it says is wrong, alone or between its parts, stands among the remarks.
pub fn read(input: &Input<'_>) -> Parsed {
    let mut out = Diagnostics::default();
    let text = match text_of(input.bytes, &MapName::ADVICE) {
        Ok(text) => text,
        Err(diagnostic) => {
            out.push(diagnostic);
            return Parsed { lab: None, diagnostics: out, text: String::new() };
        }
    };
    let (root, told) = parse_yaml(text, &MapName::ADVICE);
    for diagnostic in told {
        out.push(diagnostic);
    }
    let lab = root.and_then(|root| read_tree(input, &root, &mut out));
    let lab = lab.filter(|_| !out.has_errors());
    Parsed { lab, diagnostics: out, text: text.to_owned() }
}

fn read_tree(input: &Input<'_>, root: &Node, out: &mut Diagnostics) -> Option<Lab> {
    if let Some(told) = foreign(root) {
        out.push(told);
        return None;
    }
    let mut reader = Reader::new(input.files);
    let file = read_lab(&mut reader, root, input.name);
    for diagnostic in reader.out.sorted() {
        out.push(diagnostic.clone());
    }
    // What is wrong between the parts can be told only of parts that read well.
    let file = file.filter(|_| !out.has_errors())?;
    resolve(&file, input.machine, out)
}

/// Other files by their keys.
const FOREIGN: [FormatSignature; 3] = [
    (&["wavetank"], "an experiment", "it goes beside a lab: wavetank lab run LAB.yaml EXPERIMENT.yaml"),
    (&["wavetank_fleet"], "a fleet file", "a lab begins with wavetank_lab: 1"),
    (
        &["services"],
        "a file of Docker Compose",
        "a lab begins with wavetank_lab: 1; its services are hosts there",
    ),
];

/// Files that are no labs.
fn foreign(root: &Node) -> Option<Diagnostic> {
    if root.get("wavetank_lab").is_some() {
        return None;
    }
    detect_format(root, &FOREIGN, &MapName::ADVICE)
}
