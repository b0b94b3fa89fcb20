//! [`TargetAddresses`]: the addresses of a file's targets, each name looked up once.

use std::cell::RefCell;
use std::net::SocketAddr;

use wavetank_experiment::Experiment;
use wavetank_plan::{Guard, Plan, SourcesPlan, TargetUrl};
use wavetank_units::UserError;

use super::lookup::lookup;

/// A host's name or address, and a port.
type Point = (String, u16);

/// See the module's description.
pub struct TargetAddresses<'e> {
    experiment: &'e Experiment,
    /// What was looked up, and found.
    known: RefCell<Vec<(Point, Vec<SocketAddr>)>>,
}

impl<'e> TargetAddresses<'e> {
    /// Of the targets of `experiment`; nothing is looked up yet.
    pub const fn new(experiment: &'e Experiment) -> Self {
        Self { experiment, known: RefCell::new(Vec::new()) }
    }

    /// The addresses to connect to for `url`.
    pub fn addresses(&self, url: &TargetUrl) -> Result<Vec<SocketAddr>, UserError> {
        let point = self.experiment.connect_point(url);
        let found =
            self.known.borrow().iter().find(|(known, _)| *known == point).map(|(_, found)| found.clone());
        if let Some(found) = found {
            return Ok(found);
        }
        let found = lookup((&point.0, point.1))?;
        self.known.borrow_mut().push((point, found.clone()));
        Ok(found)
    }

    /// Returns the addresses to connect to, filtered by IP family: the proxy's, or those of all
    /// targets that the file names.
    pub fn target_addresses(&self) -> Result<Vec<SocketAddr>, UserError> {
        let sources = SourcesPlan::default();
        let filter = self.experiment.address_filter(&sources);
        let usable = |url: &TargetUrl| {
            let (connect_host, _) = self.experiment.connect_point(url);
            filter.usable_addresses(&url.host, &connect_host, &self.addresses(url)?)
        };
        if let Some(proxy) = &self.experiment.http.proxy {
            return usable(&proxy.url.value.at);
        }
        let urls = self.experiment.targets.iter().flat_map(|target| &target.urls);
        let mut all = Vec::new();
        for url in urls.map(|one| &one.url.value) {
            all.extend(usable(url)?);
        }
        Ok(all)
    }

    /// Checks every address of `plan` against the guard before anything is sent. `command` is the
    /// command line, for the hint.
    pub fn admit(&self, guard: &Guard, plan: &Plan, command: &str) -> Result<(), UserError> {
        check_unresolved(guard, plan, command)?;
        let known = self.known.borrow();
        let of_proxy = plan.http.proxy.iter().flat_map(|proxy| &proxy.addresses);
        let all = plan.targets.iter().flat_map(|target| &target.addresses).chain(of_proxy);
        all.copied().try_for_each(|address| {
            let named = known.iter().filter(|(_, found)| found.contains(&address));
            let reported: Vec<_> = named.map(|((host, _), _)| guard.check(host, address, command)).collect();
            // A name that was not resolved is listed as it is.
            let reported = if reported.is_empty() {
                vec![guard.check(&address.ip().to_string(), address, command)]
            } else {
                reported
            };
            // One name that is allowed is enough.
            reported.into_iter().reduce(Result::or).unwrap_or(Ok(()))
        })
    }
}

/// Checks the names of targets that only a proxy can resolve.
pub(crate) fn check_unresolved(guard: &Guard, plan: &Plan, command: &str) -> Result<(), UserError> {
    let unresolved = plan.targets.iter().filter(|target| target.addresses.is_empty());
    unresolved
        .filter_map(|target| TargetUrl::parse(&target.url).ok())
        .try_for_each(|url| guard.check_unresolved(&url.host, command))
}
