//! Resolves names to hosts: turns the parsed file into a [`Lab`] and checks its parts against each
//! other.
//!
//! The order follows the dependencies: networks, hosts, addresses, servers behind balancers,
//! virtual addresses, routes, kernel settings, faults. Configurations depend on all of them and
//! come last. If a part fails, the error is reported and the following parts still run where
//! possible. One pass therefore reports as many mistakes as possible.

mod addresses;
mod balancers;
mod configurations;
mod conflicts;
mod draft;
mod faults;
mod hosts;
mod networks;
mod resource_limits;
mod routes;
mod sysctls;
mod total_size;
mod virtual_addresses;

use wavetank_grammar::Diagnostics;
use wavetank_units::Code;

use crate::ast::FileLab;
use crate::{Lab, MachineFacts};
use draft::{Draft, unknown};

/// Returns the lab of a file, or `None` after at least one error.
pub(crate) fn resolve(file: &FileLab, machine: MachineFacts, out: &mut Diagnostics) -> Option<Lab> {
    total_size::check(file, out);
    if out.has_errors() {
        return None;
    }
    let networks = networks::networks(file, out);
    let (hosts, plugs) = hosts::hosts(file, &networks, out);
    let mut draft = Draft { networks, hosts, origins: hosts::origins(file) };
    if out.has_errors() {
        server_names(file, out);
        return None;
    }
    addresses::assign(&mut draft, &plugs, out);
    if out.has_errors() {
        return None;
    }
    balancers::join(&mut draft, out);
    virtual_addresses::join(&mut draft, out);
    routes::join(&mut draft, out);
    sysctls::apply(&mut draft, out);
    conflicts::check(&draft, out);
    resource_limits::check(&draft, machine, out);
    let mut faults = faults::faults(file, &draft, out);
    if out.has_errors() {
        return None;
    }
    configurations::check(&draft, machine, out);
    if out.has_errors() {
        return None;
    }
    faults.sort_by_key(|fault| fault.when);
    Some(Lab { name: file.name.clone(), networks: draft.networks, hosts: draft.hosts, faults })
}

/// Reports names of networks and servers that a file with other mistakes does not have, if it was
/// possible to read `all` its networks and hosts.
pub(crate) fn resolve_names(file: &FileLab, all: (bool, bool), out: &mut Diagnostics) {
    let known = file.networks.iter().map(|network| network.name.value.as_str());
    for network in file.hosts.iter().flat_map(|host| &host.networks).map(|interface| &interface.network) {
        if all.0 && !known.clone().any(|name| name == network.value) {
            out.push(unknown(
                Code::LabNetworkUnknown,
                "no network",
                &network.value,
                network.place,
                known.clone(),
            ));
        }
    }
    if all.1 {
        server_names(file, out);
    }
}

/// Reports servers behind balancers that are no hosts.
fn server_names(file: &FileLab, out: &mut Diagnostics) {
    let known = file.hosts.iter().flat_map(|host| &host.names).map(String::as_str);
    let services = file.hosts.iter().flat_map(|host| &host.services);
    for server in services.flat_map(|service| &service.servers) {
        for name in server.names.iter().filter(|name| !known.clone().any(|own| own == **name)) {
            out.push(unknown(Code::LabHostUnknown, "no host", name, server.place, known.clone()));
        }
    }
}
