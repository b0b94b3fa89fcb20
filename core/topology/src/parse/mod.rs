//! Reads the syntax tree into the parsed form. Every key and verb is read, and all mistakes are
//! reported, not only the first.
//!
//! Each part has a module. A reader function returns `None` after it has reported a mistake.
//! Mistakes at a single place of the file are found here. Contradictions between two places are
//! found when names are resolved to hosts ([`crate::resolve`]).

mod balancing;
mod fault;
mod health;
mod host;
mod host_files;
mod interface;
mod lab;
mod limits;
mod names;
mod ports;
mod programs;
mod quantity;
mod servers;
mod service;
mod sysctls;
mod tagged_map;
mod text;

pub(crate) use interface::ADDRESSES_MAX;
pub(crate) use lab::read_lab;
pub(crate) use names::expanded;
pub(crate) use wavetank_grammar::TreeReader;

use wavetank_grammar::Diagnostics;

use crate::grammar::MapName;

/// A map with fixed keys in a topology file.
pub(crate) type Keys<'n> = wavetank_grammar::MapReader<'n, MapName>;

/// Maximum number of names to which all patterns of a file expand: 256 hosts, each behind 256
/// balancers.
const NAMES_MAX: usize = 65_536;

/// A mistake has been reported. It is used where `None` has another meaning.
#[derive(Debug)]
pub(crate) struct Reported;

/// The context of all readers: the files next to the topology file, and the diagnostics.
pub(crate) struct Reader<'a> {
    /// Returns the contents of a file named by the topology file. The error is the reason as text
    /// if the file cannot be read.
    pub(crate) files: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// All diagnostics so far.
    pub(crate) out: Diagnostics,
    /// Number of names to which patterns may still expand. Without a limit, a short file could fill
    /// the memory.
    pub(crate) names_left: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader that has read nothing.
    pub(crate) fn new(files: &'a dyn Fn(&str) -> Result<Vec<u8>, String>) -> Self {
        Self { files, out: Diagnostics::default(), names_left: NAMES_MAX }
    }
}

impl TreeReader for Reader<'_> {
    fn out(&mut self) -> &mut Diagnostics {
        &mut self.out
    }
}
