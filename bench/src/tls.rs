//! `bench tls`: requests and handshakes per CPU second compared with wrk and h2load, with the same
//! TLS settings at both ends.
//!
//! The settings are TLS 1.3, X25519, AES-128-GCM with SHA-256 and a certificate on P-256. wrk has
//! no such options, so the target accepts only these settings. wrk and h2load resume sessions
//! whenever the target issues tickets. nginx' own counts show that, and are printed for every row.
//! The target's tickets therefore turn resumption on and off, and Wavetank follows with
//! `--tls-resume`. All clients ask the target to close, so it closes first.

use std::path::Path;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use crate::command_text::shown;
use crate::engine::Engine;
use crate::goal::Goal;
use crate::load_generator::{Amount, LoadGenerator, Pins, Work};
use crate::paired_rounds::{PairedRounds, Turn};
use crate::server::{Server, free_address};
use crate::session::Session;
use crate::tls_target::{TlsTarget, make_certificate};

/// Number of simultaneous connections.
const CONNECTIONS: usize = 64;
/// Handshakes of a turn, for clients that support a number of requests. wrk has a duration.
const HANDSHAKES: u64 = 3_000;
/// Handshakes of a turn in a smoke run.
const HANDSHAKES_SMOKE: u64 = 300;
/// Share of resumed connections from which a contestant counts as resuming. Its first connections
/// cannot resume.
const RESUMES_MIN: f64 = 0.5;
/// All contestants, ours first.
const CONTESTANTS: [LoadGenerator; 3] = [LoadGenerator::Wavetank, LoadGenerator::Wrk, LoadGenerator::H2load];

/// `cargo xtask bench tls`.
#[derive(Args)]
pub(crate) struct TlsArguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    pub(crate) engine: Engine,
    /// The target: nginx, which the judged numbers use, or `wavetank serve --tls` with the same
    /// driver.
    #[arg(long, default_value = "nginx")]
    pub(crate) target: TlsServer,
}

impl TlsArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine, target: TlsServer::Nginx }
    }
}

/// The server program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TlsServer {
    Nginx,
    Serve,
}

/// One row.
struct Row {
    target: TlsServer,
    engine: Engine,
    contestants: Vec<LoadGenerator>,
    /// Whether each request has a new connection, and so a handshake.
    fresh: bool,
    pins: Pins,
}

/// Runs four rows: kept and new connections, each with resumption off and on.
pub(crate) fn run(session: &mut Session, arguments: &TlsArguments) -> Result<()> {
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

/// Returns a single request, to check whether Wavetank supports the settings.
fn trial(engine: Engine, server: &Server, certificate: &Path, resume: bool) -> Work {
    Work {
        url: server.url(),
        connections: 1,
        amount: Amount { seconds: 1, requests: Some(1) },
        fresh: true,
        tls: Some(Pins { certificate: certificate.to_owned(), resume }),
        streams: None,
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
            streams: None,
            engine: self.engine,
            source: None,
        }
    }

    /// Runs the turn. Also returns how many of its connections were resumed, by the target's count.
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
            bail!("{} received only {} responses", contestant.name(), called.claim.done);
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

    /// Returns the reason why the row is void, if its handshakes were of the other kind.
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
