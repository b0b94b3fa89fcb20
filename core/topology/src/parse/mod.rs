//! The tree to the parsed form: every key, every verb; all mistakes told, not only the first.
//!
//! Each part has a module. A reader's function returns `None` after it has said why. What stands in one place of the file
//! alone is judged here; what two places say of each other, when names become hosts ([`crate::resolve`]).

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

/// A map with fixed keys of a lab.
pub(crate) type Keys<'n> = wavetank_grammar::MapReader<'n, MapName>;

/// Names that all patterns of a file stand for together: 256 hosts, each behind 256 balancers.
const NAMES_MAX: usize = 65_536;

/// A mistake has been told, where `None` has a meaning of its own.
#[derive(Debug)]
pub(crate) struct Reported;

/// What every part is handed: the files beside the topology file, and where to tell mistakes.
pub(crate) struct Reader<'a> {
    /// What stands in a file named by the topology file; an error in words where it cannot be read.
    pub(crate) files: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// All remarks so far.
    pub(crate) out: Diagnostics,
    /// Names that patterns may still stand for: a short file of patterns could fill any memory.
    pub(crate) names_left: usize,
}

impl<'a> Reader<'a> {
    /// A reader that has read nothing.
    pub(crate) fn new(files: &'a dyn Fn(&str) -> Result<Vec<u8>, String>) -> Self {
        Self { files, out: Diagnostics::default(), names_left: NAMES_MAX }
    }
}

impl TreeReader for Reader<'_> {
    fn out(&mut self) -> &mut Diagnostics {
        &mut self.out
    }
}
