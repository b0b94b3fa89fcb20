//! Networks, which must not overlap.

use wavetank_grammar::{Diagnostic, Diagnostics};
use wavetank_units::Code;

use crate::Network;
use crate::ast::FileLab;

/// Returns the networks of the file. A network that overlaps an earlier one is reported.
pub(super) fn networks(file: &FileLab, out: &mut Diagnostics) -> Vec<Network> {
    let mut all: Vec<Network> = Vec::new();
    for network in &file.networks {
        if let Some(other) = all.iter().find(|other| other.subnet.overlaps(network.subnet.value)) {
            let (own, theirs) = (network.subnet.value, other.subnet);
            let message = format!("`{own}` overlaps network `{}`, which is {theirs}", other.name);
            let hint = "networks of a lab have no address in common: 10.30.0.0/24 and 10.30.1.0/24";
            out.push(Diagnostic::error(Code::LabOverlap, network.subnet.place, message, hint));
        }
        let (name, place) = (network.name.value.clone(), network.name.place);
        all.push(Network { name, subnet: network.subnet.value, place });
    }
    all
}
