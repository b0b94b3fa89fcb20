//! Checks of UDP that are made before the run.

use wavetank_grammar::{Diagnostic, Span};
use wavetank_plan::{Plan, Target, Template, TemplatePart, UrlProtocol};
use wavetank_units::quantity::format_grouped;
use wavetank_units::{Code, UserError};

use super::LowerError;
use crate::placeless::PLACE;

/// The maximum number of bytes of a datagram over IPv4: 65,535 without the headers of IP and UDP.
const DATAGRAM_BYTES_MAX: usize = 65_507;

/// Checks that UDP can carry what a step sends, as far as it is the same for all sessions.
pub(super) fn check_length(datagram: &Template, place: Span) -> Result<(), LowerError> {
    let fixed = datagram.pieces.iter().map(|piece| match piece {
        TemplatePart::Fixed(bytes) => bytes.len(),
        TemplatePart::Hole(_) => 0,
    });
    let length: usize = fixed.sum();
    if length <= DATAGRAM_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "a datagram has at most {} bytes, and this one has {}",
        format_grouped(DATAGRAM_BYTES_MAX as u64),
        format_grouped(length as u64)
    );
    let hint = "send less, or split it into several steps";
    let diagnostic = Diagnostic::error(Code::DatagramLength, place, message, hint);
    Err(Diagnostic { place: (place != PLACE).then_some(place), ..diagnostic }.into())
}

/// Checks that a plan with UDP sends its datagrams to the target itself.
///
/// # Errors
/// A proxy, and the header of the PROXY protocol.
pub(super) fn check_path(plan: &Plan) -> Result<(), UserError> {
    if !plan.targets.iter().map(Target::protocol).any(|protocol| protocol == UrlProtocol::Udp) {
        return Ok(());
    }
    let conflict = |message: &str, hint: &str| Err(UserError::usage(Code::Conflict, message, hint));
    if plan.http.proxy.is_some() {
        return conflict("an HTTP proxy carries no UDP", "leave the proxy out");
    }
    if plan.http.proxy_protocol.is_some() {
        let message = "the PROXY protocol is not supported over UDP";
        return conflict(message, "leave proxy_protocol out");
    }
    Ok(())
}
