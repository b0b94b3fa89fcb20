//! [`HostCommand`]: the requests of a keeper to a host.

use serde_json::{Value, json};
use wavetank_units::{Code, UserError};

use crate::service::ServiceStatus;

/// One message from the keeper.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HostCommand {
    /// Set up addresses, files, settings.
    Furnish,
    /// Write and check configurations.
    Check,
    /// Start services and wait until they are healthy.
    Start,
    /// End faults and stop services.
    Stop,
    /// Report the state of the services.
    Status,
    /// Pass a client's question to the services.
    Say(Value),
    /// Start a fault.
    Fault(Value),
    /// End a fault.
    FaultEnd(u64),
}

impl HostCommand {
    /// Returns the message as sent.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Furnish => json!({ "do": "furnish" }),
            Self::Check => json!({ "do": "check" }),
            Self::Start => json!({ "do": "start" }),
            Self::Stop => json!({ "do": "stop" }),
            Self::Status => json!({ "do": "status" }),
            Self::Say(say) => json!({ "do": "say", "say": say }),
            Self::Fault(what) => json!({ "do": "fault", "what": what }),
            Self::FaultEnd(id) => json!({ "do": "fault_end", "id": id }),
        }
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    pub(crate) fn read(message: &Value) -> Result<Self, UserError> {
        let value = |key: &str| message[key].clone();
        Ok(match message["do"].as_str().unwrap_or_default() {
            "furnish" => Self::Furnish,
            "check" => Self::Check,
            "start" => Self::Start,
            "stop" => Self::Stop,
            "status" => Self::Status,
            "say" => Self::Say(value("say")),
            "fault" => Self::Fault(value("what")),
            "fault_end" if message["id"].is_u64() => {
                Self::FaultEnd(message["id"].as_u64().unwrap_or_default())
            }
            _ => {
                return Err(UserError::refused(
                    Code::LabMessage,
                    "the host does not know this request",
                    "run `wavetank lab down`, then `wavetank lab up`",
                ));
            }
        })
    }
}

/// The services in a host's status answer.
pub(super) fn services_json(services: &[ServiceStatus]) -> Value {
    let one = |service: &ServiceStatus| {
        let ServiceStatus { name, state, pids, version, said } = service;
        json!({ "name": name, "state": state.as_str(), "pids": pids, "version": version, "said": said })
    };
    json!({ "services": services.iter().map(one).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_what_is_read() {
        let what = json!({ "kill": "haproxy" });
        let all = [
            HostCommand::Furnish,
            HostCommand::Check,
            HostCommand::Start,
            HostCommand::Stop,
            HostCommand::Status,
            HostCommand::Say(what.clone()),
            HostCommand::Fault(what),
            HostCommand::FaultEnd(7),
        ];
        for action in all {
            assert_eq!(HostCommand::read(&action.to_json()), Ok(action));
        }
        for unknown in [json!({}), json!({ "do": "dance" }), json!({ "do": "fault_end" }), json!([])] {
            assert!(HostCommand::read(&unknown).is_err(), "{unknown}");
        }
    }
}
