//! `bench tls`: requests and handshakes per CPU second beside wrk and h2load, both ends pinned to one kind of TLS.
//!
//! TLS 1.3, X25519, AES-128-GCM with SHA-256 and a certificate on P-256. wrk cannot be told: the target speaks nothing
//! else. wrk and h2load resume whenever the target hands out tickets (seen in nginx's own account, which is printed
//! for every row); so resumption is off and on by the target's tickets, and we follow with `--tls-resume`. All ask the
//! target to close; it does so first.

use std::path::Path;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use super::goal::Goal;
use super::load_generator::{Amount, LoadGenerator, Pins, Work, shown};
use super::paired_rounds::{PairedRounds, Turn};
use super::server::{Server, free_address};
use super::tls_target::{TlsTarget, make_certificate};
use super::{Engine, Session};

/// Connections at once.
const CONNECTIONS: usize = 64;
/// Handshakes of a turn of those that count; wrk goes by time.
const HANDSHAKES: u64 = 3_000;
/// The same in a smoke run.
const HANDSHAKES_SMOKE: u64 = 300;
/// Share of resumed connections from which on a contestant resumes: its first ones cannot.
const RESUMES_MIN: f64 = 0.5;
/// All take part; ours first.
const CONTESTANTS: [LoadGenerator; 3] = [LoadGenerator::Wavetank, LoadGenerator::Wrk, LoadGenerator::H2load];

/// `cargo xtask bench tls`.
#[derive(Args)]
pub(super) struct TlsArguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    pub(super) engine: Engine,
    /// The target: nginx, which the numbers are about, or `wavetank serve --tls` with the same driver.
    #[arg(long, default_value = "nginx")]
    pub(super) target: TlsServer,
}

impl TlsArguments {
    /// As it stands among the numbers.
    pub(super) fn for_engine(engine: Engine) -> Self {
        Self { engine, target: TlsServer::Nginx }
    }
}

/// Who serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TlsServer {
    Nginx,
    Serve,
}

/// One row.
struct Row {
    target: TlsServer,
    engine: Engine,
    contestants: Vec<LoadGenerator>,
    /// A new connection, and so a handshake, for each request.
    fresh: bool,
    pins: Pins,
}

/// Four rows: kept connections and new ones, resumption off and on.
pub(super) fn run(session: &mut Session, arguments: &TlsArguments) -> Result<()> {
    let server = if arguments.target == TlsServer::Nginx { "nginx" } else { "curl" };
    let here = session.has(server, "tls") && session.has("openssl", "tls");
    if !here || !arguments.engine.usable(session, "tls")? {
        return Ok(());
    }
    let mut contestants = CONTESTANTS.to_vec();
    contestants.retain(|contestant| {
        *contestant == LoadGenerator::Wavetank || session.has(contestant.name(), "tls, as a peer")
    });
    if contestants.len() < 2 {
        return Ok(());
    }
    let (certificate, key) = make_certificate(session.folder.path())?;
    for resume in [false, true] {
        let tls = TlsTarget {
            address: free_address()?,
            certificate: certificate.clone(),
            key: key.clone(),
            tickets: resume,
        };
        let server = match arguments.target {
            TlsServer::Nginx => Server::nginx_at(session, free_address()?, Some(tls))?,
            TlsServer::Serve => Server::wavetank_tls(session, arguments.engine, &tls)?,
        };
        let trial = trial(arguments.engine, &server, &certificate, resume);
        if let Some(why) = LoadGenerator::Wavetank.refuses(session, &trial)? {
            session.skip(format!("bench tls: {why}"));
            return Ok(());
        }
        println!("\ntarget     tickets {}: {}", if resume { "on" } else { "off" }, server.command);
        for fresh in [false, true] {
            let pins = Pins { certificate: certificate.clone(), resume };
            let row = Row {
                target: arguments.target,
                engine: arguments.engine,
                contestants: contestants.clone(),
                fresh,
                pins,
            };
            row.run(session, &server)?;
        }
    }
    Ok(())
}

/// One request, to see whether we can at all.
fn trial(engine: Engine, server: &Server, certificate: &Path, resume: bool) -> Work {
    Work {
        url: server.url(),
        connections: 1,
        amount: Amount { seconds: 1, requests: Some(1) },
        fresh: true,
        tls: Some(Pins { certificate: certificate.to_owned(), resume }),
        engine,
        source: None,
    }
}

impl Row {
    fn run(&self, session: &mut Session, server: &Server) -> Result<()> {
        for contestant in &self.contestants {
            let words = contestant.words(session, &self.work(session, server));
            println!("{:<10} {}", contestant.name(), shown(&words));
        }
        let resumption = if self.pins.resume { "on" } else { "off" };
        let what = if self.fresh { "handshake per request" } else { "kept connections" };
        let against = if self.target == TlsServer::Nginx { "one-worker nginx" } else { "wavetank serve" };
        let contest = PairedRounds {
            number: format!(
                "{} TLS 1.3, {what}, resumption {resumption}, against {against}",
                self.engine.name()
            ),
            names: self.contestants.iter().map(|contestant| contestant.name()).collect(),
            goal: match (self.target, self.fresh) {
                (TlsServer::Serve, _) => Goal::None,
                (TlsServer::Nginx, true) => Goal::Work(1.3),
                (TlsServer::Nginx, false) => Goal::Work(1.2),
            },
            unit: "request",
        };
        let mut resumed = vec![(0, 0); self.contestants.len()];
        contest.run(session, |session, place| {
            let (turn, count) = self.turn(session, server, self.contestants[place])?;
            resumed[place].0 += count;
            resumed[place].1 += turn.done;
            Ok(turn)
        })?;
        if self.fresh {
            let shares = self.contestants.iter().zip(&resumed);
            let shares = shares.map(|(contestant, &(count, done))| {
                format!("{} {:.0} %", contestant.name(), 100.0 * count as f64 / done as f64)
            });
            println!("resumed    {}", shares.collect::<Vec<_>>().join(", "));
        }
        Ok(())
    }

    fn work(&self, session: &Session, server: &Server) -> Work {
        let requests = session.size.choose(HANDSHAKES, HANDSHAKES_SMOKE);
        Work {
            url: server.url(),
            connections: CONNECTIONS,
            amount: Amount { seconds: session.size.seconds(), requests: self.fresh.then_some(requests) },
            fresh: self.fresh,
            tls: Some(self.pins.clone()),
            engine: self.engine,
            source: None,
        }
    }

    /// The turn, and how many of its connections were resumed as the target saw it.
    fn turn(&self, session: &Session, server: &Server, contestant: LoadGenerator) -> Result<(Turn, u64)> {
        let before = server.count()?;
        let resumed_before = server.resumed()?;
        let work = self.work(session, server);
        let called = contestant.call(session, &work, &[])?;
        let seen = server.count_since(before)?;
        let resumed = server.resumed()? - resumed_before;
        let mut void = called.claim.doubt(seen, CONNECTIONS);
        if self.fresh {
            void = void.or_else(|| self.other_kind(resumed, called.claim.done));
        }
        if called.claim.done < CONNECTIONS as u64 {
            bail!("{} had only {} answers", contestant.name(), called.claim.done);
        }
        let turn = Turn {
            done: called.claim.done,
            cpu_us: called.used.cpu_us,
            cycles: called.used.cycles,
            peak_rss_bytes: called.used.peak_rss_bytes,
            void,
        };
        Ok((turn, resumed))
    }

    /// What is wrong where handshakes were of another kind than the row is about.
    fn other_kind(&self, resumed: u64, done: u64) -> Option<String> {
        let share = resumed as f64 / done as f64;
        match self.pins.resume {
            false if resumed > 0 => Some(format!("resumed {resumed} of {done} sessions")),
            true if share < RESUMES_MIN => Some(format!("resumed only {resumed} of {done} sessions")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn handshakes_of_another_kind_are_void() {
        let check = |resume, resumed, fine| {
            let pins = Pins { certificate: PathBuf::new(), resume };
            let row = Row {
                target: TlsServer::Nginx,
                engine: Engine::Epoll,
                contestants: Vec::new(),
                fresh: true,
                pins,
            };
            assert_eq!(row.other_kind(resumed, 1_000).is_none(), fine, "{resume} {resumed}");
        };
        check(false, 0, true);
        check(false, 1, false);
        check(true, 940, true);
        check(true, 0, false);
    }
}
