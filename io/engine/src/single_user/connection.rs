//! [`SingleConnection`]: one connection of one user who waits for every answer before he goes on.
//!
//! The one way in which requests leave beside the load: the probe's and a lone user's. Each line has a driver of its
//! own, so that nothing of another is ever waited for.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_driver::{
    Clock, CloseReason, ConnId, Dial, DialTls, Driver, DriverConfig, Errno, Event, HandshakeInfo, Tls,
};
use wavetank_measure::ErrorClass;
use wavetank_pace::Partition;
use wavetank_plan::{Close, Nanos, Plan};
use wavetank_wire::h1::{Eof, Limits, ParseError, ResponseEnd, ResponseReader, ResponseSink};

use crate::failure::{self, Failure};
use crate::load_config::OutboundConfig;
use crate::preface::Preface;
use crate::sources::{Route, Sources};

/// Tuples that are tried, where the plan has its own: somebody else may have taken a few, but not all.
const TUPLES_TRIED_MAX: u32 = 16;
/// How long at most nobody asks whether all was cancelled.
const LOOK_AROUND: Nanos = Nanos::from_millis(50);
/// Most of an answer's beginning that is kept for showing what was wrong with it.
const SEEN_BYTES_MAX: usize = 4_096;
/// First bytes of a record of TLS that holds an alert (RFC 8446 §5.1).
const ALERT: u8 = 21;
const TLS_MAJOR: u8 = 3;

/// Opens lines.
pub(crate) struct Connector<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) clock: Clock,
    way: OutboundConfig,
    sources: Sources,
    names: Vec<Option<u16>>,
    pub(super) preface: Preface,
    /// Asked often, and whenever a signal interrupts a wait.
    cancelled: &'a dyn Fn() -> bool,
}

/// A connection as it was opened.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The peer.
    pub address: SocketAddr,
    /// When connecting began.
    pub begun: Nanos,
    /// When the connection was there.
    pub connected: Nanos,
    /// When the proxy had opened a tunnel, where it was asked for one.
    pub tunnelled: Option<Nanos>,
    /// What the TLS handshake came to, where there was one.
    pub tls: Option<Handshake>,
}

/// A TLS handshake.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// When it was complete.
    pub secured: Nanos,
    /// What was agreed on.
    pub agreed: HandshakeInfo,
    /// The target's certificate chain as DER, its own first.
    pub certificates: Vec<Vec<u8>>,
}

/// Why there was no answer.
#[derive(Clone, Debug)]
pub(crate) struct RequestError {
    pub(crate) failure: Failure,
    pub(crate) address: Option<SocketAddr>,
    /// Whether the request was handed to the kernel.
    pub(crate) sent: bool,
    /// Whether no byte of an answer had come.
    pub(crate) untouched: bool,
    /// The beginning of what came, up to some KiB.
    pub(crate) seen: Vec<u8>,
}

/// An answer's instants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseTimes {
    pub(crate) answer: ResponseEnd,
    pub(crate) sent: Nanos,
    pub(crate) first_byte: Nanos,
    pub(crate) complete: Nanos,
    /// Bytes came behind the answer that nobody asked for.
    pub(crate) surplus: bool,
}

/// See the module's description.
pub(crate) struct SingleConnection<D> {
    pub(super) driver: Tls<D>,
    pub(super) conn: ConnId,
    clock: Clock,
    pub(crate) opened: Opened,
    /// Answers so far.
    pub(crate) served: u64,
}

impl<'a> Connector<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        clock: Clock,
        way: OutboundConfig,
        cancelled: &'a dyn Fn() -> bool,
    ) -> Self {
        let sources = Sources::new(plan, &way.ports, Partition::WHOLE, 0);
        let (names, preface) = (plan.server_name_indices(), Preface::new(plan));
        Self { plan, clock, way, sources, names, preface, cancelled }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        (self.cancelled)()
    }

    /// Connect to `target`, by another tuple if the one turns out to be somebody else's. `until` bounds it all.
    pub(crate) fn open<D: Driver>(
        &mut self,
        target: u16,
        until: Nanos,
    ) -> Result<SingleConnection<D>, RequestError> {
        let begun = self.clock.now();
        let setup =
            DriverConfig { features: self.way.features, sockets: 1, ..DriverConfig::small(self.clock) };
        let driver =
            D::new(&setup).map_err(|errno| RequestError::new(failure::connect_failure(errno), None))?;
        let mut driver = Tls::wrap(driver, self.way.tls.clone(), None);
        let tls = self.names[usize::from(target)].map(|name| DialTls { name, session: 0 });
        let prefaced = self.preface.is_needed();
        let (mut refused, mut address) = (Errno(libc::EADDRNOTAVAIL), None);
        for _ in 0..TUPLES_TRIED_MAX {
            let Some(Route { to, from, tuple }) = self.sources.allocate(target, begun) else { break };
            address = Some(to);
            let no = |failure| RequestError::new(failure, address);
            // Behind a preface TLS begins later.
            let (at_once, asks_ends) = (tls.filter(|_| !prefaced), self.preface.needs_addresses());
            let dialed = driver.connect(&Dial { from, tls: at_once, asks_ends, ..Dial::plain(to) });
            let connected = match dialed {
                Ok(conn) => self.connected(&mut driver, conn, until).map_err(no)?,
                Err(errno) => Err(errno),
            };
            match connected {
                Ok(conn) => {
                    let connected = self.clock.now();
                    let opened = Opened { address: to, begun, connected, tunnelled: None, tls: None };
                    let mut line = SingleConnection { driver, conn, clock: self.clock, opened, served: 0 };
                    if prefaced {
                        let mut hearing = ResponseCapture::default();
                        let said = self.send_preface(&mut line, (target, tls), until, &mut hearing);
                        said.map_err(|failure| RequestError { seen: hearing.seen, ..no(failure) })?;
                    }
                    if tls.is_some() {
                        line.opened.tls = Some(self.secure(&mut line, until).map_err(no)?);
                    }
                    return Ok(line);
                }
                Err(errno) => refused = errno,
            }
            if !tuple.is_chosen() || !matches!(refused.0, libc::EADDRNOTAVAIL | libc::EADDRINUSE) {
                break;
            }
        }
        let failure = match refused {
            // It was accepted and reset before we looked.
            Errno(libc::ECONNRESET) if tls.is_some() && !prefaced => {
                failure::handshake_failure(CloseReason::Broken(refused), &driver)
            }
            _ => failure::connect_failure(refused),
        };
        Err(RequestError::new(failure, address))
    }

    /// Send `request` on `line` and wait for the whole answer, until `deadline`.
    pub(crate) fn ask<D: Driver>(
        &self,
        line: &mut SingleConnection<D>,
        (request, head): (&Arc<[u8]>, bool),
        deadline: Nanos,
        sink: &mut impl ResponseSink,
    ) -> Result<ResponseTimes, RequestError> {
        let limits =
            Limits { body_bytes_max: self.plan.http.body_max.unwrap_or(u64::MAX), ..Limits::default() };
        let mut reader = ResponseReader::new(limits);
        reader.expect(head);
        let sent = self.clock.now();
        // Where it fails, an answer may have come before; if not, the end is told.
        let handed = line.driver.send_shared(line.conn, request).is_ok();
        let mut hearing = ResponseCapture { sent: handed, ..ResponseCapture::default() };
        let heard = self.hear(line, &mut reader, deadline, (&mut hearing, sink));
        match heard {
            Ok((answer, surplus)) => {
                line.served += 1;
                let complete = self.clock.now();
                Ok(ResponseTimes {
                    answer,
                    sent,
                    first_byte: hearing.first_byte.unwrap_or(complete),
                    complete,
                    surplus,
                })
            }
            // A driver that sends later may find that nothing of it left after all.
            Err(failure) => Err(RequestError {
                failure,
                address: Some(line.opened.address),
                sent: hearing.sent && line.driver.take_unsent().is_none(),
                untouched: hearing.first_byte.is_none(),
                seen: hearing.seen,
            }),
        }
    }

    /// Wait until `until`, unless cancelled before.
    pub(crate) fn pause<D: Driver>(&self, until: Nanos) -> Result<(), Errno> {
        let mut driver = D::new(&DriverConfig {
            features: self.way.features,
            sockets: 1,
            ..DriverConfig::small(self.clock)
        })?;
        while self.clock.now() < until && !self.is_cancelled() {
            driver.wait(until.min(self.clock.now().after(LOOK_AROUND)))?;
        }
        Ok(())
    }

    pub(super) fn event<D: Driver>(
        &self,
        driver: &mut D,
        until: Nanos,
        late: &Failure,
    ) -> Result<Event, Failure> {
        loop {
            if let Some(event) = driver.next() {
                return Ok(event);
            }
            if self.is_cancelled() {
                return Err(Failure::detailed(ErrorClass::Other, "interrupted"));
            }
            if self.clock.now() >= until {
                return Err(late.clone());
            }
            // A signal that comes between the question and the sleep interrupts nothing.
            let look_again = self.clock.now().after(LOOK_AROUND);
            driver.wait(until.min(look_again)).map_err(failure::connect_failure)?;
        }
    }

    /// Wait for `conn`, or for what the kernel has against it.
    fn connected<D: Driver>(
        &self,
        driver: &mut D,
        conn: ConnId,
        until: Nanos,
    ) -> Result<Result<ConnId, Errno>, Failure> {
        loop {
            match self.event(driver, until, &Failure::new(ErrorClass::ConnectTimeout))? {
                Event::Connected(id) if id == conn => return Ok(Ok(conn)),
                Event::ConnectFailed(id, errno) if id == conn => return Ok(Err(errno)),
                _ => {}
            }
        }
    }

    fn secure<D: Driver>(&self, line: &mut SingleConnection<D>, until: Nanos) -> Result<Handshake, Failure> {
        let (driver, conn) = (&mut line.driver, line.conn);
        loop {
            match self.event(driver, until, &failure::HANDSHAKE_TIMEOUT)? {
                Event::Secured(id) if id == conn => {
                    let secured = self.clock.now();
                    let agreed =
                        driver.secured(conn).expect("a connection that was secured agreed on something");
                    return Ok(Handshake { secured, agreed, certificates: driver.peer_certificates(conn) });
                }
                Event::Ended(id, how) if id == conn => return Err(failure::handshake_failure(how, driver)),
                _ => {}
            }
        }
    }

    /// The answer, and whether more came behind it.
    fn hear<D: Driver>(
        &self,
        line: &mut SingleConnection<D>,
        reader: &mut ResponseReader,
        deadline: Nanos,
        (hearing, sink): (&mut ResponseCapture, &mut impl ResponseSink),
    ) -> Result<(ResponseEnd, bool), Failure> {
        let (driver, conn) = (&mut line.driver, line.conn);
        loop {
            match self.event(driver, deadline, &Failure::new(ErrorClass::RequestTimeout))? {
                Event::Received(id, len) if id == conn => {
                    hearing.first_byte.get_or_insert_with(|| self.clock.now());
                    hearing.observe(driver.received(len));
                    let progress = reader.read(driver.received(len), sink);
                    let progress = progress.map_err(|fault| hearing.of_fault(fault))?;
                    if let Some(answer) = progress.answer {
                        return Ok((answer, progress.consumed < len));
                    }
                }
                Event::Ended(id, how) if id == conn => {
                    return match (how, reader.eof(), hearing.first_byte) {
                        (CloseReason::Eof, Eof::Complete(answer), Some(_)) => Ok((answer, false)),
                        _ => Err(failure::end_failure(how, driver)),
                    };
                }
                _ => {}
            }
        }
    }
}

impl<D: Driver> SingleConnection<D> {
    /// Whether the peer has ended it, or said something unasked, since the last answer.
    pub(crate) fn has_ended(&mut self) -> bool {
        // A wait that fails tells nothing; the next one tells why.
        let _ = self.driver.wait(self.clock.now());
        while let Some(event) = self.driver.next() {
            if matches!(event, Event::Ended(id, _) | Event::Received(id, _) if id == self.conn) {
                return true;
            }
        }
        false
    }

    /// Close it.
    pub(crate) fn close(mut self, how: Close) {
        self.driver.close(self.conn, how);
    }
}

impl RequestError {
    pub(crate) fn new(failure: Failure, address: Option<SocketAddr>) -> Self {
        Self { failure, address, sent: false, untouched: true, seen: Vec::new() }
    }
}

/// What has been heard so far.
#[derive(Default)]
pub(super) struct ResponseCapture {
    /// The beginning of what came.
    seen: Vec<u8>,
    first_byte: Option<Nanos>,
    sent: bool,
}

impl ResponseCapture {
    /// Keep the beginning of what comes.
    pub(super) fn observe(&mut self, bytes: &[u8]) {
        let room = SEEN_BYTES_MAX.saturating_sub(self.seen.len()).min(bytes.len());
        self.seen.extend_from_slice(&bytes[..room]);
    }

    /// What a fault of the answer means. An alert in TLS (RFC 8446 §6) is the answer of a port that speaks TLS
    /// to one who does not.
    fn of_fault(&self, fault: ParseError) -> Failure {
        match self.seen[..] {
            [ALERT, TLS_MAJOR, ..] => {
                Failure::detailed(ErrorClass::Protocol, "the answer is an alert in TLS, and no HTTP")
            }
            _ => failure::protocol_failure(fault),
        }
    }
}
