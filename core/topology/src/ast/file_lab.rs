//! [`FileLab`]: the whole file.

use wavetank_grammar::Spanned;

use super::{FileFault, FileHost};
use crate::Subnet;

/// The whole file.
pub(crate) struct FileLab {
    pub(crate) name: String,
    pub(crate) networks: Vec<FileNetwork>,
    pub(crate) hosts: Vec<FileHost>,
    pub(crate) faults: Vec<FileFault>,
}

/// A network and its addresses.
pub(crate) struct FileNetwork {
    pub(crate) name: Spanned<String>,
    pub(crate) subnet: Spanned<Subnet>,
}
