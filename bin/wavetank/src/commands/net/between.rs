//! `wavetank net --lab` and `--fleet`: measures between other hosts.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use wavetank_driver::{Clock, Signals};
use wavetank_netbench::{
    Direction, EndpointEvent, EndpointJob, HostPair, MeasureJob, NetSettings, NetTest, Token, pair_seconds,
    rounds, total_seconds,
};
use wavetank_netprobe::random_token;
use wavetank_record::{ManySenderDoc, ManyToOneDoc, NetFailureDoc, NetPairDoc, Number};
use wavetank_runner::{RunConsole as _, host_error};
use wavetank_units::{Code, Nanos, UserError};

use super::fleet_hosts::FleetHosts;
use super::lab_hosts::LabHosts;
use super::net_hosts::{NetHosts, select};
use super::remote_end::RemoteEnd;
use super::result::{Measured, announce, deliver};
use crate::cli::NetMeasureArgs;
use crate::output::Console;

/// Time to start a process on a host, with its login.
const START_MAX: Nanos = Nanos::from_secs(20);
/// How often waiting loops look at signals.
const LOOK_AROUND: Duration = Duration::from_millis(50);

/// Measures between hosts of a lab or fleet.
pub(super) fn measure(args: &NetMeasureArgs) -> Result<u8, UserError> {
    let hosts: Box<dyn NetHosts> = match (&args.lab, &args.fleet) {
        (Some(lab), _) => Box::new(LabHosts::read(lab)?),
        (None, Some(file)) => Box::new(FleetHosts::read(file, args.ssh_config.as_deref())?),
        (None, None) => unreachable!("the arguments have one of them"),
    };
    let from = select(hosts.as_ref(), "--from", &args.from)?;
    let to = match &args.many_to_one {
        Some(host) => select(hosts.as_ref(), "--many-to-one", std::slice::from_ref(host))?,
        None => select(hosts.as_ref(), "--to", &args.to)?,
    };
    let is_one_way = !args.from.is_empty() || !args.to.is_empty() || args.many_to_one.is_some();
    let pairs = pairs(&from, &to, is_one_way);
    if pairs.is_empty() {
        let message = "the selected hosts make no pair";
        return Err(UserError::usage(
            Code::NetNoPairs,
            message,
            "select two different hosts: --from and --to",
        ));
    }
    let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
    let mut run = BetweenRun {
        hosts: hosts.as_ref(),
        args,
        settings: args.settings(),
        token: random_token()?,
        console: Console::new(args.quiet),
        signals,
        clock: Clock::starting_now(),
    };
    let mut measured = Measured::begin(args);
    if args.many_to_one.is_some() {
        run.many_to_one(&pairs, &mut measured)?;
    } else {
        run.all_pairs(&pairs, &mut measured)?;
    }
    measured.interrupted = run.is_interrupted();
    run.console.clear_progress();
    deliver(args, measured, &mut run.console)
}

/// Returns the pairs of two sets of hosts. Without a choice of direction each pair is there once,
/// because both directions are measured.
fn pairs(from: &[usize], to: &[usize], is_one_way: bool) -> Vec<HostPair> {
    let all = from.iter().flat_map(|&from| to.iter().map(move |&to| HostPair { from, to }));
    all.filter(|pair| if is_one_way { pair.from != pair.to } else { pair.from < pair.to }).collect()
}

/// Measurements between hosts.
struct BetweenRun<'a> {
    hosts: &'a dyn NetHosts,
    args: &'a NetMeasureArgs,
    settings: NetSettings,
    token: Token,
    console: Console,
    signals: Signals,
    clock: Clock,
}

impl BetweenRun<'_> {
    fn is_interrupted(&self) -> bool {
        self.signals.received() > 0
    }

    fn name(&self, host: usize) -> &str {
        &self.hosts.hosts()[host].name
    }

    /// Measures all pairs, in rounds that share no host. A pair that cannot connect is tried the
    /// other way round: a filter may permit one direction.
    fn all_pairs(&mut self, pairs: &[HostPair], measured: &mut Measured) -> Result<(), UserError> {
        let rounds = rounds(pairs, self.args.serial);
        let seconds = total_seconds(&self.settings, rounds.len(), 0);
        announce(&mut self.console, pairs.len(), rounds.len(), seconds);
        let servers = self.start_servers(pairs, seconds)?;
        let mut unconnected = Vec::new();
        for round in &rounds {
            if self.is_interrupted() {
                return Ok(());
            }
            for (pair, doc) in round.iter().zip(self.measure_round(round)) {
                if doc.failures.iter().any(|failure| failure.test == "connect") {
                    unconnected.push(*pair);
                }
                measured.pairs.push(doc);
            }
        }
        drop(servers);
        let back: Vec<HostPair> =
            unconnected.iter().map(|pair| HostPair { from: pair.to, to: pair.from }).collect();
        let back: Vec<HostPair> = back.into_iter().filter(|pair| !pairs.contains(pair)).collect();
        if back.is_empty() || self.is_interrupted() {
            return Ok(());
        }
        self.console.info("trying pairs that cannot connect the other way round");
        let servers = self.start_servers(&back, total_seconds(&self.settings, back.len(), 0))?;
        for pair in back {
            measured.pairs.extend(self.measure_round(&[pair]));
        }
        drop(servers);
        Ok(())
    }

    /// Measures each sender by itself, then all together.
    fn many_to_one(&mut self, pairs: &[HostPair], measured: &mut Measured) -> Result<(), UserError> {
        let streams = self.settings.streams.iter().copied().max().unwrap_or(1);
        self.settings =
            NetSettings { tests: vec![NetTest::Tcp], streams: vec![streams], ..self.settings.clone() };
        let seconds = total_seconds(&self.settings, 0, pairs.len());
        announce(&mut self.console, pairs.len(), pairs.len() + 1, seconds);
        let servers = self.start_servers(pairs, seconds)?;
        for pair in pairs {
            if self.is_interrupted() {
                return Ok(());
            }
            let job = self.job(*pair, false);
            measured.pairs.push(self.finish(*pair, self.start(*pair, job)));
        }
        let together = self.measure_together(pairs);
        drop(servers);
        let senders = measured.pairs.iter().zip(&together).map(|(alone, together)| {
            let failure = together.failures.first().or(alone.failures.first());
            ManySenderDoc {
                from: alone.from.clone(),
                alone_bits_per_s: forward(alone),
                together_bits_per_s: forward(together),
                failure: failure.map(|failure| failure.message.clone()).unwrap_or_default(),
            }
        });
        let senders: Vec<ManySenderDoc> = senders.collect();
        let sum = senders.iter().filter_map(|sender| sender.together_bits_per_s).map(|rate| rate.0).sum();
        let best = senders
            .iter()
            .filter_map(|sender| sender.alone_bits_per_s)
            .map(|rate| rate.0)
            .fold(0.0, f64::max);
        let to = pairs.first().map(|pair| self.name(pair.to).to_owned()).unwrap_or_default();
        measured.many_to_one =
            Some(ManyToOneDoc { to, senders, bits_per_s: Number(sum), best_alone_bits_per_s: Number(best) });
        Ok(())
    }

    /// Starts a server on each host that is one in `pairs`, for about twice `seconds`.
    fn start_servers(&self, pairs: &[HostPair], seconds: f64) -> Result<Vec<RemoteEnd>, UserError> {
        let mut hosts: Vec<usize> = pairs.iter().map(|pair| pair.to).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let job = EndpointJob::Serve {
            token: self.token.text().to_owned(),
            listen: SocketAddr::new(IpAddr::from([0, 0, 0, 0]), self.args.port),
            millis: ((seconds * 2.0 + 120.0) * 1e3) as u64,
            peers: self.hosts.hosts().len(),
        };
        let start = |&host: &usize| RemoteEnd::start(self.name(host), self.hosts.command(host), &job);
        let servers = hosts.iter().map(start).collect::<Result<Vec<_>, _>>()?;
        let until = self.clock.now().after(START_MAX);
        for (server, &host) in servers.iter().zip(&hosts) {
            while !matches!(server.poll(LOOK_AROUND)?, Some(EndpointEvent::Serving(_))) {
                if self.clock.now() > until || self.is_interrupted() {
                    let message = format!("cannot start a server on host {}", self.name(host));
                    return Err(UserError::refused(
                        Code::NetHostFailed,
                        message,
                        "check that the host is up",
                    ));
                }
            }
        }
        Ok(servers)
    }

    fn job(&self, pair: HostPair, waits: bool) -> Result<MeasureJob, UserError> {
        let address = SocketAddr::new(self.hosts.address(pair.from, pair.to)?, self.args.port);
        let names = (self.name(pair.from), self.name(pair.to));
        let job = MeasureJob::new(&self.token, names, address, &self.settings);
        let directions = match self.args.many_to_one {
            Some(_) => vec![Direction::Forward],
            None => vec![Direction::Forward, Direction::Reverse],
        };
        Ok(MeasureJob { waits, directions, ..job })
    }

    fn start(&self, pair: HostPair, job: Result<MeasureJob, UserError>) -> Result<RemoteEnd, UserError> {
        RemoteEnd::start(self.name(pair.from), self.hosts.command(pair.from), &EndpointJob::Measure(job?))
    }

    /// Measures the pairs of a round in parallel.
    fn measure_round(&mut self, round: &[HostPair]) -> Vec<NetPairDoc> {
        let started: Vec<_> = round.iter().map(|pair| self.start(*pair, self.job(*pair, false))).collect();
        started.into_iter().zip(round).map(|(end, pair)| self.finish(*pair, end)).collect()
    }

    /// Measures all pairs together: their streams start when all of them are connected.
    fn measure_together(&mut self, pairs: &[HostPair]) -> Vec<NetPairDoc> {
        let mut ends: Vec<_> = pairs.iter().map(|pair| self.start(*pair, self.job(*pair, true))).collect();
        for end in &mut ends {
            if let Ok(started) = end
                && let Err(error) = self.wait_ready(started)
            {
                *end = Err(error);
            }
        }
        ends.iter_mut().flatten().for_each(RemoteEnd::go);
        ends.into_iter().zip(pairs).map(|(end, pair)| self.finish(*pair, end)).collect()
    }

    fn wait_ready(&self, end: &RemoteEnd) -> Result<(), UserError> {
        let until = self.clock.now().after(START_MAX);
        loop {
            match end.poll(LOOK_AROUND)? {
                Some(EndpointEvent::Ready) => return Ok(()),
                Some(EndpointEvent::Pair(pair)) => {
                    let reason = pair.failures.first().map(|failure| failure.message.clone());
                    let message = reason.unwrap_or_else(|| "it did not wait for the others".to_owned());
                    return Err(UserError::refused(Code::NetHostFailed, message, ""));
                }
                _ if self.clock.now() > until || self.is_interrupted() => {
                    return Err(UserError::refused(Code::NetHostFailed, "it did not connect in time", ""));
                }
                _ => {}
            }
        }
    }

    /// Waits for the result of a pair, and shows what it measures.
    fn finish(&mut self, pair: HostPair, end: Result<RemoteEnd, UserError>) -> NetPairDoc {
        let names = (self.name(pair.from).to_owned(), self.name(pair.to).to_owned());
        match end.and_then(|end| self.wait_for_result(&names, &end)) {
            Ok(doc) => doc,
            Err(error) => NetPairDoc {
                from: names.0,
                to: names.1,
                failures: vec![NetFailureDoc {
                    test: "start".to_owned(),
                    code: error.code.as_str().to_owned(),
                    message: error.message,
                    hint: error.hint,
                }],
                ..NetPairDoc::default()
            },
        }
    }

    fn wait_for_result(
        &mut self,
        names: &(String, String),
        end: &RemoteEnd,
    ) -> Result<NetPairDoc, UserError> {
        let longest =
            Nanos((pair_seconds(&self.settings) * 3.0 * 1e9) as i64).after(START_MAX).after(START_MAX);
        let until = self.clock.now().after(longest);
        loop {
            match end.poll(LOOK_AROUND)? {
                Some(EndpointEvent::Pair(doc)) => return Ok(*doc),
                Some(EndpointEvent::Progress(test)) => {
                    let line = format!("{} → {}  {test}", names.0, names.1);
                    self.console.progress_line(&line, self.clock.now());
                }
                _ => {}
            }
            if self.is_interrupted() || self.clock.now() > until {
                let reason = if self.is_interrupted() { "interrupted" } else { "it takes too long" };
                let message = format!("{} → {}: {reason}", names.0, names.1);
                return Err(UserError::refused(
                    Code::NetHostFailed,
                    message,
                    "measure again, with fewer tests",
                ));
            }
        }
    }
}

/// Returns the throughput of a sender.
fn forward(pair: &NetPairDoc) -> Option<Number> {
    pair.tcp.first().map(|tcp| tcp.bits_per_s)
}
