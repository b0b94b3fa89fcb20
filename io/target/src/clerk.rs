//! [`Clerk`]: reads what a client sent and decides what it gets.

use std::ops::Range;

use wavetank_driver::ConnId;
use wavetank_plan::Nanos;
use wavetank_wire::h1::{RequestEnd, RequestHead, RequestSink};

use crate::answer::{Answer, Due, Echo, Keep};
use crate::connection::{Asked, Connection, Handshake, Kind, OWED_MAX, Reading, Then, Verb};
use crate::freeze::Freeze;
use crate::known::Known;
use crate::outbox::Outbox;
use crate::paths::Paths;
use crate::route::Route;
use crate::shop::Teller;
use crate::truth::Counts;

/// Larger buffers are not kept between requests: there may be many connections.
const ECHO_BYTES_KEPT: usize = 16 * 1024;
const OVERFLOW: &str = "more requests at once than answers can be owed for (1000)\n";

/// Everything that is needed between bytes that came and bytes to be sent, for one receive.
pub(crate) struct Clerk<'a> {
    pub(crate) paths: &'a mut Paths,
    pub(crate) known: &'a mut Known,
    pub(crate) counts: &'a Counts,
    pub(crate) outbox: &'a mut Outbox,
    pub(crate) freeze: &'a Freeze,
    pub(crate) teller: &'a mut Teller,
    /// When the bytes came.
    pub(crate) now: Nanos,
}

impl Clerk<'_> {
    /// Take in what came. Answers that can be given at once are in the outbox afterwards, others are owed.
    #[inline]
    pub(crate) fn read(&mut self, connection: &mut Connection, mut bytes: &[u8]) {
        while !bytes.is_empty() && connection.reading == Reading::Requests {
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
                        let due = self.due(Answer::Continue, Keep::Silently);
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

    /// Remember a request that came whole, unless there was more to it than its head.
    #[inline]
    fn remember(&mut self, request: &[u8], target: Range<usize>, asked: &Asked, end: RequestEnd) {
        let plain = end.body_bytes == 0 && asked.route.body_max().is_none() && !asked.expects_continue;
        // Behind blank lines the target is elsewhere.
        if plain && !matches!(request[0], b'\r' | b'\n') {
            self.known.remember(request, target, asked.verb, end);
        }
    }

    /// A request is complete.
    #[inline]
    fn complete(&mut self, connection: &mut Connection, end: RequestEnd) {
        let (answer, at) = self.answer_to(connection.id, &mut connection.asked);
        let route = connection.asked.route;
        let keep = match (end.keep_alive && route != Route::Close, end.http_10) {
            (true, false) => Keep::Silently,
            (true, true) => Keep::Saying,
            (false, _) => Keep::No,
        };
        if keep == Keep::No {
            connection.reading = Reading::Nothing;
            connection.then = Then::Close;
        }
        let due = Due { at, answer, head_only: end.head_request, keep, counted: !route.is_control() };
        self.give(connection, due);
    }

    /// The last answer on this connection, whatever the client goes on to send.
    fn refuse(&mut self, connection: &mut Connection, status: u16, text: &'static str) {
        connection.reading = Reading::Nothing;
        connection.then = Then::Linger;
        let due = self.due(Answer::Plain(status, text), Keep::No);
        self.give(connection, due);
    }

    const fn due(&self, answer: Answer, keep: Keep) -> Due {
        Due { at: self.now, answer, head_only: false, keep, counted: true }
    }

    /// Give an answer at once if its turn has come, else owe it.
    #[inline]
    fn give(&mut self, connection: &mut Connection, mut due: Due) {
        let at_once = connection.is_clear()
            && due.at <= self.now
            && !self.outbox.is_full()
            && !due.answer.is_to_come()
            && self.freeze.until(self.now).is_none();
        if at_once {
            connection.body_left = self.outbox.render(&due, self.counts);
            if let Answer::Echo(echo) = due.answer
                && echo.body.capacity() <= ECHO_BYTES_KEPT
            {
                // Its buffers serve the next request.
                connection.asked.echo = Some(echo);
            }
            return;
        }
        if connection.owed.len() + 1 == OWED_MAX && due.keep != Keep::No {
            connection.reading = Reading::Nothing;
            connection.then = Then::Linger;
            due = self.due(Answer::Plain(503, OVERFLOW), Keep::No);
        }
        connection.owed.push_back(due);
    }

    /// What a complete request gets, and not before when.
    #[inline]
    fn answer_to(&mut self, conn: ConnId, asked: &mut Asked) -> (Answer, Nanos) {
        let answer = match (asked.verb, asked.route) {
            (Verb::Unknown, _) => Answer::Plain(501, "this method is unknown here\n"),
            (_, Route::Home | Route::Close) => Answer::Home,
            (_, Route::Delay(delay)) => return (Answer::Home, self.now.after(delay)),
            (_, Route::Tier(tier)) => return self.teller.answer_tier(conn, tier, self.now),
            (verb, Route::Shop(ask)) => {
                let sent = asked.echo.take().unwrap_or_default();
                self.teller.answer(conn, ask, verb, &sent, self.now)
            }
            (_, Route::Bytes(len)) => Answer::Bytes(len),
            (_, Route::Status(status)) => Answer::Status(status),
            (_, Route::Echo) => Answer::Echo(asked.echo.take().unwrap_or_default()),
            (Verb::Get, Route::Truth) => Answer::Truth,
            (Verb::Get, Route::TruthConnections) => Answer::Standing,
            (_, Route::Truth | Route::TruthConnections) => Answer::Allow("GET, HEAD"),
            (Verb::Post, Route::TruthReset) => Answer::Reset,
            (_, Route::TruthReset) => Answer::Allow("POST"),
            (_, Route::Unknown) => Answer::Plain(404, "nothing is here\n"),
            (_, Route::Malformed(text)) => Answer::Plain(400, text),
        };
        (answer, self.now)
    }
}

/// Where the reader puts what it reads.
struct Intake<'a, 'b> {
    clerk: &'a mut Clerk<'b>,
    asked: &'a mut Asked,
    kind: &'a mut Kind,
    handshake: Handshake,
    /// Where the target is in the request.
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
    }

    fn body(&mut self, bytes: &[u8]) {
        // Who has begun to send the body does not wait for leave to do so.
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
    /// Count a request, and note what it asks for.
    #[inline]
    fn note(&mut self, target: &[u8], verb: Verb, expects_continue: bool) {
        let Clerk { paths, counts, freeze, now, .. } = &mut *self.clerk;
        let (route, slot) = paths.find(target, counts);
        match slot {
            Some(slot) => {
                let first = freeze.note_request(*now);
                counts.request(slot, *now, first);
            }
            None if *self.kind == Kind::New => {
                counts.is_control(self.handshake);
                *self.kind = Kind::Control;
            }
            None => {}
        }
        if *self.kind == Kind::New {
            *self.kind = Kind::Counted;
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
        // Known from the head already: who waits for `100 Continue` need not send it.
        let length =
            head.header("content-length").and_then(|length| str::from_utf8(length).ok()?.parse().ok());
        self.asked.too_large = length.is_some_and(|length: u64| length > bytes_max as u64);
    }
}

#[inline]
fn verb(method: &[u8]) -> Verb {
    match method {
        b"GET" | b"HEAD" => Verb::Get,
        b"POST" => Verb::Post,
        b"PUT" | b"DELETE" | b"PATCH" | b"OPTIONS" => Verb::Known,
        _ => Verb::Unknown,
    }
}
