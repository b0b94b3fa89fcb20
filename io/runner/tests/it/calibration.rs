//! A calibration: its target is in this process, and counts what was sent.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use wavetank_capacity::calibration::{CalibrationSchedule, CpuAssignment};
use wavetank_driver::{Signals, TlsServer};
use wavetank_plan::{EngineChoice, TargetUrl, TlsServerOptions};
use wavetank_record::{CalibrationDoc, CountedDoc};
use wavetank_runner::{CalibrationError, CalibrationSetup, CalibrationTarget, Host, TargetCounts, calibrate};
use wavetank_target::{ServeOptions, Server};
use wavetank_units::{Nanos, UserError};

use crate::support::{KeptConsole, server, url_of};

/// Both servers of a calibration.
struct Servers {
    plain: Server,
    secure: Server,
}

impl Servers {
    fn start() -> Self {
        let tls = TlsServer::self_signed(&["127.0.0.1".to_owned()], &TlsServerOptions::default());
        let options = ServeOptions {
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
            threads: Some(1),
            tls: Some(Arc::new(tls.expect("a certificate"))),
            ..ServeOptions::default()
        };
        let secure = wavetank_target::start(options).expect("the server starts");
        Self { plain: server(), secure }
    }
}

impl CalibrationTarget for Servers {
    fn url(&self) -> TargetUrl {
        url_of(&self.plain, "/")
    }

    fn tls_url(&self) -> TargetUrl {
        TargetUrl { tls: true, ..url_of(&self.secure, "/") }
    }

    fn counts(&mut self) -> Result<TargetCounts, UserError> {
        let requests = self.plain.truth().requests + self.secure.truth().requests;
        Ok(TargetCounts { requests, open: self.plain.truth().connections.open, cpu_s: 0.0 })
    }
}

/// Each measurement once and short, and no memory of connections.
fn schedule() -> CalibrationSchedule {
    let whole = CalibrationSchedule::with_total(CalibrationSchedule::QUICK).expect("a schedule");
    let (slice, warmup) = (Nanos::from_millis(100), Nanos::from_millis(20));
    CalibrationSchedule { rounds: 1, lag_rounds: 1, slice, warmup, held: 10, ..whole }
}

/// Calibrates with `own`. Returns the result and what was printed.
fn run(
    own: &mut Servers,
    target: Option<TargetUrl>,
) -> (Result<CalibrationDoc, CalibrationError>, Vec<String>) {
    let host = Host::inspect().expect("this host can be inspected");
    let cpus = host.facts.cpus.clone();
    let (mut console, mut run_console) = (KeptConsole::new(&|_| {}), KeptConsole::new(&|_| {}));
    let setup = CalibrationSetup {
        engine: EngineChoice::Epoll,
        allow_target: Vec::new(),
        signals: Signals::listen().expect("signals"),
        command: "wavetank calibrate".to_owned(),
        schedule: schedule(),
        layout: CpuAssignment::for_remote_target(&cpus),
        cpus,
        target,
        console: &mut console,
        run_console: &mut run_console,
        host,
    };
    let result = calibrate(setup, own);
    (result, console.lines)
}

/// Checks that the target received what was sent. If this machine stalls, the reset of a connection
/// at the end of a measurement may remove the last request on it.
#[track_caller]
fn counts_agree(doc: &CalibrationDoc) {
    const MEASUREMENTS: u64 = 8;
    const CONNECTIONS: u64 = 50;
    let CountedDoc { sent, target } = doc.counted;
    assert!(target > 0 && target <= sent && sent - target <= MEASUREMENTS * CONNECTIONS, "{sent} {target}");
}

#[test]
fn a_calibration_and_its_target_count_the_same() {
    let mut own = Servers::start();
    let (result, lines) = run(&mut own, None);
    let Ok(doc) = result else { panic!("{lines:?}") };
    counts_agree(&doc);
    assert_eq!(doc.target.kind, "own");
    let figures = [&doc.requests, &doc.connections, &doc.handshakes_full, &doc.handshakes_resumed];
    assert!(figures.iter().all(|figure| figure.rounds.len() == 1), "{figures:?}");
    // A slow machine completes nothing in some slice of 100 ms.
    assert!(figures.iter().any(|figure| figure.measured.0 > 0.0), "{figures:?}");
    let shares: Vec<f64> = doc.lag.iter().map(|lag| lag.share.0).collect();
    assert_eq!(shares, [0.5, 0.8, 0.95]);
    assert_eq!(doc.memory, None, "10 connections are too few for a figure");
    assert!(lines.iter().any(|line| line == "round 1 of 1: TLS handshakes, full"), "{lines:?}");
}

/// The user's server measures requests and connections, and only its own requests are not counted.
#[test]
fn requests_to_another_target_are_not_counted() {
    let (mut own, other) = (Servers::start(), server());
    let (result, lines) = run(&mut own, Some(url_of(&other, "/")));
    let Ok(doc) = result else { panic!("{lines:?}") };
    assert_eq!((doc.target.kind.as_str(), doc.requests.against.as_str()), ("url", "url"));
    counts_agree(&doc);
    assert!(other.truth().requests > 0 && own.plain.truth().requests == 0);
}

#[test]
fn a_target_that_does_not_answer_is_an_error() {
    let (mut own, gone) = (Servers::start(), server());
    let url = url_of(&gone, "/");
    gone.stop();
    match run(&mut own, Some(url)) {
        (Err(CalibrationError::Fault(error)), _) => assert_eq!(error.code.as_str(), "no_answer", "{error}"),
        (result, lines) => panic!("{:?} {lines:?}", result.is_ok()),
    }
}
