//! [`ProxyYaml`]: the forward proxy, in `plan.yaml`. Of the credentials it only stores that there
//! are any.

use serde::{Deserialize, Serialize};
use wavetank_plan::redact::REDACTED;
use wavetank_plan::{ProxyPlan, ProxyProtocol, Secret};
use wavetank_units::address_text;

use super::target::{read_addresses, without_userinfo};
use crate::DecodeError;

pub(super) const PROXY_PROTOCOLS: [(&str, ProxyProtocol); 2] =
    [("v1", ProxyProtocol::V1), ("v2", ProxyProtocol::V2)];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ProxyYaml {
    url: String,
    addresses: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authorization: Option<String>,
}

impl ProxyYaml {
    pub(super) fn new(proxy: &ProxyPlan) -> Self {
        let ProxyPlan { url, addresses, authorization } = proxy;
        Self {
            url: without_userinfo(url),
            addresses: addresses.iter().map(|address| address_text(*address)).collect(),
            authorization: authorization.as_ref().map(|_| REDACTED.to_owned()),
        }
    }

    pub(super) fn read(&self) -> Result<ProxyPlan, DecodeError> {
        Ok(ProxyPlan {
            url: self.url.clone(),
            addresses: read_addresses(&self.addresses)?,
            authorization: self.authorization.as_deref().map(Secret::new),
        })
    }
}
