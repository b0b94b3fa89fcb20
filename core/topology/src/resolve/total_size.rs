//! Limits the total size of the contents that a file gives to all hosts together, since a pattern
//! multiplies them.

use wavetank_grammar::{Diagnostic, Diagnostics, Span};
use wavetank_units::Code;
use wavetank_units::quantity::show_size;

use crate::ast::{FileHost, FileLab};
use crate::{NginxPage, NginxWork, Service, ServiceKind};

/// Maximum total size in bytes of the texts of all hosts (`files`, `config`). Each host has its own
/// copy, and the lab's processes pass all of them to each other.
const TEXTS_MAX: u64 = 6 << 20;

/// Maximum total size in bytes of the pages of all servers. They are stored below `/run`, which is
/// memory.
const PAGES_MAX: u64 = 1 << 30;

/// Reports the first host with which the total becomes too large. This check comes before hosts are
/// expanded, because expanding them would use the memory.
pub(super) fn check(file: &FileLab, out: &mut Diagnostics) {
    let (mut texts, mut pages) = (0_u64, 0_u64);
    for host in &file.hosts {
        let hosts = host.names.len() as u64;
        texts = texts.saturating_add(hosts * texts_of(host));
        if texts > TEXTS_MAX {
            let hint = format!("at most {}; each host of a pattern counts", show_size(TEXTS_MAX));
            return too_much(texts, "texts of files", host.place, hint, out);
        }
        pages = pages.saturating_add(hosts * pages_of(host));
        if pages > PAGES_MAX {
            let hint =
                format!("at most {}; each host of a pattern and each copy counts", show_size(PAGES_MAX));
            return too_much(pages, "pages", host.place, hint, out);
        }
    }
}

fn too_much(bytes: u64, what: &str, place: Span, hint: String, out: &mut Diagnostics) {
    let message = format!("with this host {what} of the lab amount to {}", show_size(bytes));
    out.push(Diagnostic::error(Code::LabTooMany, place, message, hint));
}

/// Returns the bytes of texts of each host.
fn texts_of(host: &FileHost) -> u64 {
    let files = host.files.iter().map(|file| file.text.len());
    let configs = host.services.iter().filter_map(|service| match &service.service.kind {
        ServiceKind::Nginx(nginx) => nginx.own.config.as_ref(),
        ServiceKind::Haproxy(haproxy) => haproxy.own.config.as_ref(),
        ServiceKind::Ipvs(ipvs) => ipvs.own.config.as_ref(),
        _ => None,
    });
    files.chain(configs.map(|config| config.text.len())).map(|bytes| bytes as u64).sum()
}

/// Returns the bytes of pages of each host.
fn pages_of(host: &FileHost) -> u64 {
    let of = |service: &Service| match &service.kind {
        ServiceKind::Nginx(nginx) => match &nginx.work {
            NginxWork::Static { pages } => pages.iter().map(|page: &NginxPage| page.bytes).sum(),
            _ => 0,
        },
        _ => 0_u64,
    };
    host.services.iter().map(|one| of(&one.service) * u64::from(one.service.copies.max(1))).sum()
}
