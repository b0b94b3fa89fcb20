//! Creates hosts from expanded patterns, with interfaces that have no addresses yet.

use std::net::IpAddr;
use wavetank_units::Code;

use wavetank_grammar::{Diagnostic, Diagnostics, Span};

use super::draft::unknown;
use crate::ast::{FileHost, FileInterface, FileLab};
use crate::{Host, Interface, Network};

/// An interface that needs addresses.
pub(super) struct UnassignedInterface {
    /// The indices of the host and of its interface.
    pub(super) host: usize,
    pub(super) interface: usize,
    /// The addresses given in the file for this host.
    pub(super) given: Vec<IpAddr>,
    /// The number of addresses that it needs, including the given ones.
    pub(super) wanted: usize,
    /// Position of the addresses in the file.
    pub(super) place: Span,
}

/// Returns the entry in the file of each host.
pub(super) fn origins(file: &FileLab) -> Vec<&FileHost> {
    file.hosts.iter().flat_map(|host| host.names.iter().map(move |_| host)).collect()
}

/// Creates all hosts and their interfaces.
pub(super) fn hosts(
    file: &FileLab,
    networks: &[Network],
    out: &mut Diagnostics,
) -> (Vec<Host>, Vec<UnassignedInterface>) {
    let (mut hosts, mut plugs): (Vec<Host>, Vec<UnassignedInterface>) = (Vec::new(), Vec::new());
    for of_file in &file.hosts {
        let interfaces = interfaces(of_file, networks, out);
        for (index, name) in of_file.names.iter().enumerate() {
            if hosts.iter().any(|other| other.name == *name) {
                let message = format!("host `{name}` is defined twice");
                let hint = "each host belongs to one key; patterns that overlap share hosts";
                out.push(Diagnostic::error(Code::LabHostTwice, of_file.place, message, hint));
            }
            if name == "localhost" {
                let message = "every host is `localhost` to itself";
                out.push(Diagnostic::error(
                    Code::LabBadName,
                    of_file.place,
                    message,
                    "use another name: app1",
                ));
            }
            for (interface, (_, of_interface)) in interfaces.iter().enumerate() {
                plugs.push(plug(of_interface, (hosts.len(), interface), (index, of_file.names.len())));
            }
            hosts.push(host(of_file, name, hosts.len(), &interfaces));
        }
    }
    (hosts, plugs)
}

/// Returns the network indices of a host, each with its entry in the file. Unknown and duplicate
/// networks are reported.
fn interfaces<'f>(
    host: &'f FileHost,
    networks: &[Network],
    out: &mut Diagnostics,
) -> Vec<(usize, &'f FileInterface)> {
    let mut all: Vec<(usize, &FileInterface)> = Vec::new();
    for interface in &host.networks {
        let (name, place) = (interface.network.value.as_str(), interface.network.place);
        let Some(network) = networks.iter().position(|network| network.name == name) else {
            let known = networks.iter().map(|network| network.name.as_str());
            out.push(unknown(Code::LabNetworkUnknown, "no network", name, place, known));
            continue;
        };
        if all.iter().any(|(other, _)| *other == network) {
            let message = format!("network `{name}` is listed twice");
            let hint = "use one interface on a network; for several addresses: sources: 2";
            out.push(Diagnostic::error(Code::LabNetworkTwice, place, message, hint));
        }
        let hosts = host.names.len();
        if let Some(given) = &interface.addresses
            && ![hosts, hosts * interface.sources as usize].contains(&given.value.len())
        {
            let message = format!("{} addresses for {hosts} hosts", given.value.len());
            let hint = match interface.sources {
                1 => format!("give one to each host: a range of {hosts}"),
                sources => format!("give one to each host, or {sources} to each"),
            };
            out.push(Diagnostic::error(Code::LabAddressesCount, given.place, message, hint));
        }
        all.push((network, interface));
    }
    all
}

/// Selects the addresses of host number `index` out of `hosts` hosts from those given for the whole
/// pattern.
fn plug(
    of_file: &FileInterface,
    (host, interface): (usize, usize),
    (index, hosts): (usize, usize),
) -> UnassignedInterface {
    let wanted = of_file.sources as usize;
    let place = of_file.addresses.as_ref().map_or(of_file.network.place, |given| given.place);
    let given = of_file.addresses.as_ref().map(|given| given.value.as_slice()).unwrap_or_default();
    let each = if given.len() == hosts * wanted { wanted } else { 1 };
    let given = given.chunks(each).nth(index).unwrap_or_default().to_vec();
    UnassignedInterface { host, interface, given, wanted, place }
}

fn host(of_file: &FileHost, name: &str, index: usize, interfaces: &[(usize, &FileInterface)]) -> Host {
    let interface = |(number, (network, of_interface)): (usize, &(usize, &FileInterface))| Interface {
        name: format!("eth{number}"),
        network: *network,
        addresses: Vec::new(),
        mac: mac(*network, index),
        link: of_interface.link,
        place: of_interface.network.place,
    };
    Host {
        name: name.to_owned(),
        role: of_file.role,
        interfaces: interfaces.iter().enumerate().map(interface).collect(),
        virtual_addresses: Vec::new(),
        routes: Vec::new(),
        sysctls: Vec::new(),
        files: of_file.files.clone(),
        limits: of_file.limits.clone(),
        sshd: of_file.sshd,
        services: of_file.services.iter().map(|service| service.service.clone()).collect(),
        place: of_file.place,
    }
}

/// Returns a locally administered hardware address, made of `WT`, the network and the host. A host
/// has one interface on a network, so each address is unique. Other labs have their own switches.
fn mac(network: usize, host: usize) -> [u8; 6] {
    let [_, network] = (network as u16).to_be_bytes();
    let [high, low] = (host as u16).to_be_bytes();
    [0x02, b'W', b'T', network, high, low]
}
