//! [`FileHost`]: a host, or the hosts of a pattern.

use std::net::IpAddr;

use wavetank_grammar::{Span, Spanned};

use super::{FileInterface, FileService};
use crate::{HostFile, Limits, Role, Subnet};

/// A host, or the hosts of a pattern.
pub(crate) struct FileHost {
    /// Names that the key stands for; never none.
    pub(crate) names: Vec<String>,
    /// Where the key stands.
    pub(crate) place: Span,
    pub(crate) role: Role,
    pub(crate) networks: Vec<FileInterface>,
    pub(crate) virtuals: Vec<FileVirtual>,
    pub(crate) routes: Vec<FileRoute>,
    /// Keys with dots, and values.
    pub(crate) sysctls: Vec<(Spanned<String>, String)>,
    pub(crate) files: Vec<HostFile>,
    pub(crate) limits: Limits,
    pub(crate) sshd: bool,
    pub(crate) services: Vec<FileService>,
}

/// A virtual address and the network, or `lo`.
pub(crate) struct FileVirtual {
    pub(crate) address: Spanned<IpAddr>,
    pub(crate) on: Spanned<String>,
    pub(crate) name: Option<String>,
}

/// A route; `via` is a host's name or an address.
pub(crate) struct FileRoute {
    pub(crate) place: Span,
    /// `None`: the default route, of the family that `via` has.
    pub(crate) to: Option<Spanned<Subnet>>,
    pub(crate) via: Spanned<String>,
}
