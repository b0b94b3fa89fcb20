//! [`Targets`]: the file's targets, and those of steps with a whole URL.

use std::net::SocketAddr;
use wavetank_units::Code;

use wavetank_grammar::{Diagnostic, Span, Spanned};
use wavetank_plan::{
    DnsRefreshPlan, PickOrder, RefreshedName, ScenarioMix, TargetSelection, TargetUrl, TlsPlan,
};

use super::shared::too_many;
use super::{LowerContext, LowerError};
use crate::model::{Experiment, Pick, Target, TargetAddress, TlsSettings};

/// See the module's description.
pub(super) struct Targets<'e> {
    experiment: &'e Experiment,
    input: &'e LowerContext<'e>,
    all: Vec<ResolvedTarget<'e>>,
}

/// Maximum number of URLs of one target with different requests: each step is prepared for each
/// URL.
const CHOICE_MAX: usize = 256;

/// One target of the plan.
#[derive(Clone)]
pub(super) struct ResolvedTarget<'e> {
    name: Option<&'e str>,
    /// Its first URL.
    pub(super) url: TargetUrl,
    /// TLS settings of this target alone.
    pub(super) tls: Option<&'e TlsSettings>,
    addresses: Vec<SocketAddr>,
    /// The name from which the addresses were resolved.
    way: RefreshedName,
    /// Set if it represents several targets, which follow it.
    pick: Option<TargetSelection>,
    /// Whether it is one of the targets after such an entry.
    member: bool,
}

impl<'e> Targets<'e> {
    /// The number of targets, with each URL of those that have several.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn new(experiment: &'e Experiment, input: &'e LowerContext<'e>) -> Result<Self, LowerError> {
        let mut this = Self { experiment, input, all: Vec::new() };
        for target in &experiment.targets {
            this.add(target)?;
        }
        Ok(this)
    }

    /// Adds a target of the plan for each of these URLs, after one that represents all. URLs with
    /// equal requests become a single target: then every connection takes the next address.
    fn add(&mut self, target: &'e Target) -> Result<(), LowerError> {
        let first = &target.urls[0].url;
        if let Some(path) = target.urls.iter().find(|one| has_unused_query(one)) {
            return later(path.url.place, "a target's URL has a query", "use query: in the steps");
        }
        if let Some(other) = target.urls.iter().find(|one| one.url.value.path != first.value.path) {
            let hint = "use two named targets, and to: NAME in the steps";
            return later(other.url.place, "URLs of one target differ in their paths", hint);
        }
        let own_host =
            self.experiment.http.headers.iter().any(|header| header.name.value.eq_ignore_ascii_case("host"));
        let is_alike = |url: &TargetUrl| {
            url.scheme() == first.value.scheme()
                && (own_host || url.host_header() == first.value.host_header())
        };
        let first_only = target.pick == Some(Pick::Dns);
        let in_turn = matches!(target.pick, None | Some(Pick::InTurn | Pick::Dns));
        let found = |one: &TargetAddress| {
            let mut found = self.addresses_of(&one.url)?;
            found.truncate(if first_only { 1 } else { usize::MAX });
            Ok::<_, LowerError>(found)
        };
        let addresses = target.urls.iter().map(found).collect::<Result<Vec<_>, _>>()?;
        let point = |one: &TargetAddress| self.experiment.connect_point(&one.url.value);
        let name = target.name.as_ref().map(|name| name.value.as_str());
        let known = ResolvedTarget {
            name,
            url: first.value.clone(),
            tls: target.tls.as_ref(),
            addresses: addresses.concat(),
            way: RefreshedName { names: target.urls.iter().map(point).collect(), first_only },
            pick: None,
            member: false,
        };
        if target.urls.len() == 1 || (in_turn && target.urls.iter().all(|one| is_alike(&one.url.value))) {
            self.all.push(known);
            return Ok(());
        }
        if target.urls.len() > CHOICE_MAX {
            let message = format!(
                "{} URLs with their own Host header; a target has at most {CHOICE_MAX} of them",
                target.urls.len()
            );
            let hint = "set one Host with http: {headers: {host: NAME}}, or use several named targets";
            return Err(Diagnostic::error(Code::TooMany, first.place, message, hint).into());
        }
        let index = |at: usize| u16::try_from(self.all.len() + 1 + at).map_err(|_| too_many("targets"));
        let weights = target.urls.iter().map(|one| one.weight.unwrap_or(1)).enumerate();
        let of: Result<Vec<_>, LowerError> = weights.map(|(at, weight)| Ok((index(at)?, weight))).collect();
        let order = if in_turn { PickOrder::InTurn } else { PickOrder::Random };
        let of = ScenarioMix::new(of?).ok_or_else(|| too_many("shares of the weights"))?;
        let members = target.urls.iter().zip(addresses).map(|(one, addresses)| ResolvedTarget {
            url: one.url.value.clone(),
            addresses,
            way: RefreshedName { names: vec![point(one)], first_only },
            member: true,
            ..known.clone()
        });
        let members: Vec<_> = members.collect();
        self.all.push(ResolvedTarget {
            pick: Some(TargetSelection { order, of }),
            addresses: members[0].addresses.clone(),
            way: members[0].way.clone(),
            ..known
        });
        self.all.extend(members);
        Ok(())
    }

    /// Returns the addresses of a name that fit family and sources. Behind a proxy none of our
    /// sockets binds or connects to them, but they still pass the guard. A name that only the proxy
    /// can resolve has none.
    fn addresses_of(&self, url: &Spanned<TargetUrl>) -> Result<Vec<SocketAddr>, LowerError> {
        let found = (self.input.addresses)(&url.value).or_else(|error| {
            let of_proxy = self.experiment.http.proxy.is_some() && error.code == Code::UnknownHost;
            if of_proxy { Ok(Vec::new()) } else { Err(error) }
        })?;
        if let Some(proxy) = &self.experiment.http.proxy {
            if self.experiment.connect_point(&url.value) != (url.value.host.clone(), url.value.port) {
                let message = "connect_to has no effect with a proxy, which alone connects to the target";
                let hint = "leave one of the two out";
                return Err(Diagnostic::error(Code::OptionConflict, proxy.url.place, message, hint).into());
            }
            return Ok(found);
        }
        let (connect_host, _) = self.experiment.connect_point(&url.value);
        let filter = self.experiment.address_filter(&self.input.sources);
        Ok(filter.usable_addresses(&url.value.host, &connect_host, &found)?)
    }

    /// Returns the target of that name; without a name the only target.
    pub(super) fn named(&self, name: Option<&Spanned<String>>, place: Span) -> Result<usize, LowerError> {
        let found = match name {
            Some(name) => {
                self.all.iter().position(|known| !known.member && known.name == Some(name.value.as_str()))
            }
            None => (!self.all.is_empty()).then_some(0),
        };
        found.ok_or_else(|| {
            let message = "the file has no such target";
            Diagnostic::error(Code::TargetUnknown, place, message, "target: http://127.0.0.1:8080").into()
        })
    }

    /// Returns the target of a step's own URL, which is added if necessary.
    pub(super) fn add_url(&mut self, url: TargetUrl, place: Span) -> Result<usize, LowerError> {
        let same = |known: &ResolvedTarget<'_>| {
            known.pick.is_none()
                && (&known.url.host, known.url.port, known.url.scheme())
                    == (&url.host, url.port, url.scheme())
        };
        if let Some(at) = self.all.iter().position(same) {
            return Ok(at);
        }
        let addresses = self.addresses_of(&Spanned::new(url.clone(), place))?;
        let way = RefreshedName::all_addresses(self.experiment.connect_point(&url));
        self.all.push(ResolvedTarget {
            name: None,
            url,
            tls: None,
            addresses,
            way,
            pick: None,
            member: false,
        });
        Ok(self.all.len() - 1)
    }

    /// Returns the prefix of every path of a target.
    pub(super) fn base_path(&self, target: usize) -> &str {
        self.all[target].url.path.trim_end_matches('/')
    }

    pub(super) fn all(&self) -> &[ResolvedTarget<'e>] {
        &self.all
    }

    /// Returns the span of the first target with more than one URL.
    pub(super) fn second_url_place(&self) -> Option<Span> {
        let several = self.experiment.targets.iter().find(|target| target.urls.len() > 1);
        several.map(|target| target.urls[1].url.place)
    }

    /// Returns the first URL of a target.
    pub(super) fn url(&self, target: usize) -> &TargetUrl {
        &self.all[target].url
    }

    /// Returns how names are resolved again. With a proxy only the proxy's name is resolved.
    pub(super) fn renewal(&self) -> Option<DnsRefreshPlan> {
        let http = &self.experiment.http;
        let proxy = http.proxy.as_ref().map(|proxy| &proxy.url.value.at);
        let way = |known: &ResolvedTarget<'_>| {
            let at_proxy = proxy.map(|at| RefreshedName::all_addresses(self.experiment.connect_point(at)));
            at_proxy.unwrap_or_else(|| known.way.clone())
        };
        DnsRefreshPlan::new(http.dns, http.ip, self.all.iter().map(way).collect())
    }

    /// Returns all addresses without duplicates.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        let mut all: Vec<SocketAddr> = self.all.iter().flat_map(|known| known.addresses.clone()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the targets of the plan. `tls` are the settings of each target with its own.
    pub(super) fn into_plan(self, tls: Vec<Option<Box<TlsPlan>>>) -> Vec<wavetank_plan::Target> {
        let http = &self.experiment.http;
        let host = http.headers.iter().find(|header| header.name.value.eq_ignore_ascii_case("host"));
        let host = host.and_then(|header| header.value.as_fixed());
        let target = |(known, tls): (ResolvedTarget<'_>, _)| {
            let sni = known.tls.or(http.tls.as_ref()).and_then(|tls| tls.sni.clone());
            wavetank_plan::Target {
                name: match known.name {
                    Some(name) if known.member => format!("{name} {}", known.url.authority()),
                    Some(name) => name.to_owned(),
                    None if known.pick.is_some() => "target".to_owned(),
                    None => known.url.authority(),
                },
                url: known.url.url(),
                host: host.map_or_else(|| known.url.host_header(), str::to_owned),
                server_name: known
                    .url
                    .tls
                    .then(|| sni.unwrap_or_else(|| known.url.certificate_name().to_owned())),
                addresses: known.addresses,
                tls,
                pick: known.pick,
            }
        };
        self.all.into_iter().zip(tls).map(target).collect()
    }
}

/// Whether the URL has a query that no request would have. The path of a WebSocket or an event
/// stream is that of its opening.
fn has_unused_query(one: &TargetAddress) -> bool {
    !one.url.value.protocol.has_messages() && one.url.value.path.contains('?')
}

fn later(place: Span, message: &str, hint: &str) -> Result<(), LowerError> {
    Err(Diagnostic::error(Code::ValueLater, place, message, hint).into())
}
