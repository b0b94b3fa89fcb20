//! [`Targets`]: the file's targets, and those that a step's whole URL names.

use std::net::SocketAddr;

use wavetank_plan::{RunOptions, TargetUrl, resolve};

use super::{Lowering, Unfit};
use crate::model::{Pick, Target, TlsChoice};
use crate::{At, Diagnostic, Experiment, Place};

/// See the module's description.
pub(super) struct Targets<'e> {
    experiment: &'e Experiment,
    input: &'e Lowering<'e>,
    all: Vec<Known<'e>>,
}

/// One target of the plan.
pub(super) struct Known<'e> {
    name: Option<&'e str>,
    /// Its first URL.
    pub(super) url: TargetUrl,
    /// How TLS is spoken with it, where the file says something of it alone.
    pub(super) tls: Option<&'e TlsChoice>,
    addresses: Vec<SocketAddr>,
}

impl<'e> Targets<'e> {
    pub(super) fn new(experiment: &'e Experiment, input: &'e Lowering<'e>) -> Result<Self, Unfit> {
        let mut this = Self { experiment, input, all: Vec::new() };
        for target in &experiment.targets {
            let known = this.known(target)?;
            this.all.push(known);
        }
        Ok(this)
    }

    fn known(&self, target: &'e Target) -> Result<Known<'e>, Unfit> {
        let first = &target.urls[0].url;
        let later = |place: Place, message: &str, hint: &str| {
            Err(Unfit::from(Diagnostic::error("value_later", place, message, hint)))
        };
        if let Some(Pick::Random | Pick::Weight | Pick::Dns) = target.pick {
            let hint = "pick: in_turn, or one name that resolves to all of them";
            return later(first.place, "a target's URLs are taken in turn in this version", hint);
        }
        if let Some(path) = target.urls.iter().find(|one| one.url.value.path.contains('?')) {
            return later(path.url.place, "a target's URL has a query", "query: in the steps");
        }
        let own_host =
            self.experiment.http.headers.iter().any(|header| header.name.value.eq_ignore_ascii_case("host"));
        let mut addresses = Vec::new();
        for one in &target.urls {
            let url = &one.url.value;
            if (url.tls, &url.path) != (first.value.tls, &first.value.path) {
                let hint = "two targets with names, and to: NAME in the steps";
                return later(one.url.place, "URLs of one target differ in scheme or path", hint);
            }
            if url.host_header() != first.value.host_header() && !own_host {
                let hint = "http: {headers: {host: NAME}} gives all the same; or targets with names";
                return later(one.url.place, "URLs of one target with a Host header each", hint);
            }
            addresses.extend(self.addresses_of(&one.url)?);
        }
        let name = target.name.as_ref().map(|name| name.value.as_str());
        Ok(Known { name, url: first.value.clone(), tls: target.tls.as_ref(), addresses })
    }

    /// What family and sources leave of a name's addresses.
    fn addresses_of(&self, url: &At<TargetUrl>) -> Result<Vec<SocketAddr>, Unfit> {
        let found = (self.input.addresses)(&url.value)?;
        let options = RunOptions {
            ip: self.experiment.http.ip,
            sources: self.input.sources.clone(),
            ..RunOptions::default()
        };
        Ok(resolve::usable_addresses(&options, &url.value, &found)?)
    }

    /// The target of that name; without one the only target.
    pub(super) fn named(&self, name: Option<&At<String>>, place: Place) -> Result<usize, Unfit> {
        let found = match name {
            Some(name) => self.all.iter().position(|known| known.name == Some(name.value.as_str())),
            None => (!self.all.is_empty()).then_some(0),
        };
        found.ok_or_else(|| {
            let message = "this goes nowhere: the file has no such target";
            Diagnostic::error("target_unknown", place, message, "target: http://127.0.0.1:8080").into()
        })
    }

    /// The target that a step's own URL names.
    pub(super) fn of_url(&mut self, url: TargetUrl, place: Place) -> Result<usize, Unfit> {
        let same = |known: &Known<'_>| {
            (&known.url.host, known.url.port, known.url.tls) == (&url.host, url.port, url.tls)
        };
        if let Some(at) = self.all.iter().position(same) {
            return Ok(at);
        }
        let addresses = self.addresses_of(&At::new(url.clone(), place))?;
        self.all.push(Known { name: None, url, tls: None, addresses });
        Ok(self.all.len() - 1)
    }

    /// What stands before every path of a target.
    pub(super) fn base_path(&self, target: usize) -> &str {
        self.all[target].url.path.trim_end_matches('/')
    }

    pub(super) fn all(&self) -> &[Known<'e>] {
        &self.all
    }

    /// All addresses, each once.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        let mut all: Vec<SocketAddr> = self.all.iter().flat_map(|known| known.addresses.clone()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(super) fn into_plan(self) -> Vec<wavetank_plan::Target> {
        let http = &self.experiment.http;
        let host = http.headers.iter().find(|header| header.name.value.eq_ignore_ascii_case("host"));
        let host = host.and_then(|header| header.value.as_fixed());
        let target = |known: Known<'_>| {
            let sni = known.tls.or(http.tls.as_ref()).and_then(|tls| tls.sni.clone());
            wavetank_plan::Target {
                name: known.name.map_or_else(|| known.url.authority(), str::to_owned),
                url: known.url.url(),
                host: host.map_or_else(|| known.url.host_header(), str::to_owned),
                server_name: known.url.tls.then(|| sni.unwrap_or_else(|| known.url.host.clone())),
                addresses: known.addresses,
            }
        };
        self.all.into_iter().map(target).collect()
    }
}
