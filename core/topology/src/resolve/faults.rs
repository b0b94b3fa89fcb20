//! Resolves faults to existing services and interfaces.

use wavetank_grammar::{Diagnostic, Diagnostics};
use wavetank_units::Code;

use super::draft::{Draft, unknown};
use crate::ast::{FileFault, FileFaultKind, FileLab};
use crate::{Fault, FaultKind, ServiceKind};

/// Returns the faults of the file, one for each host.
pub(super) fn faults(file: &FileLab, draft: &Draft<'_>, out: &mut Diagnostics) -> Vec<Fault> {
    let mut all = Vec::new();
    for of_file in &file.faults {
        for name in &of_file.hosts.value {
            let Some(host) = draft.host_named(name, of_file.hosts.place, out) else { continue };
            let Some(what) = what(draft, host, of_file, out) else { continue };
            let (when, lasts, place) = (of_file.when, of_file.lasts, of_file.place);
            all.push(Fault { when, lasts, host: name.clone(), what, place });
        }
    }
    all
}

fn what(draft: &Draft<'_>, host: usize, of_file: &FileFault, out: &mut Diagnostics) -> Option<FaultKind> {
    let kind = match of_file.kind {
        FileFaultKind::Cut => FaultKind::Cut { interface: interface(draft, host, of_file, out)? },
        FileFaultKind::Drop(share_ppm) => {
            FaultKind::Drop { interface: interface(draft, host, of_file, out)?, share_ppm }
        }
        FileFaultKind::Kill => FaultKind::Kill { service: service(draft, host, of_file, out)? },
        FileFaultKind::Stop => FaultKind::Stop { service: service(draft, host, of_file, out)? },
        FileFaultKind::Pause => FaultKind::Pause { service: process(draft, host, of_file, out)? },
        FileFaultKind::Files(limit) => {
            FaultKind::Files { service: process(draft, host, of_file, out)?, limit }
        }
        FileFaultKind::Slow(delay) => FaultKind::Slow { service: process(draft, host, of_file, out)?, delay },
    };
    Some(kind)
}

/// Returns the host's interface on the network that the file names.
fn interface(draft: &Draft<'_>, host: usize, of_file: &FileFault, out: &mut Diagnostics) -> Option<String> {
    let (name, place) = (of_file.of.value.as_str(), of_file.of.place);
    let interfaces = &draft.hosts[host].interfaces;
    let name_of = |interface: &crate::Interface| draft.networks[interface.network].name.as_str();
    let found = interfaces.iter().find(|interface| name_of(interface) == name);
    if found.is_none() {
        let lacks = format!("`{}` is not on network", draft.hosts[host].name);
        out.push(unknown(Code::LabNetworkUnknown, &lacks, name, place, interfaces.iter().map(name_of)));
    }
    found.map(|interface| interface.name.clone())
}

/// Returns the host's service that the file names.
fn service(draft: &Draft<'_>, host: usize, of_file: &FileFault, out: &mut Diagnostics) -> Option<String> {
    let (name, place) = (of_file.of.value.as_str(), of_file.of.place);
    let host = &draft.hosts[host];
    if host.service(name).is_none() {
        let lacks = format!("`{}` has no service", host.name);
        let known = host.services.iter().map(|service| service.name.as_str());
        out.push(unknown(Code::LabServiceUnknown, &lacks, name, place, known));
        return None;
    }
    Some(name.to_owned())
}

/// Like [`service`], for faults that apply to processes only.
fn process(draft: &Draft<'_>, host: usize, of_file: &FileFault, out: &mut Diagnostics) -> Option<String> {
    let name = service(draft, host, of_file, out)?;
    let kind = draft.hosts[host].service(&name).map(|service| &service.kind)?;
    if matches!(kind, ServiceKind::DirectRouting(_) | ServiceKind::Nat(_)) {
        let message = format!("`{name}` is not a process: the kernel forwards its packets");
        let hint = "kill or stop it, or cut its host's network";
        out.push(Diagnostic::error(Code::LabFault, of_file.of.place, message, hint));
        return None;
    }
    Some(name)
}
