//! [`TargetYaml`]: where requests go, in `plan.yaml`.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use wavetank_plan::Target;
use wavetank_units::{address_text, parse_address};

use super::pick::SelectionYaml;
use super::tls::TlsYaml;
use crate::DecodeError;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TargetYaml {
    name: String,
    url: String,
    host: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server_name: Option<String>,
    addresses: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls: Option<TlsYaml>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pick: Option<SelectionYaml>,
}

impl TargetYaml {
    pub(super) fn new(target: &Target) -> Self {
        let Target { name, url, host, server_name, addresses, tls, pick } = target;
        Self {
            name: name.clone(),
            url: without_userinfo(url),
            host: host.clone(),
            server_name: server_name.clone(),
            addresses: addresses.iter().map(|address| address_text(*address)).collect(),
            tls: tls.as_deref().map(TlsYaml::new),
            pick: pick.as_ref().map(SelectionYaml::new),
        }
    }

    pub(super) fn read(&self) -> Result<Target, DecodeError> {
        Ok(Target {
            name: self.name.clone(),
            url: self.url.clone(),
            host: self.host.clone(),
            server_name: self.server_name.clone(),
            addresses: read_addresses(&self.addresses)?,
            tls: self.tls.as_ref().map(|tls| tls.read().map(Box::new)).transpose()?,
            pick: self.pick.as_ref().map(SelectionYaml::read).transpose()?,
        })
    }
}

pub(super) fn read_addresses(texts: &[String]) -> Result<Vec<SocketAddr>, DecodeError> {
    let read = |text: &String| {
        parse_address(text).ok_or_else(|| DecodeError::new(format!("`{text}` is not an address with a port")))
    };
    texts.iter().map(read).collect()
}

/// Returns `http://user:password@host/` without user and password. The plan should not contain
/// them; this makes sure.
pub(super) fn without_userinfo(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..authority].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}
