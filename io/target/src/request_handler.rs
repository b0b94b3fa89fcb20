//! [`RequestHandler`]: reads requests and decides on the responses.

use std::ops::Range;

use wavetank_driver::ConnId;
use wavetank_shop::{ShopClient, ShopMethod, ShopRequest};
use wavetank_units::Nanos;
use wavetank_wire::h1::{RequestEnd, RequestHead, RequestSink};
use wavetank_wire::ws::Upgrade;

use crate::answer::{Echo, Keep, Response, ScheduledResponse};
use crate::connection::{
    AfterLast, Connection, CountedAs, CurrentRequest, OWED_MAX, OtherProtocol, ReadMode,
};
use crate::event_stream::EventStream;
use crate::freeze::Freeze;
use crate::handshake::Handshake;
use crate::method::Method;
use crate::outbox::Outbox;
use crate::paths::PathCache;
use crate::request_cache::RequestCache;
use crate::route::Route;
use crate::truth::Counts;
use crate::web_socket::WebSocket;

/// Larger buffers are not kept between requests: there may be many connections.
const ECHO_BYTES_KEPT: usize = 16 * 1024;
const OVERFLOW: &str = "too many pending requests on this connection (at most 1000)\n";

/// Everything needed to turn received bytes into responses, for one receive.
pub(crate) struct RequestHandler<'a> {
    pub(crate) paths: &'a mut PathCache,
    pub(crate) known: &'a mut RequestCache,
    pub(crate) counts: &'a Counts,
    pub(crate) outbox: &'a mut Outbox,
    pub(crate) freeze: &'a Freeze,
    pub(crate) teller: &'a mut ShopClient,
    /// When the bytes were received.
    pub(crate) now: Nanos,
}

impl RequestHandler<'_> {
    /// Reads received bytes. Responses that can be sent immediately are put into the outbox, others
    /// become pending.
    #[inline]
    pub(crate) fn read(&mut self, connection: &mut Connection, mut bytes: &[u8]) {
        while !bytes.is_empty() && connection.reading == ReadMode::Requests {
            if connection.carries_messages() {
                // A client waits for the response before it sends messages, and sends none on an
                // event stream.
                self.counts.bad_requests.add(1);
                connection.reading = ReadMode::Nothing;
                connection.then = AfterLast::Linger;
                return;
            }
            let Connection { reader, asked, kind, handshake, .. } = connection;
            let fresh = reader.is_fresh();
            let known = if fresh { self.known.find(bytes) } else { None };
            let mut sink = Intake { clerk: self, asked, kind, handshake: *handshake, target: 0..0 };
            if let Some(known) = known {
                sink.note(&bytes[known.target], known.verb, false);
                bytes = &bytes[known.len..];
                self.complete(connection, known.end);
                continue;
            }
            match reader.read(bytes, &mut sink) {
                Ok(progress) => {
                    let (request, rest) = bytes.split_at(progress.consumed);
                    let target = sink.target;
                    if fresh && let Some(end) = progress.request {
                        self.remember(request, target, &connection.asked, end);
                    }
                    bytes = rest;
                    if connection.asked.too_large {
                        let (_, text) = connection.asked.route.body_max().unwrap_or_default();
                        self.refuse(connection, 413, text);
                    } else if let Some(end) = progress.request {
                        self.complete(connection, end);
                    } else if std::mem::take(&mut connection.asked.expects_continue) {
                        let due = self.due(Response::Continue, Keep::Silently);
                        self.give(connection, due);
                    }
                }
                Err(fault) => {
                    self.counts.bad_requests.add(1);
                    self.refuse(connection, fault.reason.status(), fault.reason.text());
                }
            }
        }
    }

    /// Caches a request that came as a whole, if it consists of a head only.
    #[inline]
    fn remember(&mut self, request: &[u8], target: Range<usize>, asked: &CurrentRequest, end: RequestEnd) {
        let plain = end.body_bytes == 0
            && asked.route.body_max().is_none()
            && !matches!(asked.route, Route::WebSocket | Route::Events(_))
            && !asked.expects_continue;
        // After blank lines, the target would be at another position.
        if plain && !matches!(request[0], b'\r' | b'\n') {
            self.known.remember(request, target, asked.verb, end);
        }
    }

    /// Answers a complete request.
    #[inline]
    fn complete(&mut self, connection: &mut Connection, end: RequestEnd) {
        let route = connection.asked.route;
        let (answer, at) = match route {
            Route::Grpc(_) => (Response::Plain(505, "gRPC needs HTTP/2\n"), self.now),
            Route::Events(schedule)
                if connection.asked.verb == Method::Get && !(end.http_10 || end.head_request) =>
            {
                let stream = EventStream::new(schedule, self.now);
                connection.begin(OtherProtocol::Events(stream));
                (Response::Events, self.now)
            }
            _ => self.answer_to(connection.id, &mut connection.asked),
        };
        let keep = match (end.keep_alive && route != Route::Close, end.http_10) {
            (true, false) => Keep::Silently,
            (true, true) => Keep::Saying,
            (false, _) => Keep::No,
        };
        if keep == Keep::No {
            connection.reading = ReadMode::Nothing;
            connection.then = AfterLast::Close;
        }
        if let Response::Upgrade(upgrade) = &answer {
            connection.begin(OtherProtocol::WebSocket(WebSocket::new(upgrade.deflate)));
        }
        let due =
            ScheduledResponse { at, answer, head_only: end.head_request, keep, counted: !route.is_control() };
        self.give(connection, due);
    }

    /// Gives the last response on this connection. Further bytes of the client are discarded.
    fn refuse(&mut self, connection: &mut Connection, status: u16, text: &'static str) {
        connection.reading = ReadMode::Nothing;
        connection.then = AfterLast::Linger;
        let due = self.due(Response::Plain(status, text), Keep::No);
        self.give(connection, due);
    }

    /// Takes in the head of a request that came on a stream of its own.
    pub(crate) fn take_head(
        &mut self,
        asked: &mut CurrentRequest,
        (kind, handshake): (&mut CountedAs, Handshake),
        head: &RequestHead<'_>,
    ) {
        Intake { clerk: self, asked, kind, handshake, target: 0..0 }.head(head);
    }

    /// Takes in a piece of the body of such a request.
    pub(crate) fn take_body(
        &mut self,
        asked: &mut CurrentRequest,
        (kind, handshake): (&mut CountedAs, Handshake),
        bytes: &[u8],
    ) {
        Intake { clerk: self, asked, kind, handshake, target: 0..0 }.body(bytes);
    }

    const fn due(&self, answer: Response, keep: Keep) -> ScheduledResponse {
        ScheduledResponse { at: self.now, answer, head_only: false, keep, counted: true }
    }

    /// Renders a response immediately if its turn has come, or makes it pending.
    #[inline]
    fn give(&mut self, connection: &mut Connection, mut due: ScheduledResponse) {
        let at_once = connection.is_clear()
            && due.at <= self.now
            && !self.outbox.is_full()
            && !due.answer.is_placeholder()
            && self.freeze.frozen_until(self.now).is_none();
        if at_once {
            connection.body_left = self.outbox.render(&due, self.counts);
            if let Response::Echo(echo) = due.answer
                && echo.body.capacity() <= ECHO_BYTES_KEPT
            {
                // Reuse its buffers for the next request.
                connection.asked.echo = Some(echo);
            }
            return;
        }
        if connection.owed.len() + 1 == OWED_MAX && due.keep != Keep::No {
            connection.reading = ReadMode::Nothing;
            connection.then = AfterLast::Linger;
            due = self.due(Response::Plain(503, OVERFLOW), Keep::No);
        }
        connection.owed.push_back(due);
    }

    /// Returns the response to a complete request, and its earliest time.
    #[inline]
    pub(crate) fn answer_to(&mut self, conn: ConnId, asked: &mut CurrentRequest) -> (Response, Nanos) {
        let answer = match (asked.verb, asked.route) {
            (Method::Unknown, _) => Response::Plain(501, "this method is unknown here\n"),
            (_, Route::Home | Route::Close) => Response::Home,
            (_, Route::Delay(delay)) => return (Response::Home, self.now.after(delay)),
            (_, Route::Tier(tier)) => {
                let (reply, at) = self.teller.answer_tier(conn, tier, self.now);
                return (reply.into(), at);
            }
            (_, Route::Grpc(rpc)) => {
                let body = asked.echo.take().unwrap_or_default().body;
                let (reply, delay) = rpc.answer(&body, self.counts);
                self.counts.messages_sent.add(reply.messages);
                return (Response::Grpc(Box::new(reply)), self.now.after(delay));
            }
            (verb, Route::Shop(ask)) => {
                let sent = asked.echo.take().unwrap_or_default();
                let method = match verb {
                    Method::Get => ShopMethod::Get,
                    Method::Post => ShopMethod::Post,
                    Method::Known | Method::Unknown => ShopMethod::Other,
                };
                let sent = ShopRequest { method, cookie: &sent.cookie, body: &sent.body };
                self.teller.answer(conn, ask, sent, self.now).into()
            }
            (_, Route::Bytes(len)) => Response::Bytes(len),
            (_, Route::Status(status)) => Response::Status(status),
            (Method::Get, Route::WebSocket) => match asked.upgrade.take() {
                Some(upgrade) => Response::Upgrade(upgrade),
                None => Response::Plain(426, "/ws/echo is a WebSocket (RFC 6455)\n"),
            },
            (Method::Get, Route::Events(_)) => Response::Plain(505, "/events needs GET and HTTP/1.1\n"),
            (_, Route::WebSocket | Route::Events(_)) => Response::Allow("GET"),
            (_, Route::Echo) => Response::Echo(asked.echo.take().unwrap_or_default()),
            (Method::Get, Route::Truth) => Response::Truth,
            (Method::Get, Route::TruthConnections) => Response::Standing,
            (_, Route::Truth | Route::TruthConnections) => Response::Allow("GET, HEAD"),
            (Method::Post, Route::TruthReset) => Response::Reset,
            (_, Route::TruthReset) => Response::Allow("POST"),
            (_, Route::Unknown) => Response::Plain(404, "nothing is here\n"),
            (_, Route::Malformed(text)) => Response::Plain(400, text),
        };
        (answer, self.now)
    }
}

/// Receives the parts of a request from the reader.
struct Intake<'a, 'b> {
    clerk: &'a mut RequestHandler<'b>,
    asked: &'a mut CurrentRequest,
    kind: &'a mut CountedAs,
    handshake: Handshake,
    /// Position of the target in the request.
    target: Range<usize>,
}

impl RequestSink for Intake<'_, '_> {
    #[inline]
    fn head(&mut self, head: &RequestHead<'_>) {
        let target_at = head.method.len() + 1;
        self.target = target_at..target_at + head.target.len();
        self.note(head.target, verb(head.method), head.expect_continue);
        if let Some((bytes_max, _)) = self.asked.route.body_max() {
            self.begin_echo(head, bytes_max);
        }
        if self.asked.route == Route::WebSocket {
            self.asked.upgrade = Upgrade::from_request(head).map(Box::new);
        }
        if let Route::Events(schedule) = &mut self.asked.route {
            schedule.continue_after(head.header("last-event-id").unwrap_or_default());
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        // A client that has started to send the body does not wait for `100 Continue`.
        self.asked.expects_continue = false;
        if let Some((bytes_max, _)) = self.asked.route.body_max() {
            let echo = self.asked.echo.get_or_insert_default();
            if echo.body.len() + bytes.len() > bytes_max {
                self.asked.too_large = true;
            } else {
                echo.body.extend_from_slice(bytes);
            }
        }
    }
}

impl Intake<'_, '_> {
    /// Counts a request, and notes its route and method.
    #[inline]
    fn note(&mut self, target: &[u8], verb: Method, expects_continue: bool) {
        let RequestHandler { paths, counts, freeze, now, .. } = &mut *self.clerk;
        let (route, slot) = paths.find(target, counts);
        match slot {
            Some(slot) => {
                let first = freeze.note_request(*now);
                counts.request(slot, *now, first);
            }
            None if *self.kind == CountedAs::New => {
                counts.is_control(self.handshake);
                *self.kind = CountedAs::Control;
            }
            None => {}
        }
        if *self.kind == CountedAs::New {
            *self.kind = CountedAs::Counted;
        }
        self.asked.route = route;
        self.asked.verb = verb;
        self.asked.expects_continue = expects_continue;
    }

    fn begin_echo(&mut self, head: &RequestHead<'_>, bytes_max: usize) {
        let Echo { content_type, cookie, body } = &mut **self.asked.echo.get_or_insert_default();
        body.clear();
        content_type.clear();
        content_type.extend_from_slice(head.header("content-type").unwrap_or_default());
        cookie.clear();
        if matches!(self.asked.route, Route::Shop(_)) {
            cookie.extend_from_slice(head.header("cookie").unwrap_or_default());
        }
        // Checked with the head, so that a client that waits for `100 Continue` need not send the
        // body.
        let length =
            head.header("content-length").and_then(|length| str::from_utf8(length).ok()?.parse().ok());
        self.asked.too_large = length.is_some_and(|length: u64| length > bytes_max as u64);
    }
}

#[inline]
fn verb(method: &[u8]) -> Method {
    match method {
        b"GET" | b"HEAD" => Method::Get,
        b"POST" => Method::Post,
        b"PUT" | b"DELETE" | b"PATCH" | b"OPTIONS" => Method::Known,
        _ => Method::Unknown,
    }
}
