//! HTTP/2 and HTTP/3 on the connection of one user: one stream at a time.

use std::sync::Arc;

use wavetank_driver::{Driver, Event};
use wavetank_measure::ErrorClass;
use wavetank_plan::HttpVersion;
use wavetank_units::Nanos;
use wavetank_wire::h1::{ResponseEnd, ResponseHead, ResponseSink};
use wavetank_wire::h2::{Client, ClientSink, StreamFailure};
use wavetank_wire::h3;
use wavetank_wire::streams::StreamClient;

use super::connection::{Connector, RequestError, ResponseTimes, SingleConnection};
use super::response_capture::ResponseCapture;
use crate::failure::{self, Failure};
use crate::machine::speaks_http2;

impl Connector<'_> {
    /// Starts HTTP/2 or HTTP/3 on a new connection. With HTTP/2 it waits for the server's settings,
    /// until `until`.
    pub(super) fn greet<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        until: Nanos,
    ) -> Result<(), Failure> {
        let tls = connection.opened.tls.as_ref();
        if tls.is_some_and(|tls| !speaks_http2(Some(&tls.agreed))) {
            return Err(failure::HTTP2_REFUSED);
        }
        let mut client = Box::new(if self.plan.http.version == HttpVersion::Http3 {
            StreamClient::Http3(h3::Client::new(self.limits()))
        } else {
            StreamClient::Http2(Client::new(self.limits(), tls.is_some()))
        });
        while !client.is_ready() {
            send(connection, &mut client);
            match self.event(&mut connection.driver, until, &failure::GREETING_TIMEOUT)? {
                Event::Received(id, len) if id == connection.conn => {
                    let read = client.read(connection.driver.received(len), &mut Nothing);
                    if read.is_err() {
                        // The peer learns the reason.
                        send(connection, &mut client);
                    }
                    read.map_err(failure::http2_failure)?;
                }
                Event::Ended(id, how) if id == connection.conn => {
                    let failure = failure::end_failure(how, &connection.driver);
                    return Err(if failure.peer_closed && failure.errno.is_none() {
                        failure::GREETING_CLOSED
                    } else {
                        failure
                    });
                }
                _ => {}
            }
        }
        send(connection, &mut client);
        connection.streams = Some(client);
        Ok(())
    }

    /// Sends `request` on a stream and waits for the whole response, until `deadline`.
    pub(super) fn ask_stream<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        request: &Arc<[u8]>,
        deadline: Nanos,
        sink: &mut impl ResponseSink,
    ) -> Result<ResponseTimes, RequestError> {
        let mut client = connection.streams.take().expect("the caller has checked that it has streams");
        let mut hearing = ResponseCapture::default();
        let sent = self.clock.now();
        let result = match client.request((), request, false) {
            Ok(()) => {
                hearing.sent = send(connection, &mut client);
                self.hear_stream(connection, &mut client, deadline, (&mut hearing, sink))
            }
            Err(()) => Err(failure::NOT_A_REQUEST),
        };
        client.cancel(|()| true, |(), _| ());
        send(connection, &mut client);
        connection.streams = Some(client);
        self.conclude(connection, sent, hearing, result.map(|answer| (answer, false)))
    }

    fn hear_stream<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        client: &mut StreamClient<()>,
        deadline: Nanos,
        (hearing, sink): (&mut ResponseCapture, &mut impl ResponseSink),
    ) -> Result<ResponseEnd, Failure> {
        loop {
            let event =
                self.event(&mut connection.driver, deadline, &Failure::new(ErrorClass::RequestTimeout));
            match event.map_err(|failure| hearing.of_failure(failure))? {
                Event::Received(id, len) if id == connection.conn => {
                    let at = self.clock.now();
                    let mut heard = Heard { hearing, sink, at, result: None };
                    let read = client.read(connection.driver.received(len), &mut heard);
                    let result = heard.result;
                    send(connection, client);
                    match result {
                        Some(Ok(end)) => return Ok(end),
                        Some(Err(failure)) => return Err(failure::stream_failure(failure, false)),
                        None => read.map_err(failure::http2_failure)?,
                    }
                }
                Event::Ended(id, how) if id == connection.conn => {
                    return Err(failure::end_failure(how, &connection.driver));
                }
                _ => {}
            }
        }
    }
}

impl<D: Driver> SingleConnection<D> {
    /// Reads bytes that arrive between two requests. Returns whether the connection can carry
    /// another one.
    pub(super) fn read_between(&mut self, len: usize) -> bool {
        let Some(mut client) = self.streams.take() else { return false };
        let is_usable = client.read(self.driver.received(len), &mut Nothing).is_ok() && client.room() > 0;
        send(self, &mut client);
        self.streams = Some(client);
        is_usable
    }
}

/// Sends what the machine has written. Returns whether the driver took it.
fn send<D: Driver>(connection: &mut SingleConnection<D>, client: &mut StreamClient<()>) -> bool {
    let is_sent = client.out().is_empty() || connection.driver.send(connection.conn, client.out()).is_ok();
    client.out().clear();
    is_sent
}

/// Expects no response.
struct Nothing;

impl ClientSink<()> for Nothing {
    fn began(&mut self, (): &mut ()) -> bool {
        false
    }

    fn answered(&mut self, (): (), _: ResponseEnd) {}

    fn failed(&mut self, (): (), _: StreamFailure) {}
}

/// Receives the response.
struct Heard<'a, S> {
    hearing: &'a mut ResponseCapture,
    sink: &'a mut S,
    at: Nanos,
    result: Option<Result<ResponseEnd, StreamFailure>>,
}

impl<S: ResponseSink> ClientSink<()> for Heard<'_, S> {
    fn began(&mut self, (): &mut ()) -> bool {
        self.hearing.first_byte.get_or_insert(self.at);
        true
    }

    fn head(&mut self, (): &mut (), head: &ResponseHead<'_>) {
        self.hearing.observe(head.raw);
        self.sink.head(head);
    }

    fn trailers(&mut self, (): &mut (), lines: &[u8]) {
        self.hearing.observe(lines);
        self.sink.trailers(lines);
    }

    fn body(&mut self, (): &mut (), bytes: &[u8]) {
        self.hearing.observe(bytes);
        self.sink.body(bytes);
    }

    fn answered(&mut self, (): (), end: ResponseEnd) {
        self.result = Some(Ok(end));
    }

    fn failed(&mut self, (): (), failure: StreamFailure) {
        self.result = Some(Err(failure));
    }
}
