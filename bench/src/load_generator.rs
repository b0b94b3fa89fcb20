//! [`LoadGenerator`]: a load generator, the command for a piece of work, and the counts that it
//! reports.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::claims::{self, ReportedResult};
use crate::command_text::shown;
use crate::engine::Engine;
use crate::meter::{Job, Used};
use crate::session::Session;

/// A load generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadGenerator {
    Wavetank,
    Wrk,
    H2load,
    Ab,
}

/// A piece of work that every contestant performs. Each uses one thread and records everything that
/// it can record.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) url: String,
    pub(crate) connections: usize,
    pub(crate) amount: Amount,
    /// A new connection for each request.
    pub(crate) fresh: bool,
    pub(crate) tls: Option<Pins>,
    /// Streams per connection of HTTP/2; `None` is HTTP/1.1.
    pub(crate) streams: Option<u32>,
    /// Our driver. The other generators have one each.
    pub(crate) engine: Engine,
    /// Our source addresses. The other generators cannot choose theirs.
    pub(crate) source: Option<String>,
}

impl Work {
    /// Returns the most requests in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.connections * self.streams.unwrap_or(1) as usize
    }
}

/// The amount of work.
#[derive(Clone, Copy)]
pub(crate) struct Amount {
    pub(crate) seconds: u32,
    /// A number of requests, for generators that support one. Without it, and for other generators,
    /// `seconds` applies.
    pub(crate) requests: Option<u64>,
}

/// Settings of both ends of a TLS connection, in addition to TLS 1.3, X25519 and AES-128-GCM.
#[derive(Clone)]
pub(crate) struct Pins {
    /// The target's certificate, in PEM.
    pub(crate) certificate: PathBuf,
    /// Whether new connections may resume the session of earlier ones.
    pub(crate) resume: bool,
}

/// The only cipher suite.
pub(crate) const CIPHER: &str = "TLS_AES_128_GCM_SHA256";
/// The only key exchange group.
pub(crate) const GROUP: &str = "X25519";

/// The result of one call.
pub(crate) struct CallResult {
    pub(crate) used: Used,
    pub(crate) claim: ReportedResult,
}

impl LoadGenerator {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Wavetank => "wavetank",
            Self::Wrk => "wrk",
            Self::H2load => "h2load",
            Self::Ab => "ab",
        }
    }

    /// Returns the command line.
    pub(crate) fn words(self, session: &Session, work: &Work) -> Vec<String> {
        match self {
            Self::Wavetank => wavetank(session, work),
            Self::Wrk => wrk(work),
            Self::H2load => h2load(work),
            Self::Ab => ab(work),
        }
    }

    /// Returns why `wavetank run` refuses this work before it sends anything, or `None` if it does
    /// not.
    pub(crate) fn refuses(self, session: &Session, work: &Work) -> Result<Option<String>> {
        let words = self.words(session, work);
        let output = Command::new(&words[0]).args(&words[1..]).stdin(Stdio::null()).output();
        let output = output.with_context(|| shown(&words))?;
        Ok(refusal(output.status.code(), &String::from_utf8_lossy(&output.stdout)))
    }

    /// Runs it once. `cycles_of` lists processes: if there are any, their cycles are counted
    /// instead of its own.
    pub(crate) fn call(self, session: &Session, work: &Work, cycles_of: &[u32]) -> Result<CallResult> {
        let words = self.words(session, work);
        // The verdict is not compared. Exit codes 1, 3 and 4 mean that the run completed.
        let fine: &[i32] = if self == Self::Wavetank { &[1, 3, 4] } else { &[] };
        let used = Job { words: &words, fine, seconds: work.amount.seconds, cycles_of }.run(session)?;
        let claim = match self {
            Self::Wavetank => claims::wavetank(&used.stdout),
            Self::Wrk => claims::wrk(&used.stdout),
            Self::H2load => claims::h2load(&used.stdout),
            Self::Ab => claims::ab(&used.stdout),
        };
        let claim = claim.with_context(|| format!("`{}`", shown(&words)))?;
        if claim.done == 0 {
            bail!("`{}` received no response: {}", shown(&words), used.stderr.trim());
        }
        Ok(CallResult { used, claim })
    }
}

/// Returns the line that explains a refusal, or `None` if there was no refusal.
fn refusal(exit: Option<i32>, stdout: &str) -> Option<String> {
    // 2: the arguments are unknown or contradict each other. 5: this host lacks support.
    let refused = matches!(exit, Some(2 | 5));
    let error: Value = serde_json::from_str(stdout).unwrap_or_default();
    refused.then(|| error["message"].as_str().unwrap_or("refused without a message").to_owned())
}

/// Writes an experiment file and returns the command that runs it on one thread.
pub(crate) fn file_words(session: &Session, engine: Engine, name: &str, text: &str) -> Result<Vec<String>> {
    file_words_on(session, engine, 1, name, text)
}

/// Does the same on `threads` threads.
pub(crate) fn file_words_on(
    session: &Session,
    engine: Engine,
    threads: usize,
    name: &str,
    text: &str,
) -> Result<Vec<String>> {
    let file = session.folder.path().join(format!("{name}.yaml"));
    std::fs::write(&file, format!("wavetank: 1\n{text}")).with_context(|| format!("{name}.yaml"))?;
    let line = format!(
        "{} run {} --threads {threads} --engine {} --format json --quiet --runs-dir {}",
        session.wavetank.display(),
        file.display(),
        engine.name(),
        session.folder.path().join("runs").display()
    );
    Ok(line.split(' ').map(str::to_owned).collect())
}

fn wavetank(session: &Session, work: &Work) -> Vec<String> {
    let mut words = vec![session.wavetank.display().to_string(), "run".to_owned(), work.url.clone()];
    push(&mut words, &format!("-c {} {}", work.connections, amount(work.amount)));
    push(&mut words, &format!("--threads 1 --engine {} --format json --runs-dir", work.engine.name()));
    words.push(session.folder.path().join("runs").display().to_string());
    if work.fresh {
        push(&mut words, "--no-keepalive");
    }
    if let Some(streams) = work.streams {
        push(&mut words, &format!("--http 2 --streams {streams}"));
    }
    if let Some(source) = &work.source {
        push(&mut words, &format!("--source {source}"));
    }
    if let Some(pins) = &work.tls {
        push(&mut words, &format!("--tls 1.3 --tls-groups {GROUP} --tls-ciphers {CIPHER} --cacert"));
        words.push(pins.certificate.display().to_string());
        push(&mut words, if pins.resume { "--tls-resume shared" } else { "--tls-resume never" });
    }
    words
}

/// wrk supports no number of requests. Its TLS settings cannot be pinned, so those of the target
/// are.
fn wrk(work: &Work) -> Vec<String> {
    let mut words = Vec::new();
    push(&mut words, &format!("wrk -t 1 -c {} -d {}s", work.connections, work.amount.seconds));
    close_header(&mut words, work);
    words.push(work.url.clone());
    words
}

fn h2load(work: &Work) -> Vec<String> {
    let mut words = Vec::new();
    let version = work.streams.map_or_else(|| "--h1".to_owned(), |streams| format!("-m {streams}"));
    push(&mut words, &format!("h2load {version} -t 1 -c {}", work.connections));
    // With `-D`, h2load never stops opening connections once the first is closed, so it needs a
    // number of requests.
    match work.amount.requests {
        Some(requests) => push(&mut words, &format!("-n {requests}")),
        None => push(&mut words, &format!("-D {}", work.amount.seconds)),
    }
    if work.tls.is_some() {
        push(&mut words, &format!("--groups {GROUP} --tls13-ciphers {CIPHER}"));
    }
    close_header(&mut words, work);
    words.push(work.url.clone());
    words
}

/// HTTP/1.0, one request per connection. With a time limit alone ab would stop at 50,000 requests.
fn ab(work: &Work) -> Vec<String> {
    let mut words = Vec::new();
    push(&mut words, &format!("ab -q -c {}", work.connections));
    match work.amount.requests {
        Some(requests) => push(&mut words, &format!("-n {requests}")),
        None => push(&mut words, &format!("-t {} -n 100000000", work.amount.seconds)),
    }
    words.push(work.url.clone());
    words
}

fn close_header(words: &mut Vec<String>, work: &Work) {
    if work.fresh {
        words.extend(["-H", "Connection: close"].map(str::to_owned));
    }
}

fn amount(amount: Amount) -> String {
    match amount.requests {
        Some(requests) => format!("-n {requests}"),
        None => format!("-d {}s", amount.seconds),
    }
}

fn push(words: &mut Vec<String>, line: &str) {
    words.extend(line.split(' ').map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: fn(&Work) -> Vec<String>, work: &Work, expected: &str) {
        assert_eq!(shown(&words(work)), expected);
    }

    #[test]
    fn refusals_are_reported_by_their_exit() {
        let text = r#"{"schema":"wavetank.error/1","message":"there is no option `--tls`"}"#;
        assert_eq!(refusal(Some(2), text).as_deref(), Some("there is no option `--tls`"));
        assert_eq!(refusal(Some(1), text), None);
        assert_eq!(refusal(Some(0), "{}"), None);
    }

    #[test]
    fn peers_are_called_in_their_own_words() {
        let amount = Amount { seconds: 2, requests: None };
        let url = "http://127.0.0.1:8080/".to_owned();
        let mut work = Work {
            url,
            connections: 64,
            amount,
            fresh: false,
            tls: None,
            streams: None,
            engine: Engine::Epoll,
            source: None,
        };
        check(wrk, &work, "wrk -t 1 -c 64 -d 2s http://127.0.0.1:8080/");
        check(h2load, &work, "h2load --h1 -t 1 -c 64 -D 2 http://127.0.0.1:8080/");
        check(ab, &work, "ab -q -c 64 -t 2 -n 100000000 http://127.0.0.1:8080/");
        work.streams = Some(32);
        check(h2load, &work, "h2load -m 32 -t 1 -c 64 -D 2 http://127.0.0.1:8080/");
        work.streams = None;
        work.fresh = true;
        work.amount.requests = Some(900);
        work.tls = Some(Pins { certificate: PathBuf::from("c.pem"), resume: false });
        check(wrk, &work, "wrk -t 1 -c 64 -d 2s -H 'Connection: close' http://127.0.0.1:8080/");
        let expected = "h2load --h1 -t 1 -c 64 -n 900 --groups X25519 --tls13-ciphers TLS_AES_128_GCM_SHA256 \
                        -H 'Connection: close' http://127.0.0.1:8080/";
        check(h2load, &work, expected);
        check(ab, &work, "ab -q -c 64 -n 900 http://127.0.0.1:8080/");
    }
}
