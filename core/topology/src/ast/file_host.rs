//! [`FileHost`]: a host, or the hosts of a pattern.

use std::net::IpAddr;

use wavetank_grammar::{Span, Spanned};

use super::{FileInterface, FileService};
use crate::{HostFile, Limits, Role, Subnet};

/// A host, or the hosts of a pattern.
pub(crate) struct FileHost {
    /// The host names that the key expands to; never empty.
    pub(crate) names: Vec<String>,
    /// Position of the key.
    pub(crate) place: Span,
    pub(crate) role: Role,
    pub(crate) networks: Vec<FileInterface>,
    pub(crate) virtuals: Vec<FileVirtual>,
    pub(crate) routes: Vec<FileRoute>,
    /// Dotted sysctl keys with their values.
    pub(crate) sysctls: Vec<(Spanned<String>, String)>,
    pub(crate) files: Vec<HostFile>,
    pub(crate) limits: Limits,
    pub(crate) sshd: bool,
    pub(crate) services: Vec<FileService>,
}

/// A virtual address with its network or `lo`.
pub(crate) struct FileVirtual {
    pub(crate) address: Spanned<IpAddr>,
    pub(crate) on: Spanned<String>,
    pub(crate) name: Option<String>,
}

/// A route; `via` is a host's name or an address.
pub(crate) struct FileRoute {
    pub(crate) place: Span,
    /// The destination; `None` is the default route of the address family of `via`.
    pub(crate) to: Option<Spanned<Subnet>>,
    pub(crate) via: Spanned<String>,
}
