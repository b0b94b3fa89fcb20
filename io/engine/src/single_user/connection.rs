//! [`SingleConnection`]: one connection of one user that waits for each response before it
//! continues.
//!
//! All requests outside the load use it: those of the probe and of a single user. Each connection
//! has its own driver, so it never waits for events of another one.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_driver::{Clock, CloseReason, ConnId, Driver, DriverConfig, Errno, Event, HandshakeInfo, Tls};
use wavetank_measure::ErrorClass;
use wavetank_pace::Partition;
use wavetank_plan::{Close, Plan};
use wavetank_quic::Quic;
use wavetank_tunnel::Tunnels;
use wavetank_units::Nanos;
use wavetank_wire::h1::{Eof, Limits, ResponseEnd, ResponseReader, ResponseSink};
use wavetank_wire::streams::StreamClient;

use super::messages::ConnectionMessages;
use super::response_capture::ResponseCapture;
use crate::failure::{self, Failure};
use crate::load_config::OutboundConfig;
use crate::preface::Preface;
use crate::sources::Sources;

/// The maximum time between two checks of cancellation.
const LOOK_AROUND: Nanos = Nanos::from_millis(50);
/// Opens connections.
pub(crate) struct Connector<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) clock: Clock,
    pub(super) outbound: OutboundConfig,
    pub(super) sources: Sources,
    pub(super) names: Vec<Option<u16>>,
    pub(super) preface: Preface,
    /// Checked often, and whenever a signal interrupts a wait.
    cancelled: &'a dyn Fn() -> bool,
}

/// A connection as it was opened.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The peer.
    pub address: SocketAddr,
    /// When connecting began.
    pub begun: Nanos,
    /// When the connection was established.
    pub connected: Nanos,
    /// When the proxy had opened a tunnel, if one was requested.
    pub tunnelled: Option<Nanos>,
    /// The result of the TLS handshake, if there was one.
    pub tls: Option<Handshake>,
}

/// A TLS handshake.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// When it was complete.
    pub secured: Nanos,
    /// The negotiated parameters.
    pub agreed: HandshakeInfo,
    /// The target's certificate chain as DER, its own certificate first.
    pub certificates: Vec<Vec<u8>>,
}

/// Why there was no response.
#[derive(Clone, Debug)]
pub(crate) struct RequestError {
    pub(crate) failure: Failure,
    pub(crate) address: Option<SocketAddr>,
    /// Whether the request was handed to the kernel.
    pub(crate) sent: bool,
    /// Whether no byte of a response had arrived.
    pub(crate) untouched: bool,
    /// The start of the received bytes, up to some KiB.
    pub(crate) seen: Vec<u8>,
}

/// The instants of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseTimes {
    pub(crate) answer: ResponseEnd,
    pub(crate) sent: Nanos,
    pub(crate) first_byte: Nanos,
    pub(crate) complete: Nanos,
    /// Bytes arrived after the response that were not requested.
    pub(crate) surplus: bool,
}

/// One connection of one user; see the module documentation.
pub(crate) struct SingleConnection<D: Driver> {
    pub(super) driver: Tunnels<Quic<Tls<D>>>,
    pub(super) conn: ConnId,
    pub(super) clock: Clock,
    pub(crate) opened: Opened,
    /// The number of responses so far.
    pub(crate) served: u64,
    /// The state of HTTP/2 or HTTP/3, if the connection uses it.
    pub(super) streams: Option<Box<StreamClient<()>>>,
    /// The messages, if the target carries any.
    pub(super) messages: Option<Box<ConnectionMessages>>,
    /// Bytes of the target that came with the response of a proxy.
    pub(super) greeting: Vec<u8>,
    /// How it has ended, if that was seen between two steps.
    pub(super) end: Option<CloseReason>,
}

impl<'a> Connector<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        clock: Clock,
        outbound: OutboundConfig,
        cancelled: &'a dyn Fn() -> bool,
    ) -> Self {
        let sources = Sources::new(plan, &outbound.ports, Partition::WHOLE, 0);
        let (names, preface) = (plan.server_name_indices(), Preface::new(plan));
        Self { plan, clock, outbound, sources, names, preface, cancelled }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        (self.cancelled)()
    }

    /// Sends `request` on `connection` and waits for the whole response, until `deadline`.
    pub(crate) fn ask<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        (request, head): (&Arc<[u8]>, bool),
        deadline: Nanos,
        sink: &mut impl ResponseSink,
    ) -> Result<ResponseTimes, RequestError> {
        if connection.streams.is_some() {
            return self.ask_stream(connection, request, deadline, sink);
        }
        if connection.messages.is_some() {
            return self.ask_message(connection, request, deadline, sink);
        }
        let mut reader = ResponseReader::new(self.limits());
        reader.expect(head);
        let sent = self.clock.now();
        // If this fails, a response may have arrived before. If none did, the end of the connection
        // is reported.
        let handed = connection.driver.send_shared(connection.conn, request).is_ok();
        let mut hearing = ResponseCapture { sent: handed, ..ResponseCapture::default() };
        let heard = self.hear(connection, &mut reader, deadline, (&mut hearing, sink));
        self.conclude(connection, sent, hearing, heard)
    }

    /// Returns the times of a response, or why there is none.
    pub(super) fn conclude<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        sent: Nanos,
        hearing: ResponseCapture,
        heard: Result<(ResponseEnd, bool), Failure>,
    ) -> Result<ResponseTimes, RequestError> {
        match heard {
            Ok((answer, surplus)) => {
                connection.served += 1;
                let complete = self.clock.now();
                let first_byte = hearing.first_byte.unwrap_or(complete);
                Ok(ResponseTimes { answer, sent, first_byte, complete, surplus })
            }
            // With a driver that defers sends, it may turn out that nothing was sent after all.
            Err(failure) => Err(RequestError {
                failure,
                address: Some(connection.opened.address),
                sent: hearing.sent && connection.driver.take_unsent().is_none(),
                untouched: hearing.first_byte.is_none(),
                seen: hearing.seen,
            }),
        }
    }

    /// The limits on a response.
    pub(super) fn limits(&self) -> Limits {
        Limits { body_bytes_max: self.plan.http.body_max.unwrap_or(u64::MAX), ..Limits::default() }
    }

    /// Waits until `until`, unless cancelled before.
    pub(crate) fn pause<D: Driver>(&self, until: Nanos) -> Result<(), Errno> {
        let mut driver = D::new(&DriverConfig {
            features: self.outbound.features,
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
            // A signal between the check and the sleep does not interrupt the sleep.
            let look_again = self.clock.now().after(LOOK_AROUND);
            driver.wait(until.min(look_again)).map_err(failure::connect_failure)?;
        }
    }

    /// Reads the response. Returns it, and whether more bytes followed.
    fn hear<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        reader: &mut ResponseReader,
        deadline: Nanos,
        (hearing, sink): (&mut ResponseCapture, &mut impl ResponseSink),
    ) -> Result<(ResponseEnd, bool), Failure> {
        let (driver, conn) = (&mut connection.driver, connection.conn);
        loop {
            let event = self.event(driver, deadline, &Failure::new(ErrorClass::RequestTimeout));
            match event.map_err(|failure| hearing.of_failure(failure))? {
                Event::Received(id, len) if id == conn => {
                    hearing.first_byte.get_or_insert_with(|| self.clock.now());
                    hearing.observe(driver.received(len));
                    let progress = reader.read(driver.received(len), sink);
                    let progress = progress.map_err(failure::protocol_failure)?;
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
    /// Whether the peer has closed the connection or sent data without a request since the last
    /// response.
    pub(crate) fn has_ended(&mut self) -> bool {
        // The peer has announced that it takes no more requests.
        if self.streams.as_ref().is_some_and(|streams| streams.room() == 0) {
            return true;
        }
        if self.end.is_some() || self.messages.as_ref().is_some_and(|own| own.is_over()) {
            return true;
        }
        // A wait that fails reports nothing; the next one reports the reason.
        let _ = self.driver.wait(self.clock.now());
        while let Some(event) = self.driver.next() {
            let is_over = match event {
                Event::Received(id, len) if id == self.conn && self.streams.is_some() => {
                    !self.read_between(len)
                }
                Event::Received(id, len) if id == self.conn && self.messages.is_some() => {
                    !self.read_messages_between(len)
                }
                Event::Ended(id, how) if id == self.conn => {
                    self.end = Some(how);
                    true
                }
                Event::Received(id, _) => id == self.conn,
                _ => false,
            };
            if is_over {
                return true;
            }
        }
        false
    }

    /// Closes the connection.
    pub(crate) fn close(mut self, how: Close) {
        self.driver.close(self.conn, how);
    }
}

impl RequestError {
    pub(crate) fn new(failure: Failure, address: Option<SocketAddr>) -> Self {
        Self { failure, address, sent: false, untouched: true, seen: Vec::new() }
    }
}
