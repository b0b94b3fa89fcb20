//! [`DnsRefresher`]: resolves names again while the load runs, in a thread of its own that nothing
//! waits for.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use wavetank_plan::{DnsRefreshPlan, Guard, Plan};
use wavetank_record::EventKind;
use wavetank_units::{Sentence, UserError, sentence};

use super::lookup::lookup;

/// Rounds of answers that may wait to be heard: who looks up waits with the next.
const ROUNDS_MAX: usize = 2;
/// Most addresses of one DNS response; further ones are left out.
const ADDRESSES_MAX: usize = 256;
/// Addresses that one run goes to at most, those of the plan aside: load threads remember each.
const KNOWN_MAX: usize = 4_096;
/// Most addresses in one printed line.
const SHOWN_MAX: usize = 8;
/// Most reports of addresses that were not allowed.
const REFUSED_SHOWN_MAX: usize = 64;

/// For each target the addresses that new connections go to, none where they stay what they were.
pub(crate) type AddressLists = Arc<[Vec<SocketAddr>]>;
/// What was found for each name, in the order of [`RunNames::points`].
type Round = Vec<Result<Vec<SocketAddr>, UserError>>;

/// Something that is new of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DnsUpdate {
    kind: EventKind,
    text: Sentence,
}

impl DnsUpdate {
    /// Its kind as an event.
    pub(crate) const fn kind(&self) -> EventKind {
        self.kind
    }

    /// Returns the text of the report.
    pub(crate) fn text(&self) -> &Sentence {
        &self.text
    }

    /// Connections go elsewhere from now on; else something is not as it should be.
    pub(crate) fn is_move(&self) -> bool {
        self.kind == EventKind::NamesMoved
    }
}

/// See the module's description. Dropping it ends the thread, after the look-up that it may be in.
pub(crate) struct DnsRefresher {
    names: RunNames,
    rounds: Receiver<Round>,
    /// Names cannot be resolved, for this reason.
    lacking: Option<DnsUpdate>,
    /// The resolving thread ends when this is dropped.
    _goes_on: SyncSender<()>,
}

impl DnsRefresher {
    /// `None`: the plan looks names up once. `command` is what was typed, for hints.
    pub(crate) fn start(plan: &Plan, guard: &Guard, command: &str) -> Option<Self> {
        let names = RunNames::new(plan, guard, command)?;
        Some(Self::start_with(names, lookup))
    }

    fn start_with(
        names: RunNames,
        mut look: impl FnMut((&str, u16)) -> Result<Vec<SocketAddr>, UserError> + Send + 'static,
    ) -> Self {
        let (goes_on, ends) = sync_channel::<()>(1);
        let (sender, rounds) = sync_channel(ROUNDS_MAX);
        let points: Vec<_> = names.points.iter().map(|point| point.at.clone()).collect();
        let pause = Duration::from_nanos(names.renewal.pause().0.unsigned_abs());
        let life = move || {
            while ends.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let round = points.iter().map(|(host, port)| look((host, *port))).collect();
                if sender.send(round).is_err() {
                    return;
                }
            }
        };
        let started = Builder::new().name("names".to_owned()).spawn(life);
        let text = |error| {
            sentence!(
                "names keep their addresses, because no thread could be started to look them up: {error}"
            )
        };
        let lacking =
            started.err().map(|error| DnsUpdate { kind: EventKind::NamesFailed, text: text(error) });
        Self { names, rounds, lacking, _goes_on: goes_on }
    }

    /// Returns the next responses, if there are any: the new addresses, if they changed, and the
    /// reports.
    pub(crate) fn poll(&mut self) -> Option<(Option<AddressLists>, Vec<DnsUpdate>)> {
        if let Some(lacking) = self.lacking.take() {
            return Some((None, vec![lacking]));
        }
        let round = self.rounds.try_recv().ok()?;
        Some(self.names.take(round))
    }

    /// Returns the reports that remain at the end.
    pub(crate) fn end(self) -> Vec<DnsUpdate> {
        self.names.end()
    }
}

/// What is known of the names of a run.
struct RunNames {
    renewal: DnsRefreshPlan,
    plan: Plan,
    guard: Guard,
    command: String,
    points: Vec<Point>,
    /// By target: where its connections go.
    ways: Vec<Vec<SocketAddr>>,
    /// Addresses that a look-up brought and that were used.
    known: Vec<SocketAddr>,
    /// There were more of them than are used.
    overflown: bool,
    /// Addresses that were not allowed, each reported once.
    refused: Vec<SocketAddr>,
}

/// A name and a port.
struct Point {
    at: (String, u16),
    /// The last good answer while the load ran.
    newest: Option<Vec<SocketAddr>>,
    asked: u64,
    failed: u64,
}

impl RunNames {
    fn new(plan: &Plan, guard: &Guard, command: &str) -> Option<Self> {
        let renewal = plan.http.dns.clone()?;
        let mut points: Vec<Point> = Vec::new();
        for at in renewal.ways.iter().flat_map(|way| &way.names) {
            if points.iter().all(|point| point.at != *at) {
                points.push(Point { at: at.clone(), newest: None, asked: 0, failed: 0 });
            }
        }
        let ways = plan.targets.iter().map(|target| plan.connect_addresses(target).to_vec()).collect();
        let (guard, command) = (guard.clone(), command.to_owned());
        let (plan, known, refused) = (plan.clone(), Vec::new(), Vec::new());
        Some(Self { renewal, plan, guard, command, points, ways, known, overflown: false, refused })
    }

    /// Each name was asked for once more.
    fn take(&mut self, round: Round) -> (Option<AddressLists>, Vec<DnsUpdate>) {
        let mut news = Vec::new();
        for (place, found) in round.into_iter().enumerate().take(self.points.len()) {
            self.points[place].asked += 1;
            match found.and_then(|found| self.usable(place, &found, &mut news)) {
                Ok(found) => self.points[place].newest = Some(found),
                Err(error) => {
                    let Point { at: (host, _), failed, .. } = &mut self.points[place];
                    *failed += 1;
                    if *failed == 1 {
                        let text = sentence!(
                            "{}; connections continue to the previous addresses of `{host}`",
                            error.message
                        );
                        news.push(DnsUpdate { kind: EventKind::NamesFailed, text });
                    }
                }
            }
        }
        let ways: Vec<_> = (0..self.ways.len()).map(|target| self.moved(target, &mut news)).collect();
        let any = ways.iter().any(|way| !way.is_empty());
        (any.then(|| ways.into()), news)
    }

    /// What may be used of an answer.
    fn usable(
        &mut self,
        place: usize,
        found: &[SocketAddr],
        news: &mut Vec<DnsUpdate>,
    ) -> Result<Vec<SocketAddr>, UserError> {
        let host = self.points[place].at.0.clone();
        let found = &found[..found.len().min(ADDRESSES_MAX)];
        let mut left = self.renewal.usable(&host, found, &self.plan.sources)?;
        let mut last = None;
        left.retain(|&address| match self.guard.check(&host, address, &self.command) {
            Ok(()) => true,
            Err(error) => {
                if !self.refused.contains(&address) && self.refused.len() < REFUSED_SHOWN_MAX {
                    self.refused.push(address);
                    let text = sentence!("not used: {}; {}", error.message, error.hint);
                    news.push(DnsUpdate { kind: EventKind::NamesRefused, text });
                }
                last = Some(error);
                false
            }
        });
        match last {
            Some(error) if left.is_empty() => Err(error),
            _ => Ok(left),
        }
    }

    /// Where a target's connections go from now on; empty: to where they went.
    fn moved(&mut self, target: usize, news: &mut Vec<DnsUpdate>) -> Vec<SocketAddr> {
        let Some(way) = self.renewal.ways.get(target) else { return Vec::new() };
        let mut now = Vec::new();
        for at in &way.names {
            let point = self.points.iter().find(|point| point.at == *at);
            // Until each name was resolved once, it is unknown which name each old address belongs
            // to.
            let Some(newest) = point.and_then(|point| point.newest.as_ref()) else { return Vec::new() };
            now.extend_from_slice(&newest[..if way.first_only { 1.min(newest.len()) } else { newest.len() }]);
        }
        let before = &self.ways[target];
        let same = if way.first_only { now == *before } else { sorted(&now) == sorted(before) };
        let new = |address: &&SocketAddr| !before.contains(address) && !self.known.contains(address);
        let added: Vec<SocketAddr> = now.iter().filter(new).copied().collect();
        if same {
            return Vec::new();
        }
        if self.known.len() + added.len() > KNOWN_MAX {
            self.overflown = true;
            return Vec::new();
        }
        self.known.extend(added);
        let names: Vec<String> = way.names.iter().map(|(host, port)| format!("{host}:{port}")).collect();
        let text = sentence!("{} moved from {} to {}", names.join(", "), shown(before), shown(&now));
        // Several targets may have one name.
        if news.iter().all(|one| one.text != text) {
            news.push(DnsUpdate { kind: EventKind::NamesMoved, text });
        }
        self.ways[target].clone_from(&now);
        now
    }

    fn end(&self) -> Vec<DnsUpdate> {
        let failed = self.points.iter().filter(|point| point.failed > 1);
        let describe = |point: &Point| {
            let Point { at: (host, _), asked, failed, .. } = point;
            sentence!("{failed} of {asked} look-ups of `{host}` failed while the load ran")
        };
        let mut news: Vec<_> =
            failed.map(|point| DnsUpdate { kind: EventKind::NamesFailed, text: describe(point) }).collect();
        if self.overflown {
            let text = sentence!("names had more than {KNOWN_MAX} new addresses; later ones were not used");
            news.push(DnsUpdate { kind: EventKind::NamesRefused, text });
        }
        news
    }
}

fn sorted(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let mut sorted = addresses.to_vec();
    sorted.sort_unstable();
    sorted
}

fn shown(addresses: &[SocketAddr]) -> Sentence {
    let reported: Vec<String> = addresses.iter().take(SHOWN_MAX).map(ToString::to_string).collect();
    match addresses.len() - reported.len() {
        0 => sentence!("{}", reported.join(", ")),
        more => sentence!("{} and {more} more", reported.join(", ")),
    }
}

#[cfg(test)]
mod tests;
