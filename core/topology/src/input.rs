//! [`read`]: from the topology file's bytes to a [`Lab`].

use wavetank_grammar::{
    Diagnostic, Diagnostics, FormatSignature, Grammar as _, Node, detect_format, parse_yaml, text_of,
};

use crate::grammar::MapName;
use crate::parse::{Reader, read_lab};
use crate::resolve::{resolve, resolve_names};
use crate::{Lab, MachineFacts};

/// The input of [`read`]. It includes everything that is needed from outside the file.
pub struct Input<'a> {
    /// The file's name. It provides the lab's name if the file gives none.
    pub name: &'a str,
    /// The bytes of the file.
    pub bytes: &'a [u8],
    /// Returns the contents of a file that the topology file names. The argument is the name as
    /// written, relative to the folder of the topology file. The error is a text such as `no such
    /// file`.
    pub files: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// Known facts about the machine.
    pub machine: MachineFacts,
}

/// The result of [`read`].
pub struct Parsed {
    /// The lab; `None` if the diagnostics contain at least one error.
    pub lab: Option<Lab>,
    /// All diagnostics.
    pub diagnostics: Diagnostics,
    /// The text that spans refer to, for [`wavetank_grammar::render`].
    pub text: String,
}

/// Reads a topology file completely. All mistakes, within one part or between parts, are among the
/// diagnostics.
pub fn read(input: &Input<'_>) -> Parsed {
    let mut out = Diagnostics::default();
    let text = match text_of(input.bytes, &MapName::ADVICE) {
        Ok(text) => text,
        Err(diagnostic) => {
            out.push(diagnostic);
            return Parsed { lab: None, diagnostics: out, text: String::new() };
        }
    };
    let (root, reported) = parse_yaml(text, &MapName::ADVICE);
    for diagnostic in reported {
        out.push(diagnostic);
    }
    let lab = root.and_then(|root| read_tree(input, &root, &mut out));
    let lab = lab.filter(|_| !out.has_errors());
    Parsed { lab, diagnostics: out, text: text.to_owned() }
}

fn read_tree(input: &Input<'_>, root: &Node, out: &mut Diagnostics) -> Option<Lab> {
    if let Some(reported) = foreign(root) {
        out.push(reported);
        return None;
    }
    let mut reader = Reader::new(input.files);
    let file = read_lab(&mut reader, root, input.name);
    for diagnostic in reader.out.sorted() {
        out.push(diagnostic.clone());
    }
    let file = file?;
    if out.has_errors() {
        // Most mistakes between parts can be found only if all parts were read. Of names, those are
        // known that the file has.
        let all = |key: &str, read: usize| {
            root.get(key).and_then(Node::entries).is_some_and(|entries| entries.len() == read)
        };
        let hosts = all("hosts", file.hosts.len());
        resolve_names(&file, (all("networks", file.networks.len()), hosts), out);
        return None;
    }
    resolve(&file, input.machine, out)
}

/// Keys by which other files are recognised.
const FOREIGN: [FormatSignature; 3] = [
    (&["wavetank"], "an experiment", "run it in a lab: wavetank lab run LAB.yaml EXPERIMENT.yaml"),
    (&["wavetank_fleet"], "a fleet file", "a lab begins with wavetank_lab: 1"),
    (
        &["services"],
        "a file of Docker Compose",
        "a lab begins with wavetank_lab: 1; its services are hosts there",
    ),
];

/// Returns a diagnostic if the file is not a topology file but a known file of another kind.
fn foreign(root: &Node) -> Option<Diagnostic> {
    if root.get("wavetank_lab").is_some() {
        return None;
    }
    detect_format(root, &FOREIGN, &MapName::ADVICE)
}
