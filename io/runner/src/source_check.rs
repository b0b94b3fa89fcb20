//! [`check_sources_bindable`]: whether this host has the source addresses of a load.

use std::net::SocketAddr;

use wavetank_driver::bind_probe;
use wavetank_plan::Plan;
use wavetank_units::{Code, UserError};

/// Checks before anything is sent that this host can bind the first address of every source range.
pub fn check_sources_bindable(plan: &Plan) -> Result<(), UserError> {
    for range in &plan.sources.ranges {
        bind_probe(SocketAddr::new(range.first, 0)).map_err(|errno| {
            UserError::refused(
                Code::NoSourceAddress,
                format!("this host cannot bind the source address {}: {errno}", range.first),
                format!("give it to an interface: ip address add {} dev INTERFACE", range.first),
            )
        })?;
    }
    Ok(())
}
