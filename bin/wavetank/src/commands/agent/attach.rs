//! `wavetank agent attach`.

use wavetank_link::{BridgeError, bridge};
use wavetank_units::UserError;

use super::agent_error::unreachable_agent;
use crate::cli::AgentAttachArgs;

/// Copies bytes between standard input and output and the agent, until one of them ends.
pub(super) fn attach(args: &AgentAttachArgs) -> Result<(), UserError> {
    bridge(&args.dir, std::io::stdin(), std::io::stdout().lock()).map_err(|error| match error {
        BridgeError::NoAgent(error) | BridgeError::Broken(error) => unreachable_agent(&args.dir, &error),
    })
}
