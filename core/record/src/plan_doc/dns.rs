//! [`DnsYaml`]: how names are looked up again, in `plan.yaml`.

use serde::{Deserialize, Serialize};
use wavetank_plan::{DnsPolicy, DnsRefreshPlan, IpFamily, RefreshedName};

use super::exact_quantity::exact_duration;
use super::names::one_of;
use crate::DecodeError;

const FAMILIES: [(&str, IpFamily); 2] = [("4", IpFamily::V4), ("6", IpFamily::V6)];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct DnsYaml {
    again: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ip: Option<String>,
    /// In the targets' order.
    targets: Vec<WayYaml>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WayYaml {
    names: Vec<NameYaml>,
    #[serde(default, skip_serializing_if = "super::is_default")]
    first_only: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct NameYaml {
    host: String,
    port: u16,
}

impl DnsYaml {
    pub(super) fn new(renewal: &DnsRefreshPlan) -> Self {
        let DnsRefreshPlan { when, ip, ways, unreached: _ } = renewal;
        let name = |(host, port): &(String, u16)| NameYaml { host: host.clone(), port: *port };
        let way = |RefreshedName { names, first_only }: &RefreshedName| WayYaml {
            names: names.iter().map(name).collect(),
            first_only: *first_only,
        };
        Self {
            again: match when {
                DnsPolicy::Once => "once".to_owned(),
                DnsPolicy::EachSession => "each_session".to_owned(),
                DnsPolicy::Every(time) => exact_duration(*time),
            },
            ip: ip.map(|family| super::names::name_of(family, &FAMILIES).to_owned()),
            targets: ways.iter().map(way).collect(),
        }
    }

    pub(super) fn read(&self) -> Result<DnsRefreshPlan, DecodeError> {
        let way = |way: &WayYaml| RefreshedName {
            names: way.names.iter().map(|name| (name.host.clone(), name.port)).collect(),
            first_only: way.first_only,
        };
        Ok(DnsRefreshPlan {
            when: DnsPolicy::parse(&self.again).map_err(|error| DecodeError::new(error.message))?,
            ip: self.ip.as_deref().map(|name| one_of(name, &FAMILIES)).transpose()?,
            ways: self.targets.iter().map(way).collect(),
            unreached: Vec::new(),
        })
    }
}
